// SPDX-License-Identifier: Apache-2.0
// What a judge does with a candidate: decided before it begins, from the options, the purpose and
// the kind of device.
#pragma once

#include "driver/judge/JudgeOptions.h"

#include <cstdint>

namespace kopt {

/// When a candidate is verified once more after it was timed.
enum class VerifyAgain {
  Never,
  IfFaster,    ///< of a look only what is faster is verified
  IfNotFaster, ///< of a trial only what no confirmation verifies
};

struct JudgePlan {
  Depth depth = Depth::Search; ///< the checks that it goes through
  Depth first = Depth::Search; ///< those that run before it is timed
  VerifyAgain again = VerifyAgain::Never;
  /// What is slower, and cannot become the best, is verified at Depth::Search at most.
  double fastest = 0;
  bool escalates = true; ///< a gain that is hard to believe is verified at full strength at once;
                         ///< otherwise the confirmation does it
  Depth claimed = Depth::Search; ///< the checks that a claim rests on
  VerdictPolicy policy;
  std::uint32_t processes = 1; ///< fresh processes in which it is timed
  /// The processes of the confirmation are started at the beginning, or when it looks faster.
  bool preparesProcesses = false, preparesIfFaster = false;
  bool wantsLines = false;  ///< of what is claimed, the hot lines
  bool wantsCounts = false; ///< the counters that a modelled device took anyway
};

/// `wantsEveryCheck`: as wantsEveryCheck() says of the candidate. `fastest`: the speedup of the
/// best of the search so far.
JudgePlan planOf(const JudgeOptions &options, Purpose purpose, bool wantsEveryCheck,
                 bool isModelled, double fastest);

} // namespace kopt
