// SPDX-License-Identifier: Apache-2.0
// What has to hold before a faster candidate may be called Faster. What does not is Suspect, with the reason.
#pragma once

#include "driver/verify/Bench.h"
#include "driver/verify/Layers.h"

#include <optional>
#include <string>

namespace kopt {

/// The layers that a finding of the screen asks for: of each group, one has to have passed.
std::vector<std::vector<std::string>> layersDemandedBy(const Finding &finding);

/// Why a trial that came out Faster is no win all the same; nothing where it is one. Looks at the records of the gates that
/// ran: a flag of the screen whose gates did not run, and layers that were left out.
std::optional<Failure> whyNoWin(const Trial &trial, const LayerSwitches &switches);

} // namespace kopt
