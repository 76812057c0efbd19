// SPDX-License-Identifier: Apache-2.0
// A memory limit that counts what is used, through cgroup v2, where this user may make cgroups.
#pragma once

#include "driver/sandbox/launcher/Outcome.h"

#include <cstdint>
#include <string>

namespace kopt::sandbox {

/// The folder in which children of this process may have cgroups of their own with a memory limit:
/// its own cgroup's parent, as a cgroup with processes in it can limit no others. `root` is the
/// cgroup2 mount, `own` the text of /proc/self/cgroup. Empty, with the reason in `why`, where there
/// is none.
std::string cgroupFolder(const std::string &root, const std::string &own, std::string &why);

/// One limited cgroup with this process in it. Made before the child, so that all of the child is
/// counted.
class Cgroup {
public:
  Cgroup() = default;
  /// Leaves it, and removes it where nothing is left inside.
  ~Cgroup();
  Cgroup(const Cgroup &) = delete;
  Cgroup &operator=(const Cgroup &) = delete;

  /// Removes what killed predecessors left in `folder`, too.
  Outcome enter(const std::string &folder, std::uint64_t memoryBytes, std::uint64_t processes);
  /// Processes in it that the kernel has killed for want of memory.
  std::uint64_t killed() const;

private:
  std::string path_, home_;
};

} // namespace kopt::sandbox
