// SPDX-License-Identifier: Apache-2.0
// `kopt doctor`: checks what works on this machine and in this project, and whether tuning can
// start.
#pragma once

#include "driver/app/doctor/MachineCheck.h"
#include "driver/app/services/Services.h"
#include "driver/config/Config.h"
#include "driver/config/ExecutorChoice.h"
#include "driver/model/Device.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct DoctorRequest {
  ConfigRequest config;
  HostSettings executor{};           ///< whose hosts are asked in place of this machine's device
  std::filesystem::path buildFolder; ///< with compile_commands.json; empty: none was named
};

struct MachineReport {
  std::vector<MachineCheck> checks; ///< in a fixed order
  /// What `kopt tune` would run on with this configuration; nothing if no device can be opened.
  std::optional<DeviceInfo> device;
  /// Whether tuning can start, and on what, in one sentence for people.
  std::string conclusion;
  /// Set if tuning cannot start: the first check that blocks it, with the others as its context.
  std::optional<Error> blocked;
};

/// Looks for every program and library that kopt uses, opens each kind of device, asks the
/// providers of language models for their lists, and reads the project's files. Changes nothing.
MachineReport examineMachine(Services services, const DoctorRequest &request);

/// Fills `conclusion` and `blocked` from the checks and the device. `gpuMissing` is true if the
/// configuration leaves the choice of the device to kopt, and there is no GPU.
void conclude(MachineReport &report, bool gpuMissing);

} // namespace kopt
