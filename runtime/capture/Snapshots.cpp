// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/Snapshots.h"

#include "runtime/trace/Contents.h"

#include <algorithm>
#include <cstring>

namespace kopt::runtime::capture {

namespace {

constexpr std::size_t kMostBuffers = 4096;

} // namespace

void Snapshots::reach(std::uint64_t address, std::uint8_t depth) {
  if (address == 0 || reached_.size() == kMostBuffers)
    return;
  const auto found = recorder_.allocations().find(address);
  if (!found)
    return;
  for (const Reached &known : reached_)
    if (known.allocation.base == found->base)
      return;
  reached_.push_back({*found, depth});
}

void Snapshots::reachAll(const std::byte *bytes, std::size_t size, std::uint8_t depth) {
  // Most words of most buffers are no addresses, and a look into the map takes a lock.
  const AllocationMap::Range range = recorder_.allocations().range();
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= size; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    if (range.holds(word))
      reach(word, depth);
  }
}

trace::SnapshotItem Snapshots::store(const Reached &reached, bool follow) {
  const LiveAllocation &allocation = reached.allocation;
  trace::SnapshotItem item;
  item.base = allocation.base;
  item.bytes = allocation.bytes;
  item.kind = allocation.kind;
  item.depth = reached.depth;
  item.name = allocation.name;
  if (allocation.base == 0) {
    item.reason = "the driver does not report the address of the variable " + allocation.name;
    return item;
  }
  const std::uint64_t cap = recorder_.config().maxSnapshotBytes;
  if (allocation.bytes > cap - std::min(cap, storedBytes_)) {
    item.reason = "the limit of " + std::to_string(cap) + " bytes of snapshots was reached";
    if (!capSaid_)
      recorder_.note(item.reason + ": from launch " + std::to_string(launch_) +
                     " on, buffers are missing");
    capSaid_ = true;
    return item;
  }
  std::uint64_t written = 0, seen = 0;
  const auto source = [&](std::uint64_t offset, std::size_t size, std::byte *to, std::string &why) {
    if (!memory_.read(allocation.base + offset, size, to, why))
      return false;
    // Contents are read twice; look for pointers only the first time.
    if (follow && offset >= seen) {
      reachAll(to, size, std::uint8_t(reached.depth + 1));
      seen = offset + size;
    }
    return true;
  };
  item.stored = trace::storeContents(recorder_.config().trace, allocation.bytes, source, item.hash,
                                     written, item.reason);
  if (written > 0)
    storedBytes_ += allocation.bytes;
  return item;
}

bool Snapshots::before(std::uint64_t launch, const void *handle, const KernelEntry &kernel,
                       const LaunchFacts &facts, const std::byte *arguments, std::size_t bytes) {
  std::string why;
  if (bytes == 0 && kernel.argumentBytes == 0 && !kernel.layoutKnown) {
    recorder_.notSnapshotted(launch,
                             "the size of the parameters of " + kernel.symbol + " is unknown");
    return false;
  }
  taking_.lock();
  launch_ = launch;
  reached_.clear();
  if (!memory_.wait(facts, recorder_.config().waitSeconds, why)) {
    recorder_.notSnapshotted(launch, "before it: " + why);
    taking_.unlock();
    return false;
  }
  reachAll(arguments, bytes, 0);
  for (const LiveAllocation &variable : memory_.variables(handle, kernel))
    if (std::none_of(reached_.begin(), reached_.end(), [&](const Reached &known) {
          return variable.base && known.allocation.base == variable.base;
        }))
      reached_.push_back({variable, 0});
  std::vector<trace::SnapshotItem> items;
  // By index, because following pointers adds to the list during the loop.
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    const Reached reached = reached_[i];
    items.push_back(store(reached, reached.depth < recorder_.config().depth));
  }
  recorder_.snapshot(launch, false, items, memory_.stackBytes());
  return true;
}

void Snapshots::after(const LaunchFacts &facts) {
  std::string why;
  if (!memory_.wait(facts, recorder_.config().waitSeconds, why)) {
    recorder_.notSnapshotted(launch_, "after it: " + why);
  } else {
    std::vector<trace::SnapshotItem> items;
    for (const Reached &reached : reached_)
      items.push_back(store(reached, false));
    recorder_.snapshot(launch_, true, items);
  }
  taking_.unlock();
}

void Snapshots::abandon() {
  recorder_.notSnapshotted(launch_, "the launch failed");
  taking_.unlock();
}

} // namespace kopt::runtime::capture
