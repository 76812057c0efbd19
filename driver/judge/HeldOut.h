// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/judge/LocalJudge.h"

#include <functional>
#include <memory>
#include <vector>

namespace kopt {

/// Makes a judge of the same kernel on another workload.
using MakeJudge = std::function<Result<std::unique_ptr<LocalJudge>>(const Workload &workload,
                                                                    const JudgeOptions &options)>;

/// Judges a faster trial on launches that it was not found on. Where it is wrong, fails or is
/// slower there, that becomes its verdict; else a finding records the result. The tolerance of
/// `workload` holds for `heldOut` too, whose launches weigh the same. Fails as LocalJudge.
Status judgeHeldOut(const MakeJudge &makeJudge, Workload workload, std::vector<Launch> heldOut,
                    JudgeOptions options, Trial &trial);

} // namespace kopt
