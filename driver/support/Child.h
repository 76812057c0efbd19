// SPDX-License-Identifier: Apache-2.0
// A started child with its ends of the pipes: what Process.cpp is built on, and nobody else uses.
#pragma once

#include "driver/support/Process.h"

#include <chrono>
#include <optional>
#include <utility>

#include <sys/types.h>
#include <unistd.h>

namespace kopt {

/// A driver that tears down a context can keep a killed process for seconds.
inline constexpr Duration kTeardownLimit{30};

class Fd {
public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd &operator=(Fd &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = -1;
  }

private:
  int fd_ = -1;
};

/// A started child with its ends of the pipes. Owns the process group: destroyed, it kills and
/// reaps it.
class Child {
public:
  /// `socketInput`: its standard input takes descriptors too.
  static Result<Child> start(const ProcessSpec &spec, bool socketInput);
  Child(Child &&other) noexcept
      : in(std::move(other.in)), out(std::move(other.out)), err(std::move(other.err)),
        pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}
  Child &operator=(Child &&) = delete;
  ~Child() { endWithin(kTeardownLimit); }

  void signalGroup(int signal) const;

  /// True once the leader has ended. Until it is reaped its id, and so the group's, cannot be
  /// reused: what it left behind in its group is killed in between.
  bool reap(bool block);
  /// Kills the group and waits until its leader is reaped and nobody holds its output. False where
  /// that takes longer.
  bool endWithin(Duration limit);

  int exitCode() const { return status_; }

  Fd in, out, err;

private:
  Child() = default;
  pid_t pid_ = -1;
  int status_ = 0;
};

/// The absolute path of a program in `path`, a PATH or null.
std::optional<std::filesystem::path> findInPath(const std::string &name, const char *path);

} // namespace kopt
