// SPDX-License-Identifier: Apache-2.0
// From the front end's findings to the kernels that will be tuned, with what the user declared
// about each.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/source/Frontend.h"

#include <functional>
#include <string>
#include <vector>

namespace kopt {

/// One specialization of one kernel, ready for a workload.
struct TuneSubject {
  KernelSpec kernel;
  Specialization specialization;
  TuneDeclaration declaration;
  std::string sliceText; ///< of the slice, or of the whole file where the specialization's route is
                         ///< in-place
  std::string label;     ///< "transpose", "stencil<float, 1>"
};

struct SelectionRequest {
  std::vector<std::string> globs; ///< of qualified kernel names; empty: every kernel with clauses
  /// Clauses of kopt.toml for a qualified name; null: none.
  std::function<std::vector<TuneClause>(const std::string &)> extraClauses;
};

/// Shell-style match with * and ?.
bool matchesGlob(const std::string &glob, const std::string &name);

/// Fails with Usage where nothing is selected (listing the kernels there are, and how to select
/// one), where a clause is wrong, or where a tunable has no place; with BaselineFailed where a
/// selected kernel cannot be lifted out.
Result<std::vector<TuneSubject>> selectSubjects(const ExtractionResult &extraction,
                                                const SelectionRequest &request);

} // namespace kopt
