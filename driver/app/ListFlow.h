// SPDX-License-Identifier: Apache-2.0
// `kopt init`, and `kopt list`: the kernels of the user's files.
#pragma once

#include "driver/app/InferredClauses.h"
#include "driver/app/services/Sources.h"
#include "driver/source/Subjects.h"

namespace kopt {

/// Every kernel of the files with its specializations; no slice is proven. Fails with Usage,
/// BaselineFailed (a file does not compile) or Environment.
Result<std::vector<KernelSpec>> listKernels(Services services, const SourceSettings &sources);

struct InitSettings {
  SourceSettings sources;
  SelectionRequest selection; ///< without globs, every kernel
  std::filesystem::path file; ///< kopt.toml; tables are appended to it
  bool dryRun = false;        ///< write nothing
};

/// A kernel with the clauses that it lacks.
struct InitKernel {
  std::string name;
  std::vector<InferredClause> clauses;
  std::string leftOut; ///< why no clauses can give its launch

  std::string table() const; ///< for kopt.toml; a comment where it is left out
};

bool hasClauses(const std::vector<InitKernel> &kernels);

/// Adds clauses to the configuration: those that follow from the launch sites, and templates of
/// those that the user has to complete. Kernels that lack no clause are not among them. Fails with
/// Usage if no kernel is found, and as the front end does.
Result<std::vector<InitKernel>> initKernels(Services services, const InitSettings &settings);

} // namespace kopt
