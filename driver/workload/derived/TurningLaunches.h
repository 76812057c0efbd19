// SPDX-License-Identifier: Apache-2.0
// Larger launches where what a candidate makes of them changes: from some size on its grid grows no
// more, or no GPU makes its launch. A candidate that is right below may be wrong above.
#pragma once

#include "driver/model/Candidate.h"
#include "driver/workload/derived/DerivedLaunches.h"

namespace kopt {

struct TurningLaunch {
  DerivedLaunch derived;  ///< of the original
  std::string what;       ///< "the candidate's grid stays 65535 x 1 x 1 from there on"
  bool isRefused = false; ///< `what` is why no GPU makes the candidate's
};

/// The smallest launches, in each size that decides the launch alone and in all together, beyond
/// which the candidate's own launch changes, where the original's goes on: at most kMostTimes as
/// large as `launch`, and within the requirements. None for a candidate that changes no launch.
std::vector<TurningLaunch> turningLaunches(const DerivationSource &source, const Launch &launch,
                                           const Candidate &candidate);

} // namespace kopt
