// SPDX-License-Identifier: Apache-2.0
// From the front end's findings to the kernels that will be tuned, with what the user declared
// about each.
#pragma once

#include "driver/model/TuneSubject.h"
#include "driver/source/Frontend.h"
#include "driver/source/TuneClauses.h"

#include <string>
#include <vector>

namespace kopt {

struct SelectionRequest {
  std::vector<std::string> globs;     ///< see KernelNames.h; empty: every kernel with clauses
  std::vector<KernelClauses> clauses; ///< of kopt.toml, besides those of the source
};

/// Fails with Usage where a declared tunable is neither a named constant nor an integral template
/// argument of the kernel; the message lists those that are.
Status checkTunables(const TuneDeclaration &declaration, const KernelSpec &kernel,
                     const Specialization &specialization);

/// Fails with Usage where nothing is selected (listing the kernels that were found, and how to
/// select one), where a clause is wrong, or as checkTunables() does; with BaselineFailed where a
/// selected kernel cannot be lifted out.
Result<std::vector<TuneSubject>> selectSubjects(const ExtractionResult &extraction,
                                                const SelectionRequest &request);

} // namespace kopt
