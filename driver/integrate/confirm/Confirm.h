// SPDX-License-Identifier: Apache-2.0
// Whether the wins of a session hold in the user's program. Old and new program run in turn; what
// is not faster there, or makes the program go wrong, leaves the patch, and the rest is asked
// again.
#pragma once

#include "driver/integrate/compose/OtherUsers.h"
#include "driver/integrate/confirm/ProgramPair.h"
#include "driver/model/Session.h"
#include "driver/support/Clock.h"

#include <functional>

namespace kopt {

struct ConfirmPolicy {
  std::size_t leastPairs = 3; ///< unless they take longer than `most`
  std::size_t mostPairs = 10; ///< of short programs
  Duration worth{20}; ///< more pairs than the least are run as long as they all take no longer
  Duration most{120}; ///< of all pairs of a round; one pair is always run
  std::size_t rounds = 4;
  double confidence = 0.95;
  double minGain = 0.01; ///< relative, of the kernel's time in the program
  /// Others whose machine code the patch changes may not be surely slower than this, relative.
  double regressionGuard = 0.02;
};

/// The patch of a part of the wins.
using PatchOf = std::function<Result<Patch>(const std::vector<const Win *> &wins)>;
/// A round has ended, or its runs go on: for people.
using TellProgress = std::function<void(const std::string &)>;

/// Fills in state, reason and times of the session's wins (`session.wins`, in the order of `wins`)
/// and `session.confirmation`. A program that cannot be built, run or recorded leaves the wins
/// unconfirmed, and the reason says why. Fails only where `patchOf` does.
Status confirmInProgram(const std::vector<Win> &wins, const PatchOf &patchOf, ProgramPair &programs,
                        Clock &clock, const ConfirmPolicy &policy, const TellProgress &tell,
                        SessionRecord &session);

} // namespace kopt
