// SPDX-License-Identifier: Apache-2.0
// A started child with its ends of the pipes: the base of Process.cpp; not for other code.
#pragma once

#include "driver/support/ProcessSpec.h"
#include "driver/support/Result.h"

#include <optional>
#include <utility>

#include <sys/types.h>
#include <unistd.h>

namespace kopt {

/// A driver that tears down a context can keep a killed process alive for seconds.
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

/// A started child with its ends of the pipes. Owns the process group: the destructor kills and
/// reaps it.
class Child {
public:
  /// `socketInput`: descriptors can be sent through its standard input.
  static Result<Child> start(const ProcessSpec &spec, bool socketInput);
  Child(Child &&other) noexcept
      : in(std::move(other.in)), out(std::move(other.out)), err(std::move(other.err)),
        pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}
  Child &operator=(Child &&) = delete;
  ~Child() { endWithin(kTeardownLimit); }

  void signalGroup(int signal) const;

  /// Reaps the leader. True once it has ended. Its id, and so that of the group, cannot be reused
  /// before it is reaped, so the remaining processes of the group are killed first.
  bool reap(bool block);
  /// Kills the group and waits until the leader is reaped and no process holds its output. False if
  /// that takes longer than `limit`.
  bool endWithin(Duration limit);

  int exitCode() const { return status_; }

  Fd in, out, err;

private:
  Child() = default;
  pid_t pid_ = -1;
  int status_ = 0;
};

/// The absolute path of a program in `path`, which is the value of PATH or null.
std::optional<std::filesystem::path> findInPath(const std::string &name, const char *path);

} // namespace kopt
