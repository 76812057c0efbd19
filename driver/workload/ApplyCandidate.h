// SPDX-License-Identifier: Apache-2.0
// The launch of a candidate, made from a launch of the workload.
#pragma once

#include "driver/model/Candidate.h"
#include "driver/model/KernelSpec.h"
#include "driver/model/TuneDeclaration.h"
#include "driver/model/Workload.h"
#include "driver/support/Result.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The launch with the candidate's constants and override applied. Fails with Usage if the geometry
/// cannot be evaluated (the message names what has no value), if every GPU refuses such a launch
/// (the message has the number and the limit), or if the launch asks for more than
/// gpu::kSharedWithoutOptIn and neither the original launch nor the candidate opts in.
Result<Launch> applyToLaunch(const KernelSpec &kernel, const Launch &launch,
                             const Candidate &candidate);

/// Why every GPU refuses the candidate's launch, in the words of applyToLaunch(); nothing if it is
/// not refused or its geometry is unknown.
std::optional<std::string> whyNotLaunched(const KernelSpec &kernel, const Launch &launch,
                                          const Candidate &candidate);

/// The clause that the candidate's constants and template arguments break, with the values: a
/// `param` clause whose domain does not contain a value, or a `require` clause that names one of
/// them and does not hold in one of the launches. Nothing if they break none.
std::optional<std::string> brokenClause(const TuneDeclaration &declaration,
                                        const KernelSpec &kernel,
                                        const std::vector<Launch> &launches,
                                        const Candidate &candidate);

} // namespace kopt
