// SPDX-License-Identifier: Apache-2.0
// One kopt at a time launches kernels on a GPU: two that measure side by side would disturb each
// other. The lock is an flock on a file named after the device; a process that dies in any way
// releases it.
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
  /// `file`: empty for a device that is not shared; then nothing is locked. `device` is its
  /// name for people.
  DeviceLock(std::filesystem::path file, std::string device, RunnerHooks hooks);
  ~DeviceLock();
  DeviceLock(const DeviceLock &) = delete;
  DeviceLock &operator=(const DeviceLock &) = delete;

  /// Released by its destructor.
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

  /// Waits for its holder. Fails with Environment if the file cannot be opened, Interrupted if the
  /// user interrupts.
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
  bool hasTold_ = false; ///< that others use the device: once is enough
};

} // namespace kopt
