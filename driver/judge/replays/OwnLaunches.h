// SPDX-License-Identifier: Apache-2.0
// The candidate's own launches of derived problems, and the sizes at which they change.
#pragma once

#include "driver/judge/replays/DerivedReplays.h"

namespace kopt {

/// The candidate's own launch of a derived problem. Fails with Usage if one of the user's
/// requirements does not hold there with the candidate's constants, and as applyToLaunch() does.
Result<Launch> applyToDerived(const CheckContext &context, const Candidate &candidate,
                              const Launch &launch);

/// The failure of `check` if a GPU would refuse the candidate's launch of a derived problem
/// that the original runs on. Nothing if one of the user's requirements does not hold there.
std::optional<Failure> failureToLaunch(const CheckContext &context, const Candidate &candidate,
                                       const Launch &launch, CheckId check);

/// Runs the candidate's own launch of a derived problem and compares its results as
/// CheckContext::compare() does, for `check`. If they differ, compares again within what the
/// original's own error and spread allow (Weighing::widened()): where those are large, either may
/// be right.
Result<std::optional<Failure>> compareDerived(CheckContext &context, Weighing &weighing,
                                              Examination &seen, const Replay &replay,
                                              const Launch &own, const RunOptions &options,
                                              CheckId check);
/// The same for a launch of the workload.
Result<std::optional<Failure>> compareOwn(CheckContext &context, Weighing &weighing,
                                          Examination &seen, const Launch &original,
                                          const Launch &own, const Expected &expected,
                                          const RunOptions &options, CheckId check);

/// A part of the check `sizes`. Judges the candidate on larger launches: where its grid stops
/// growing with the problem, and where every GPU would refuse its launch although the original runs
/// there. A launch that is too large to run is a gap of the assurance; so is one that is refused,
/// as a program notices that, unless the policy is strict. On a GPU only winners run on these
/// launches.
Result<std::optional<Failure>> checkOwnLaunchSizes(CheckContext &context, DerivedReplays &replays,
                                                   Examination &seen, CheckRecord &record);

} // namespace kopt
