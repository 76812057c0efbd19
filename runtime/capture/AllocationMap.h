// SPDX-License-Identifier: Apache-2.0
// The memory that is allocated now. All functions may be called from any thread.
#pragma once

#include "runtime/trace/Format.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace kopt::runtime::capture {

struct LiveAllocation {
  std::uint64_t base = 0, bytes = 0;
  trace::AllocationKind kind = trace::AllocationKind::Device;
  std::string name; ///< name of a module's variable
};

class AllocationMap {
public:
  /// Replaces an allocation with the same base.
  void add(const LiveAllocation &allocation);
  void remove(std::uint64_t base);
  /// The allocation that holds the address, if any.
  std::optional<LiveAllocation> find(std::uint64_t address) const;
  /// The smallest range that holds all allocations; empty if there is none.
  struct Range {
    std::uint64_t begin = 0, bytes = 0;
    bool holds(std::uint64_t address) const { return address - begin < bytes; }
  };
  Range range() const;

private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, LiveAllocation> live_; ///< by base
};

} // namespace kopt::runtime::capture
