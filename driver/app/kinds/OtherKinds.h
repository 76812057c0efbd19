// SPDX-License-Identifier: Apache-2.0
// What a winner is worth on the other kinds of GPU that the executor has.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/search/Journal.h"

namespace kopt {

struct KindVerdict {
  std::string device; ///< "NVIDIA A100 sm_80"
  Verdict verdict = Verdict::Ambiguous;
  std::string reason;
  std::optional<Speedup> speedup;

  std::string inWords() const;
};

/// Confirms the winner on each other kind of GPU, beside the kernel as it is there, tells the user
/// and records it. Fails as Journal; that a kernel cannot be measured there is a verdict.
Result<std::vector<KindVerdict>> judgeOnOtherKinds(Workbench &bench, const TuneSubject &subject,
                                                   const Workload &workload,
                                                   const JudgeOptions &options, const Trial &winner,
                                                   Journal &journal, Terminal &terminal);

} // namespace kopt
