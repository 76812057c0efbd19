// SPDX-License-Identifier: Apache-2.0
#include "driver/sandbox/launcher/Landlock.h"

#include "driver/sandbox/launcher/Bubblewrap.h"

#include <cstdint>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

namespace kopt::sandbox {

namespace {

// The kernel's interface (linux/landlock.h), which the oldest supported headers lack.
struct RulesetAttributes {
  std::uint64_t files, network, scoped;
};
struct [[gnu::packed]] PathRule {
  std::uint64_t allowed;
  std::int32_t parent;
};
constexpr unsigned kCreateVersion = 1;
constexpr int kRulePathBeneath = 1;

constexpr std::uint64_t kExecute = 1u << 0, kWriteFile = 1u << 1, kReadFile = 1u << 2,
                        kReadFolder = 1u << 3, kTruncate = 1u << 14, kDeviceControl = 1u << 15;
constexpr std::uint64_t kFirstFiles = (1u << 13) - 1; ///< version 1: up to making symbolic links
constexpr std::uint64_t kRefer = 1u << 13;
constexpr std::uint64_t kTcp = 3;    ///< version 4: bind and connect
constexpr std::uint64_t kScopes = 3; ///< version 6: abstract sockets and signals of others

std::uint64_t handledFiles(int version) {
  std::uint64_t files = kFirstFiles;
  if (version >= 2)
    files |= kRefer;
  if (version >= 3)
    files |= kTruncate;
  if (version >= 5)
    files |= kDeviceControl;
  return files;
}

class Ruleset {
public:
  Ruleset(int fd, std::uint64_t handled) : fd_(fd), handled_(handled) {}
  ~Ruleset() { close(fd_); }
  Ruleset(const Ruleset &) = delete;
  Ruleset &operator=(const Ruleset &) = delete;

  /// Adds a rule. A path that does not exist needs none.
  Outcome allow(const std::string &path, std::uint64_t access) {
    const int at = open(path.c_str(), O_PATH | O_CLOEXEC);
    if (at < 0)
      return {};
    struct stat info{};
    constexpr std::uint64_t kOfFiles =
        kExecute | kWriteFile | kReadFile | kTruncate | kDeviceControl;
    if (fstat(at, &info) == 0 && !S_ISDIR(info.st_mode))
      access &= kOfFiles;
    const PathRule rule{access & handled_, at};
    const long done = syscall(__NR_landlock_add_rule, fd_, kRulePathBeneath, &rule, 0);
    const int error = errno;
    close(at);
    errno = error;
    KOPT_SANDBOX_CALL(done, "allow " + path + " (Landlock)");
    return {};
  }
  Outcome restrictSelf() {
    KOPT_SANDBOX_CALL(syscall(__NR_landlock_restrict_self, fd_, 0), "apply Landlock");
    return {};
  }

private:
  int fd_;
  std::uint64_t handled_;
};

} // namespace

int landlockVersion() {
  const long version = syscall(__NR_landlock_create_ruleset, nullptr, 0, kCreateVersion);
  return version < 0 ? 0 : int(version);
}

Outcome applyLandlock(const Options &options, bool wholeView) {
  const int version = landlockVersion();
  RulesetAttributes attributes{handledFiles(version), version >= 4 ? kTcp : 0,
                               version >= 6 ? kScopes : 0};
  const std::size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const long fd = syscall(__NR_landlock_create_ruleset, &attributes, size, 0);
  KOPT_SANDBOX_CALL(fd, "make a Landlock ruleset");
  Ruleset rules{int(fd), attributes.files};

  constexpr std::uint64_t kRead = kExecute | kReadFile | kReadFolder;
  const std::uint64_t write = attributes.files;
  if (wholeView) {
    KOPT_SANDBOX_STEP(rules.allow("/", kRead));
    KOPT_SANDBOX_STEP(rules.allow("/tmp", write));
    KOPT_SANDBOX_STEP(rules.allow("/dev/shm", write));
    // The mounts decide which parts may be written.
    KOPT_SANDBOX_STEP(rules.allow("/proc", kRead | kWriteFile | kTruncate));
  } else {
    for (const std::string &path : systemPaths())
      KOPT_SANDBOX_STEP(rules.allow(path, kRead));
    for (const std::string &path : options.readable)
      KOPT_SANDBOX_STEP(rules.allow(path, kRead));
    KOPT_SANDBOX_STEP(rules.allow("/proc", kReadFile | kReadFolder));
    // The program has the same process id.
    KOPT_SANDBOX_STEP(rules.allow("/proc/self", kReadFile | kReadFolder | kWriteFile | kTruncate));
    if (options.sysfs)
      KOPT_SANDBOX_STEP(rules.allow("/sys", kReadFile | kReadFolder));
  }
  for (const std::string &path : options.writable)
    KOPT_SANDBOX_STEP(rules.allow(path, write));
  for (const std::vector<std::string> &nodes : {basicDevices(), options.devices})
    for (const std::string &node : nodes)
      KOPT_SANDBOX_STEP(
          rules.allow(node, kReadFile | kWriteFile | kReadFolder | kDeviceControl | kTruncate));
  return rules.restrictSelf();
}

} // namespace kopt::sandbox
