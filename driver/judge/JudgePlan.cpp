// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/JudgePlan.h"

#include <algorithm>

namespace kopt {

JudgePlan planOf(const JudgeOptions &options, Purpose purpose, bool wantsEveryCheck,
                 bool isModelled, double fastest) {
  const bool isConfirmation = purpose == Purpose::Confirmation;
  const bool isConfirmedNext = options.confirmsNext && !isConfirmation;
  JudgePlan plan;
  plan.depth =
      isConfirmation || wantsEveryCheck ? Depth::Win : std::max(options.depth, Depth::Search);
  plan.first = plan.depth;
  if (options.depth == Depth::Look && !isConfirmation) {
    plan.first = Depth::Look;
    plan.again = VerifyAgain::IfFaster;
    plan.fastest = fastest;
  } else if (isConfirmedNext && !isModelled && plan.depth == Depth::Trial) {
    plan.first = Depth::Search;
    plan.again = VerifyAgain::IfNotFaster;
  }
  plan.escalates = !isConfirmedNext;
  plan.claimed = plan.again == VerifyAgain::IfNotFaster ? plan.first : plan.depth;
  plan.policy = options.policy;
  if (isConfirmation) {
    plan.policy.confidence = 0.99;
    plan.processes = isModelled ? 1 : options.processes;
  } else {
    plan.policy.candidates = 1; // nothing is claimed yet: a claim needs fresh samples
  }
  plan.preparesProcesses = isConfirmation || options.confirmsNext;
  plan.preparesIfFaster =
      !isConfirmation && !options.ownLaunchesOnly; // held-out launches confirm nothing
  plan.wantsLines = isConfirmation;
  plan.wantsCounts = isModelled && !isConfirmation;
  return plan;
}

} // namespace kopt
