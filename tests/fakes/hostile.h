// SPDX-License-Identifier: Apache-2.0
// What a program that means harm would try. Each attempt returns true where it got what it wanted.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopt::fakes::hostile {

inline bool canRead(const std::string &path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char byte;
  const bool got = fd >= 0 && read(fd, &byte, 1) == 1;
  if (fd >= 0)
    close(fd);
  return got;
}
inline bool canWrite(const std::string &path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}
inline bool canOpenSocket(int family, int type = SOCK_STREAM) {
  const int fd = socket(family, type, 0);
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}
/// A socket of another program by its path: reached where the connection is accepted or refused by
/// its owner.
inline bool canConnect(const std::string &path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const bool reached =
      fd >= 0 && connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0;
  if (fd >= 0)
    close(fd);
  return reached;
}
inline bool canTrace(pid_t other) { return ptrace(PTRACE_ATTACH, other, nullptr, nullptr) == 0; }
inline bool canReadMemoryOf(pid_t other) {
  char here;
  iovec local{&here, 1}, remote{reinterpret_cast<void *>(0x400000), 1};
  // Refused, or allowed and nothing there.
  return process_vm_readv(other, &local, 1, &remote, 1, 0) >= 0 || errno == EFAULT;
}
inline bool canSignal(pid_t other) { return kill(other, 0) == 0; }
inline bool canFork() {
  const pid_t child = fork();
  if (child == 0)
    _exit(0);
  if (child > 0)
    waitpid(child, nullptr, 0);
  return child > 0;
}
inline bool canMount() { return mount("none", "/tmp", "tmpfs", 0, nullptr) == 0; }
inline bool canUnshare() { return unshare(CLONE_NEWUSER) == 0; }
inline bool canWatchTheKernel() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.exclude_kernel = 1;
  return syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0) >= 0;
}
/// Calls that fail for want of sense where they are allowed: then with another error than EPERM.
inline bool isAllowed(long call) {
  return syscall(call, -1, -1, -1, -1, -1) >= 0 || errno != EPERM;
}
/// Writes until it is stopped; true after `bytes`.
inline bool canFill(const std::string &path, std::uint64_t bytes) {
  signal(SIGXFSZ, SIG_IGN);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  static char zeros[1 << 16];
  std::uint64_t written = 0;
  for (ssize_t n; fd >= 0 && written < bytes && (n = write(fd, zeros, sizeof zeros)) > 0;)
    written += std::uint64_t(n);
  if (fd >= 0)
    close(fd);
  return written >= bytes;
}

} // namespace kopt::fakes::hostile
