// SPDX-License-Identifier: Apache-2.0
// Lets one kopt at a time launch kernels on a GPU, because two would disturb each other's
// measurements. The lock is an flock on a file named after the device; a process that dies in any
// way releases it.
#pragma once

#include "driver/support/Result.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace kopt {

/// The lock file in KOPT_LOCK_DIR or /tmp. It is not in a folder of the user, because all users of
/// the machine share the GPU.
std::filesystem::path deviceLockFile(const std::string &uuid);

/// An flock on a file that all users of the machine share.
class LockFile {
public:
  /// `device` is the device's name for messages.
  LockFile(std::filesystem::path file, std::string device)
      : file_(std::move(file)), device_(std::move(device)) {}
  ~LockFile();
  LockFile(const LockFile &) = delete;
  LockFile &operator=(const LockFile &) = delete;

  /// False if another process holds the lock. Fails with Environment if the file cannot be opened.
  Result<bool> tryLock();
  void unlock();
  bool exists() const; ///< someone has opened it
  bool isOpen() const { return descriptor_ >= 0; }

  /// The process that claims to hold the lock, for messages only.
  std::string holder() const;
  void writeHolder();

private:
  Status open();

  std::filesystem::path file_;
  std::string device_;
  int descriptor_ = -1;
};

/// Callbacks of a runner, for the time that another kopt uses the device.
struct RunnerHooks {
  std::function<void(const std::string &)> tell; ///< reports what the runner waits for, once
  std::function<bool()> interrupted;             ///< true: stop waiting
};

class DeviceLock {
public:
  /// `file` is empty for a device that is not shared; then nothing is locked. `device` is its name
  /// for messages.
  DeviceLock(const std::filesystem::path &file, std::string device, RunnerHooks hooks);
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
  Status waitFor(LockFile &file);
  void release();

  bool isShared_;
  std::string device_;
  RunnerHooks hooks_;
  LockFile lock_;
  /// Held by whoever takes the lock next. Without it a holder that releases the lock takes it again
  /// before others look, and they wait for minutes.
  LockFile turn_;
  std::mutex mutex_; ///< guards holds_
  int holds_ = 0;
  bool hasTold_ = false; ///< the user was told that others use the device
};

} // namespace kopt
