// SPDX-License-Identifier: Apache-2.0
// What a GPU that kopt can open is like to measure on: its counters, and who else uses it.
#pragma once

#include "driver/app/doctor/MachineCheck.h"
#include "driver/device/profile/CounterPermission.h"
#include "driver/device/runner/DeviceLock.h"
#include "driver/device/runner/OtherLoad.h"
#include "driver/model/Device.h"

#include <optional>

namespace kopt {

/// Whether hardware counters may be read; nothing where there is no NVIDIA driver.
std::optional<MachineCheck> checkCounters(std::optional<CounterPermission> permission);

/// Whether other programs compute on the GPU, of which `own` processes are kopt's.
MachineCheck checkOtherPrograms(OtherLoad &others, unsigned own);

/// Whether another kopt uses the GPU at this moment.
MachineCheck checkOtherKopt(DeviceLock &lock);

} // namespace kopt
