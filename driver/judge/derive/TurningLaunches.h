// SPDX-License-Identifier: Apache-2.0
// Larger launches at which the candidate's own launch changes: from some size on its grid stops
// growing, or every GPU refuses its launch. A candidate that is right below that size may be wrong
// above it.
#pragma once

#include "driver/judge/derive/DerivedLaunch.h"
#include "driver/model/Candidate.h"

namespace kopt {

struct TurningLaunch {
  DerivedLaunch derived;  ///< the original's launch
  std::string what;       ///< "the candidate's grid stays 65535 x 1 x 1 from there on"
  bool isRefused = false; ///< every GPU refuses the candidate's launch; `what` says why
  double times = 1;       ///< how many times as large its sizes are as the launch's
};

/// The smallest launches, growing in each size that decides the launch alone, in those of the same
/// value and in all together, from which on the candidate's own launch changes while the original's
/// keeps growing. They are at most kMostTimes as large as `launch` and keep the requirements. Empty
/// for a candidate that does not change the launch.
std::vector<TurningLaunch> turningLaunches(const DerivationSource &source, const Launch &launch,
                                           const Candidate &candidate);

} // namespace kopt
