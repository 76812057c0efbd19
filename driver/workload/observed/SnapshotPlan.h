// SPDX-License-Identifier: Apache-2.0
// Chooses the launches to snapshot, from a program that was observed once.
#pragma once

#include "driver/workload/observed/LaunchClasses.h"

#include <string>
#include <vector>

namespace kopt {

/// A kernel's launches to snapshot, in the syntax of runtime/capture/Config.h: "launch 3,7", "class
/// 2".
struct SnapshotOrder {
  std::string symbol;
  std::string how;
};

struct SnapshotPlan {
  std::vector<SnapshotOrder> orders;
  std::vector<std::string> notes; ///< what is left out for lack of room
};

/// Plans snapshots so that up to `most` classes of each kernel have one launch and one held-out
/// launch, as far as they fit into `bytes`. The class with most of each kernel's time comes first;
/// the others are stored as long as all take at most three quarters of that, or 4 GiB, because
/// everything stored has to be compressed and is run later.
SnapshotPlan planSnapshots(const ObservedTrace &learned, const std::vector<KernelUse> &kernels,
                           std::size_t most, std::uint64_t bytes);

} // namespace kopt
