// SPDX-License-Identifier: Apache-2.0
// Sizes at which the candidate's own launch changes: a part of the check `sizes`.
#pragma once

#include "driver/judge/checks/DerivedReplays.h"

namespace kopt {

/// Judges the candidate on larger launches where its grid stops to follow the problem, or where no
/// GPU makes its launch and the original stands it. What is too large to be run is a gap of its
/// assurance. On a GPU only winners are run on them.
Result<std::optional<Failure>> checkOwnLaunchSizes(CheckContext &context,
                                                   const DerivedReplays &replays, Examination &seen,
                                                   CheckRecord &record);

} // namespace kopt
