// SPDX-License-Identifier: Apache-2.0
// Finds launches that tell wrong kernels from the right one if the derived launches do not.
#pragma once

#include "driver/judge/replays/DerivedReplays.h"
#include "driver/model/Adequacy.h"

#include <functional>
#include <optional>
#include <string>

namespace kopt {

/// Makes the launch that an addition describes. Nothing if the original does not run on it. `slot`
/// names its files, which are valid until the next run with that name.
Result<std::optional<Replay>> remake(CheckContext &context, const DerivedReplays &replays,
                                     const AdequacyReport::Addition &addition,
                                     const std::string &slot);

/// Looks for a launch on which a wrong version of the original differs from it. `mutant` is loaded
/// and passes every check. Tries the launches in `known` first, then at most `tries` others (sizes,
/// contents, scalars, larger problems; the same ones for the same seed), until `isOutOfTime`.
/// Nothing if none differs.
Result<std::optional<AdequacyReport::Addition>>
findTellingLaunch(CheckContext &context, const DerivedReplays &replays, const Built &mutant,
                  std::uint64_t seed, std::size_t tries,
                  const std::vector<AdequacyReport::Addition> &known,
                  const std::function<bool()> &isOutOfTime);

} // namespace kopt
