// SPDX-License-Identifier: Apache-2.0
// Launches that tell wrong kernels from the right one, where the derived ones do not.
#pragma once

#include "driver/judge/checks/DerivedReplays.h"
#include "driver/model/Adequacy.h"

#include <functional>
#include <optional>
#include <string>

namespace kopt {

/// Makes the launch that an addition stands for. Nothing where the original does not stand it.
/// `slot` names its files, which hold until the next of that name.
Result<std::optional<DerivedReplays::Replay>> remake(CheckContext &context,
                                                     const DerivedReplays &replays,
                                                     const AdequacyReport::Addition &addition,
                                                     const std::string &slot);

/// Looks for a launch on which a wrong version of the original, which is loaded and passes every
/// check, differs from it: first those that told others, then other sizes, scalars, contents and
/// larger problems, at most `tries` until `isOutOfTime`, the same each time. Nothing: none does.
Result<std::optional<AdequacyReport::Addition>>
findTellingLaunch(CheckContext &context, const DerivedReplays &replays, const Built &mutant,
                  std::uint64_t seed, std::size_t tries,
                  const std::vector<AdequacyReport::Addition> &known,
                  const std::function<bool()> &isOutOfTime);

} // namespace kopt
