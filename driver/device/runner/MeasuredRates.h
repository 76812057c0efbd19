// SPDX-License-Identifier: Apache-2.0
// The runner's reply to `rates`.
#pragma once

#include "driver/device/runner/RunnerProcess.h"

namespace kopt {

/// The rates in a reply. A failure, or a process of `otherLoad` that used the device meanwhile,
/// leaves no rate, with the reason in MeasuredRates::missing.
MeasuredRates measuredRatesOf(const RunnerReply &reply, const std::vector<std::string> &otherLoad);

} // namespace kopt
