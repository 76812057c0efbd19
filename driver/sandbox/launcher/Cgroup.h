// SPDX-License-Identifier: Apache-2.0
// A limit of the memory in use, through cgroup v2, if this user may make cgroups.
#pragma once

#include "driver/sandbox/launcher/Outcome.h"

#include <cstdint>
#include <string>

namespace kopt::sandbox {

/// The folder in which to make cgroups with a memory limit for children of this process: the parent
/// of its own cgroup, because a cgroup that contains processes cannot limit others. `root` is the
/// cgroup2 mount, `own` the text of /proc/self/cgroup. Empty, with the reason in `why`, if there is
/// none.
std::string cgroupFolder(const std::string &root, const std::string &own, std::string &why);

/// A cgroup with a limit that contains this process. It is made before the child starts, so that
/// all of the child is counted.
class Cgroup {
public:
  Cgroup() = default;
  /// Leaves the cgroup, and removes it if it is empty.
  ~Cgroup();
  Cgroup(const Cgroup &) = delete;
  Cgroup &operator=(const Cgroup &) = delete;

  /// Makes and enters a cgroup in `folder`. Also removes those that killed predecessors left there.
  Outcome enter(const std::string &folder, std::uint64_t memoryBytes, std::uint64_t processes);
  /// The number of its processes that the kernel killed because the limit was reached.
  std::uint64_t killed() const;

private:
  std::string path_, home_;
};

} // namespace kopt::sandbox
