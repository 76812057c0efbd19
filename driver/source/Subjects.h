// SPDX-License-Identifier: Apache-2.0
// Selects the kernels to tune from the front end's findings, with the user's clauses for each.
#pragma once

#include "driver/model/TuneSubject.h"
#include "driver/source/Frontend.h"
#include "driver/source/TuneClauses.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct SelectionRequest {
  std::vector<std::string> globs; ///< see KernelNames.h; empty: all kernels with clauses or a mark
  std::vector<KernelClauses> clauses; ///< clauses of kopt.toml, in addition to those in the source
  /// If set, exactly these kernels in this order, regardless of the globs; symbols as any
  /// extraction spells them.
  std::optional<std::vector<std::string>> symbols{};
};

/// An instantiation of a kernel; `specialization` is null if nothing launches the kernel. Both must
/// outlive it.
struct KernelInstance {
  const KernelSpec *kernel = nullptr;
  const Specialization *specialization = nullptr;
};

/// The hashes of the files that decide what the kernel computes: those with text of its slice, or
/// without one all of the user's, and what else of the project the compilation reads.
std::map<std::string, std::string> filesBehind(const ExtractionResult &extraction,
                                               const KernelSpec &kernel,
                                               const Specialization &specialization);

/// All instances in an extraction.
std::vector<KernelInstance> instancesIn(const ExtractionResult &extraction);

/// Fails with Usage, naming the place, if a pattern of `clauses` matches no kernel and nearly has
/// the name of one that no pattern matches. Others that match none may be for files that were not
/// read: returns a sentence about them, or nothing.
Result<std::string> checkKernelNames(const ExtractionResult &extraction,
                                     const std::vector<KernelClauses> &clauses);

/// True if the request or a mark in the source selects kernels.
bool selectsKernels(const ExtractionResult &extraction, const SelectionRequest &request);

/// The selected instances. Fails with Usage if there is none, listing the kernels that were found
/// and how to select one.
Result<std::vector<KernelInstance>> selectInstances(const ExtractionResult &extraction,
                                                    const SelectionRequest &request);

/// The macros that nvcc's flags define with a value (-DTILE=16), by name.
std::map<std::string, std::string> macrosOfFlags(const std::vector<std::string> &flags);

/// Fails with Usage if a declared tunable is neither a named constant nor an integral template
/// argument of the kernel; the hint lists those that are.
Status checkTunables(const TuneDeclaration &declaration, const KernelSpec &kernel,
                     const Specialization &specialization);

/// Fails with Usage if a clause is wrong, or as checkTunables() does, and with BaselineFailed if
/// the kernel has no instantiation or can be neither sliced nor edited in place.
Result<TuneSubject> makeSubject(const ExtractionResult &extraction, const KernelInstance &instance,
                                const SelectionRequest &request);

/// Fails as selectInstances() and makeSubject() do.
Result<std::vector<TuneSubject>> selectSubjects(const ExtractionResult &extraction,
                                                const SelectionRequest &request);

} // namespace kopt
