// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/model/Workload.h"
#include "runtime/runner/LaunchSpec.h"

namespace kopt {

using runtime::addLaunch;

/// The launch as the runner needs it; `module` is the module's id in the runner.
runtime::LaunchSpec toLaunchSpec(std::uint32_t module, const Launch &launch);

} // namespace kopt
