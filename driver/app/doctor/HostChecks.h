// SPDX-License-Identifier: Apache-2.0
// What `kopt doctor` finds on the hosts of an executor.
#pragma once

#include "driver/app/doctor/MachineCheck.h"
#include "driver/app/services/Services.h"
#include "driver/config/ExecutorChoice.h"
#include "driver/model/Device.h"

#include <optional>
#include <vector>

namespace kopt {

struct HostReport {
  std::vector<MachineCheck> checks; ///< their names begin with the host's
  std::optional<DeviceInfo> device; ///< of the first host that can tune
};

/// Runs `kopt doctor` on each host, or in each task of an allocation. A host that cannot be asked
/// is a check that blocks.
HostReport checkHosts(const Services &services, HostSettings settings);

} // namespace kopt
