// SPDX-License-Identifier: Apache-2.0
// What a candidate makes of a launch of the workload.
#pragma once

#include "driver/model/Candidate.h"
#include "driver/model/KernelSpec.h"
#include "driver/model/Workload.h"
#include "driver/support/Result.h"

namespace kopt {

/// The launch with the candidate's constants and override applied. Fails with Usage where geometry
/// cannot be evaluated.
Result<Launch> applyToLaunch(const KernelSpec &kernel, const Launch &launch,
                             const Candidate &candidate);

} // namespace kopt
