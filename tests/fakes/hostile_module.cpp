// SPDX-License-Identifier: Apache-2.0
// An emulated module that never was one: what a candidate could do in the runner's process if it
// got native code past every check. Loading it tries everything; the first attempt that works ends
// the process with 100 + its number, and where none works the loader finds that this is no module.
// Secrets lie in ../secret/ beside its own folder.
#include "fakes/hostile.h"

#include <cstdlib>
#include <dlfcn.h>
#include <functional>

using namespace kopt::fakes::hostile;

namespace {

std::string ownFolder() {
  Dl_info info{};
  dladdr(reinterpret_cast<void *>(&ownFolder), &info);
  const std::string path = info.dli_fname ? info.dli_fname : "";
  return path.substr(0, path.rfind('/'));
}

[[gnu::constructor]] void attack() {
  const std::string here = ownFolder();
  const std::function<bool()> attempts[] = {
      [&] { return canRead(here + "/../secret/key"); },
      [] { return canRead("/etc/hostname"); },
      [] { return canRead("/root/.bashrc"); },
      [&] { return canWrite(here + "/written"); },
      [&] {
        return canWrite(here + "/../written"), false;
      }, // into memory of its own: the test looks for the file
      [] { return canWrite("/usr/written"); },
      [] { return canOpenSocket(AF_INET); },
      [] { return canOpenSocket(AF_NETLINK, SOCK_RAW); },
      [] { return canTrace(getppid()); },
      [] { return canReadMemoryOf(getppid()); },
      [] { return canSignal(getppid()); },
      [] { return kill(0, 0) == 0; },
      [] { return canFork(); },
      [] { return canMount(); },
      [] { return canUnshare(); },
      [] { return canWatchTheKernel(); },
      [] { return isAllowed(SYS_bpf); },
      [] { return canFill("/dev/shm/large", 2ull << 30); },
      [] { return canFill("/tmp/large", 2ull << 30); },
      [] { return std::getenv("HOSTILE_SECRET_KEY") != nullptr; },
  };
  int number = 100;
  for (const auto &attempt : attempts) {
    if (attempt())
      _exit(number);
    ++number;
  }
  // What it cannot keep it from: its own streams. A reply that it cannot know the number of is not
  // believed.
  if (access((here + "/forge").c_str(), F_OK) == 0) {
    const char reply[] = "ok id=1 status=0 detail= module=1 symbol=k\n";
    for (int fd = 0; fd < 256; ++fd) {
      [[maybe_unused]] const ssize_t sent = write(fd, reply, sizeof reply - 1);
    }
  }
}

} // namespace
