// SPDX-License-Identifier: Apache-2.0
// `kopt worker`: judges what another kopt asks for, on a device of this machine.
#pragma once

#include "driver/app/services/Services.h"

namespace kopt {

struct WorkerSettings {
  DeviceConfig device{};
  int gpu = 0; ///< ordinal
  SandboxMode sandbox = SandboxMode::Auto;
  std::int64_t buildCache = 0; ///< MiB, as KernelRequest has it
};

/// Opens the device, greets, and answers requests from one file descriptor on the other (see
/// driver/device/worker/README.md) until the first ends, the device is lost or the user interrupts.
/// All that it wrote is then removed, except builds and files that are kept for later workers.
/// Fails as openDevices().
Status serveWorker(const Services &services, const WorkerSettings &settings, int in, int out);

} // namespace kopt
