// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/model/Workload.h"
#include "runtime/runner/LaunchSpec.h"

namespace kopt {

using runtime::addLaunch;

/// What the runner has to know of a launch, for the module that it knows by that number.
runtime::LaunchSpec toLaunchSpec(std::uint32_t module, const Launch &launch);

} // namespace kopt
