// SPDX-License-Identifier: Apache-2.0
// Lets one kopt at a time launch kernels on a GPU, because two would disturb each other's
// measurements. The lock is an flock on a file named after the device; a process that dies in any
// way releases it.
#pragma once

#include "driver/device/runner/RunnerClient.h"
#include "driver/model/Device.h"

#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

namespace kopt {

/// The lock file in KOPT_LOCK_DIR or /tmp. It is not in a folder of the user, because all users of
/// the machine share the GPU.
std::filesystem::path deviceLockFile(const std::string &uuid);

class DeviceLock {
public:
  /// `file` is empty for a device that is not shared; then nothing is locked. `device` is its name
  /// for messages.
  DeviceLock(std::filesystem::path file, std::string device, RunnerHooks hooks);
  ~DeviceLock();
  DeviceLock(const DeviceLock &) = delete;
  DeviceLock &operator=(const DeviceLock &) = delete;

  /// Holds the lock until it is destroyed. Several may exist at a time; the last one releases it.
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

  /// Takes the lock, and waits for another holder. Fails with Environment if the file cannot be
  /// opened, and with Interrupted if the user interrupts.
  /// May be called from one thread at a time; a Hold may be destroyed in any thread.
  Result<Hold> take();

  /// Which other kopt holds the lock at some moment of `watch`, in words; empty if none does. A
  /// kopt that tunes holds it for most of the time, but not between two requests. Fails with
  /// Environment if the file cannot be opened. Not for an object of which somebody has a Hold.
  Result<std::string> otherHolder(std::chrono::milliseconds watch);

private:
  Status open();
  /// False if another process holds the lock.
  Result<bool> tryLock();
  std::string holder() const;
  void release();

  std::filesystem::path file_;
  std::string device_;
  RunnerHooks hooks_;
  int descriptor_ = -1;
  std::mutex mutex_; ///< guards holds_
  int holds_ = 0;
  bool hasTold_ = false; ///< the user was told that others use the device
};

} // namespace kopt
