// SPDX-License-Identifier: Apache-2.0
// Sizes at which the candidate's own launch changes: a part of the check `sizes`.
#pragma once

#include "driver/judge/checks/DerivedReplays.h"

namespace kopt {

/// Judges the candidate on larger launches: where its grid stops growing with the problem, and
/// where every GPU would refuse its launch although the original runs there. A launch that is too
/// large to run is a gap of the assurance; so is one that is refused, as a program notices that,
/// unless `assurance` is strict. On a GPU only winners run on these launches.
Result<std::optional<Failure>> checkOwnLaunchSizes(CheckContext &context,
                                                   const DerivedReplays &replays,
                                                   AssurancePolicy assurance, Examination &seen,
                                                   CheckRecord &record);

} // namespace kopt
