// SPDX-License-Identifier: Apache-2.0
// One kopt at a time launches kernels on a GPU: two that measure side by side measure each other.
// The lock is an flock on a file named after the device; a process that dies, however it does,
// gives it up.
#pragma once

#include "driver/device/runner/RunnerClient.h"
#include "driver/model/Device.h"

#include <filesystem>
#include <string>
#include <utility>

namespace kopt {

/// KOPT_LOCK_DIR, or /tmp: not a folder of the user's own, because the GPU is shared by all users
/// of the machine.
std::filesystem::path deviceLockFile(const std::string &uuid);

class DeviceLock {
public:
  /// `file`: empty for a device that nobody shares; then nothing is ever locked. `device` is its
  /// name for people.
  DeviceLock(std::filesystem::path file, std::string device, RunnerHooks hooks);
  ~DeviceLock();
  DeviceLock(const DeviceLock &) = delete;
  DeviceLock &operator=(const DeviceLock &) = delete;

  /// Given up when it goes.
  class Hold {
  public:
    explicit Hold(DeviceLock *lock) : lock_(lock) {}
    Hold(Hold &&other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
    Hold &operator=(Hold &&) = delete;
    ~Hold() {
      if (lock_)
        lock_->release();
    }

  private:
    DeviceLock *lock_;
  };

  /// Waits for whoever holds it. Fails with Environment where there can be no such file,
  /// Interrupted where the user no longer wants to wait.
  Result<Hold> take();

private:
  Status open();
  /// False where someone else holds it.
  Result<bool> tryLock();
  std::string holder() const;
  void release();

  std::filesystem::path file_;
  std::string device_;
  RunnerHooks hooks_;
  int descriptor_ = -1;
};

} // namespace kopt
