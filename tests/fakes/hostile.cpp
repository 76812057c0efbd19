// SPDX-License-Identifier: Apache-2.0
// hostile ATTEMPT [ARGUMENT]: tries one thing. Prints "got it" or "refused", and exits with 0
// either way.
#include "fakes/hostile.h"

#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <functional>
#include <map>
#include <sys/mman.h>
#include <sys/wait.h>

using namespace kopt::fakes::hostile;

namespace {

/// Children that start children: how many there were before something stopped it.
bool forkBomb(std::uint64_t wanted) {
  for (std::uint64_t made = 0; made < wanted; ++made) {
    const pid_t child = fork();
    if (child < 0)
      return false;
    if (child == 0) {
      pause();
      _exit(0);
    }
  }
  return true;
}

/// A process that outlives this one and does something later.
bool leaveBehind(const std::string &file) {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() == 0) {
      usleep(700 * 1000);
      canWrite(file);
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0); // what has left its process group by then is not ended with it
  return true;
}

bool seesOthers(const std::string &own) {
  DIR *entries = opendir("/proc");
  bool others = false;
  while (const dirent *entry = entries ? readdir(entries) : nullptr) {
    const int number = std::atoi(entry->d_name);
    char link[64], name[4096];
    std::snprintf(link, sizeof link, "/proc/%d/comm", number);
    const int fd = number > 0 ? open(link, O_RDONLY | O_CLOEXEC) : -1;
    const ssize_t n = fd >= 0 ? read(fd, name, sizeof name - 1) : 0;
    if (fd >= 0)
      close(fd);
    if (n > 0 && std::string(name, std::size_t(n - 1)) != own &&
        std::string(name, std::size_t(n - 1)) != "kopt-sandbox")
      others = true;
  }
  return others;
}

} // namespace

int main(int argc, char **argv) {
  const std::string attempt = argc > 1 ? argv[1] : "", argument = argc > 2 ? argv[2] : "";
  const std::map<std::string, std::function<bool()>> attempts = {
      {"read", [&] { return canRead(argument); }},
      {"write", [&] { return canWrite(argument); }},
      {"exists", [&] { return access(argument.c_str(), F_OK) == 0; }},
      {"inet", [&] { return canOpenSocket(AF_INET) || canOpenSocket(AF_INET6); }},
      {"netlink", [&] { return canOpenSocket(AF_NETLINK, SOCK_RAW); }},
      {"unix", [&] { return canOpenSocket(AF_UNIX); }},
      {"connect", [&] { return canConnect(argument); }},
      {"trace", [&] { return canTrace(pid_t(std::atoi(argument.c_str()))); }},
      {"trace-parent", [&] { return canTrace(getppid()); }},
      {"memory-of", [&] { return canReadMemoryOf(pid_t(std::atoi(argument.c_str()))); }},
      {"signal", [&] { return canSignal(pid_t(std::atoi(argument.c_str()))); }},
      {"kill-parent",
       [&] { return kill(getppid(), SIGKILL) == 0 && usleep(300 * 1000) == 0 && getppid() != 1; }},
      {"kill-group",
       [&] { return signal(SIGUSR1, SIG_IGN), kill(0, SIGUSR1) == 0 && usleep(100 * 1000) == 0; }},
      {"fork", [&] { return canFork(); }},
      {"fork-bomb", [&] { return forkBomb(std::strtoull(argument.c_str(), nullptr, 10)); }},
      {"leave-behind", [&] { return leaveBehind(argument); }},
      {"mount", [&] { return canMount(); }},
      {"unshare", [&] { return canUnshare(); }},
      {"perf", [&] { return canWatchTheKernel(); }},
      {"bpf", [&] { return isAllowed(SYS_bpf); }},
      {"keys", [&] { return isAllowed(SYS_keyctl); }},
      {"userfaultfd", [&] { return isAllowed(SYS_userfaultfd); }},
      {"setns", [&] { return isAllowed(SYS_setns); }},
      {"chroot", [&] { return chroot("/tmp") == 0; }},
      {"device", [&] { return mknod("/tmp/device", S_IFBLK | 0600, makedev(8, 0)) == 0; }},
      {"others", [&] { return seesOthers(argument); }},
      {"fill", [&] { return canFill(argument, 64u << 20); }},
      {"variable", [&] { return std::getenv(argument.c_str()) != nullptr; }},
      {"descriptor",
       [&] {
         for (int fd = 3; fd < 1024; ++fd)
           if (fcntl(fd, F_GETFD) >= 0)
             return true;
         return false;
       }},
      {"spin",
       [&] {
         for (std::uint64_t volatile i = 0;;) {
           static_cast<void>(i);
         }
         return true;
       }},
      {"allocate",
       [&] {
         return mmap(nullptr, std::strtoull(argument.c_str(), nullptr, 10), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
       }},
      {"sleep",
       [&] {
         signal(SIGTERM, SIG_IGN);
         sleep(60);
         return true;
       }},
  };
  const auto found = attempts.find(attempt);
  if (found == attempts.end())
    return 2;
  std::puts(found->second() ? "got it" : "refused");
  std::fflush(stdout);
  return 0;
}
