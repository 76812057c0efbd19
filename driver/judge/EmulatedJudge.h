// SPDX-License-Identifier: Apache-2.0
// A judge on the emulated device, for the check `emulated` of a judge on a GPU.
#pragma once

#include "driver/judge/JudgeOptions.h"
#include "driver/judge/checks/EmulationCheck.h"

#include <memory>

namespace kopt {

/// `subject` and `options` are those of the GPU's judge. Times, rounding errors and coverage are
/// left to that judge. Returns null if there are no emulated devices.
std::unique_ptr<Emulation> makeEmulation(EmulatedDevices devices, Frontend &frontend,
                                         Subject subject, JudgeOptions options);

} // namespace kopt
