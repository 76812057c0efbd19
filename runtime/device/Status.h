// SPDX-License-Identifier: Apache-2.0
// How a call of a device ended.
#pragma once

#include <string>

namespace kopt::runtime {

/// How a call ended. The numbers cross the protocol (driver/device/Runner.h, RunStatus): never
/// renumber.
enum class StatusCode : int {
  Ok = 0,
  LaunchFailed = 1,
  Fault = 2,
  Race = 3,
  Uninitialised = 4,
  Divergence = 5,
  TimedOut = 6,
  GuardTouched = 8,
  InputChanged = 9,
  UnsetShared = 10,
  DeviceError = 100, ///< not caused by the candidate: lost device, a file that cannot be written
  NoMemory = 101,    ///< no device memory left, because of the candidate or of what ran before
};

struct Status {
  StatusCode code = StatusCode::Ok;
  std::string detail;
  bool ok() const { return code == StatusCode::Ok; }
};

} // namespace kopt::runtime
