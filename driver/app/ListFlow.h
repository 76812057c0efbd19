// SPDX-License-Identifier: Apache-2.0
// `kopt init`, and `kopt list`: the kernels of the user's files.
#pragma once

#include "driver/app/Sources.h"
#include "driver/source/Subjects.h"
#include "driver/workload/InferredClauses.h"

namespace kopt {

/// Every kernel of the files with its specializations; no slice is proven. Fails with Usage,
/// BaselineFailed (a file does not compile) or Environment.
Result<std::vector<KernelSpec>> listKernels(Services services, const SourceSettings &sources);

struct InitSettings {
  SourceSettings sources;
  SelectionRequest selection; ///< no globs: every kernel
  std::filesystem::path file; ///< kopt.toml: tables are added at its end
  bool dryRun = false;        ///< write nothing
};

/// A kernel with the clauses that it lacks.
struct InitKernel {
  std::string name;
  std::vector<InferredClause> clauses;
};

/// Adds to the configuration what the launch sites say of the kernels, and what a person has to
/// complete. Kernels that lack nothing are left out. Fails with Usage where no kernel is found, or
/// as the front end does.
Result<std::vector<InitKernel>> initKernels(Services services, const InitSettings &settings);

} // namespace kopt
