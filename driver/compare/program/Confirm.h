// SPDX-License-Identifier: Apache-2.0
// Confirms the wins of a session in the user's program. The old and the new program run in turn. A
// win that is not faster there, or that makes the program fail, leaves the patch, and the remaining
// wins are tried again.
#pragma once

#include "driver/compare/program/ProgramPair.h"
#include "driver/model/Session.h"
#include "driver/support/Clock.h"

#include <functional>

namespace kopt {

struct ConfirmPolicy {
  /// Fewer only if they would take longer than `most`, or longer than `worth` where two pairs with
  /// many launches each agree.
  std::size_t leastPairs = 3;
  std::size_t mostPairs = 10; ///< for short programs
  /// More than leastPairs are run only while all pairs together take at most this time.
  Duration worth{10};
  Duration most{120}; ///< limit for all pairs of a round; one pair is always run
  std::size_t rounds = 4;
  double confidence = 0.95;
  double minGain = 0.01;                 ///< relative to the kernel's time in the program
  Objective objective = Objective::Mean; ///< of the program's launches, where each is timed
  /// Relative slowdown that is accepted for other kernels whose machine code the patch changes, and
  /// for a win's own in one of several commands. A win is dropped if one of them is certainly
  /// slower than that.
  double regressionGuard = 0.02;
};

/// The edits of some of the session's wins, given as indices.
using EditsOf = std::function<Result<ProgramEdits>(const std::vector<std::size_t> &wins)>;
/// Reports progress to the user.
using TellProgress = std::function<void(const std::string &)>;

/// Fills in state, reason and times of the first `count` of the session's wins, and
/// `session.confirmation`. If the program cannot be built, run or recorded, the wins stay
/// unconfirmed, with the reason. Fails only if `editsOf` fails.
Status confirmInProgram(std::size_t count, const EditsOf &editsOf, ProgramPair &programs,
                        Clock &clock, const ConfirmPolicy &policy, const TellProgress &tell,
                        SessionRecord &session);

} // namespace kopt
