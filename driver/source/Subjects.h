// SPDX-License-Identifier: Apache-2.0
// From the front end's findings to the kernels that will be tuned, with what the user declared
// about each.
#pragma once

#include "driver/model/TuneSubject.h"
#include "driver/source/Frontend.h"
#include "driver/source/TuneClauses.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct SelectionRequest {
  std::vector<std::string> globs;     ///< see KernelNames.h; empty: every kernel with clauses
  std::vector<KernelClauses> clauses; ///< of kopt.toml, besides those of the source
  /// Exactly these, in this order, whatever the globs say: symbols as any extraction spells them.
  std::optional<std::vector<std::string>> symbols{};
};

/// An instantiation; without one where nothing launches the kernel. Both outlive it.
struct KernelInstance {
  const KernelSpec *kernel = nullptr;
  const Specialization *specialization = nullptr;
};

/// All of an extraction.
std::vector<KernelInstance> instancesIn(const ExtractionResult &extraction);

/// Whether the request or a mark in the source chooses kernels.
bool selectsKernels(const ExtractionResult &extraction, const SelectionRequest &request);

/// Those that are selected. Fails with Usage where none is (listing the kernels that were found,
/// and how to select one).
Result<std::vector<KernelInstance>> selectInstances(const ExtractionResult &extraction,
                                                    const SelectionRequest &request);

/// Fails with Usage where a declared tunable is neither a named constant nor an integral template
/// argument of the kernel; the message lists those that are.
Status checkTunables(const TuneDeclaration &declaration, const KernelSpec &kernel,
                     const Specialization &specialization);

/// Fails with Usage where a clause is wrong, or as checkTunables() does; with BaselineFailed where
/// the kernel cannot be lifted out.
Result<TuneSubject> makeSubject(const ExtractionResult &extraction, const KernelInstance &instance,
                                const SelectionRequest &request);

/// Fails as selectInstances() and makeSubject() do.
Result<std::vector<TuneSubject>> selectSubjects(const ExtractionResult &extraction,
                                                const SelectionRequest &request);

} // namespace kopt
