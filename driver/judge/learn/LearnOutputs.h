// SPDX-License-Identifier: Apache-2.0
// Learns what the original leaves in each buffer of the workload's launches. Nothing is compared
// with a baseline that does not repeat its results.
#pragma once

#include "driver/judge/context/CheckContext.h"

#include <functional>
#include <string>
#include <vector>

namespace kopt {

/// Runs the loaded baseline, and fills in `context.expected` and `baselineSeconds`, which buffers
/// of its launches are pure outputs, and how far its results vary. Adds to `gaps` what the workload
/// cannot show for any candidate. Fails with BaselineFailed, saying why. `isFirst`: not so on
/// another device of the same kind before; then also looks for inputs that do not reach the
/// outputs.
Status learnOutputs(CheckContext &context, bool isFirst, std::vector<AssuranceGap> &gaps,
                    Trial &trial);

/// Of the emulated device: after how many instructions a launch counts as a hang, and whether
/// blocks may access each other's results. `baseline` has counters of the heaviest launch, `count`
/// takes those of others.
Status learnLimits(CheckContext &context,
                   const std::function<Result<Counters>(const Launch &)> &count, Trial &baseline);

/// Fails with BaselineFailed if the device `name` gave other results than `first` did on
/// `firstName`: devices of one kind give the same, within the tolerance, and one that does not is
/// broken.
Status agree(const CheckContext &context, const std::string &name, const CheckContext &first,
             const std::string &firstName);

} // namespace kopt
