// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/SnapshotPlan.h"

#include "driver/source/KernelNames.h"
#include "driver/support/ElementType.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <tuple>

namespace kopt {

namespace trace = runtime::trace;

namespace {

/// Launches without room that are named one by one.
constexpr std::size_t kMostUnstored = 4;

/// Bytes of the allocations that a launch's arguments point to, counted twice: before and after it.
std::uint64_t snapshotBytes(const trace::ProcessTrace &process, const trace::Launch &launch) {
  std::set<std::uint64_t> bases;
  std::uint64_t bytes = 0;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= launch.arguments.size();
       at += sizeof(std::uint64_t)) {
    const auto word =
        loadAs<std::uint64_t>(reinterpret_cast<const char *>(launch.arguments.data() + at));
    const trace::Allocation *found = process.allocationAt(word, launch.sequence);
    if (found && bases.insert(found->base).second)
      bytes += 2 * found->bytes;
  }
  return bytes;
}

/// A launch that is worth a snapshot.
struct Wish {
  std::size_t kernel = 0; ///< index of the kernel
  LaunchRef launch;
  std::size_t rank = 0; ///< rank of its class in its kernel; 0 has most of the time
  bool isHeldOut = false;
  double seconds = 0; ///< seconds of the program that it represents
};

} // namespace

SnapshotPlan planSnapshots(const ObservedTrace &learned, const std::vector<KernelUse> &kernels,
                           std::size_t most, std::uint64_t bytes) {
  constexpr std::uint64_t kEnough = std::uint64_t(4) << 30;
  const std::uint64_t ofOthers = std::max(std::min(bytes, kEnough), bytes / 4 * 3);
  const auto usable = [&](const LaunchRef &ref) {
    return !whyNotReplayable(learned.processes[ref.process].launches[ref.launch]);
  };
  std::vector<Wish> wishes;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::size_t rank = 0;
    for (const Representative &one :
         chooseRepresentatives(kernels[i], most, kCoverage, usable).chosen) {
      const double seconds = one.weight * kernels[i].seconds;
      wishes.push_back({i, one.launch, rank, false, seconds});
      if (one.heldOut)
        wishes.push_back({i, *one.heldOut, rank, true, seconds});
      ++rank;
    }
  }
  const auto order = [](const Wish &wish) {
    return std::tuple(wish.rank > 0 || wish.isHeldOut, -wish.seconds, wish.isHeldOut);
  };
  std::ranges::stable_sort(wishes, std::less(), order);
  std::vector<std::set<std::uint32_t>> ordinals(kernels.size());
  SnapshotPlan plan;
  std::uint64_t taken = 0;
  std::size_t left = 0;
  for (const Wish &wish : wishes) {
    const trace::ProcessTrace &process = learned.processes[wish.launch.process];
    const trace::Launch &launch = process.launches[wish.launch.launch];
    const std::uint64_t own = snapshotBytes(process, launch);
    // A kernel with no snapshot yet gets more room than another class of launches.
    const bool isFirst = ordinals[wish.kernel].empty();
    const std::uint64_t room = isFirst ? bytes : ofOthers;
    if (own <= room - std::min(room, taken)) {
      taken += own;
      ordinals[wish.kernel].insert(launch.ordinal);
      continue;
    }
    if (++left <= kMostUnstored)
      plan.notes.push_back(fmt::format(
          "{}: launch {}{} is not stored: its memory takes {}, and {} of the limit of {} are left",
          kernelName(kernels[wish.kernel].symbol), launch.ordinal,
          wish.isHeldOut ? " (to be held out)" : "", formatBytes(double(own)),
          formatBytes(double(room - std::min(room, taken))), formatBytes(double(room))));
  }
  if (left > kMostUnstored)
    plan.notes.push_back(
        fmt::format("{} other launches are not stored either", left - kMostUnstored));
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::vector<std::string> numbers;
    for (const std::uint32_t ordinal : ordinals[i])
      numbers.push_back(std::to_string(ordinal));
    if (!numbers.empty())
      plan.orders.push_back({kernels[i].symbol, "launch " + join(numbers, ",")});
  }
  return plan;
}

} // namespace kopt
