// SPDX-License-Identifier: Apache-2.0
// Which launches of a program that was observed once are worth a snapshot.
#pragma once

#include "driver/workload/observed/LaunchClasses.h"

#include <string>
#include <vector>

namespace kopt {

/// A kernel's launches to be snapshotted, in the words of runtime/capture/Config.h: "launch 3,7",
/// "class 2".
struct SnapshotOrder {
  std::string symbol;
  std::string how;
};

struct SnapshotPlan {
  std::vector<SnapshotOrder> orders;
  std::vector<std::string> notes; ///< what is left out for want of room
};

/// What to snapshot so that `most` kinds of launches of each kernel have one launch and one
/// held-out launch, as far as they fit into `bytes`: first the kind of each kernel that has most of
/// its time, and then the others, which have 4 GiB at most, for all that is stored is compressed
/// and later run.
SnapshotPlan planSnapshots(const ObservedTrace &learned, const std::vector<KernelUse> &kernels,
                           std::size_t most, std::uint64_t bytes);

} // namespace kopt
