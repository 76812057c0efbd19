// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/AllocationMap.h"

#include <algorithm>

namespace kopt::runtime::capture {

void AllocationMap::add(const LiveAllocation &allocation) {
  const std::lock_guard lock(mutex_);
  live_[allocation.base] = allocation;
}

void AllocationMap::remove(std::uint64_t base) {
  const std::lock_guard lock(mutex_);
  live_.erase(base);
}

std::optional<LiveAllocation> AllocationMap::find(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto after = live_.upper_bound(address);
  if (after == live_.begin())
    return std::nullopt;
  const LiveAllocation &before = std::prev(after)->second;
  return address - before.base < before.bytes ? std::optional(before) : std::nullopt;
}

AllocationMap::Range AllocationMap::range() const {
  const std::lock_guard lock(mutex_);
  if (live_.empty())
    return {};
  const std::uint64_t begin = live_.begin()->first;
  std::uint64_t end = begin;
  for (const auto &[base, allocation] : live_)
    end = std::max(end, base + allocation.bytes);
  return {begin, end - begin};
}

} // namespace kopt::runtime::capture
