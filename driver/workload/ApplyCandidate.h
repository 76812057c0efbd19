// SPDX-License-Identifier: Apache-2.0
// What a candidate makes of a launch of the workload.
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

/// Bytes of dynamic shared memory that a launch gets without cudaFuncSetAttribute (CUDA Programming
/// Guide, "Shared Memory").
inline constexpr std::uint32_t kSharedWithoutOptIn = 48 * 1024;

/// The launch with the candidate's constants and override applied. Fails with Usage, with a message
/// that stands by itself, where geometry cannot be evaluated (it names what has no value), where no
/// GPU makes such a launch (it has the number and the limit), and where the launch asks for more
/// than kSharedWithoutOptIn and neither the launch before nor the candidate opts in.
Result<Launch> applyToLaunch(const KernelSpec &kernel, const Launch &launch,
                             const Candidate &candidate);

/// Why a GPU refuses the candidate's launch, as applyToLaunch() says it; nothing where none does or
/// its geometry is not known.
std::optional<std::string> whyNotLaunched(const KernelSpec &kernel, const Launch &launch,
                                          const Candidate &candidate);

/// The clause that the candidate's constants and template arguments break, with the values that
/// break it: a `param` whose domain a value is not in, or a `require` that names one of them and
/// does not hold in one of the launches. Nothing where they break none.
std::optional<std::string> brokenClause(const TuneDeclaration &declaration,
                                        const KernelSpec &kernel,
                                        const std::vector<Launch> &launches,
                                        const Candidate &candidate);

} // namespace kopt
