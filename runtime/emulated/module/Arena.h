// SPDX-License-Identifier: Apache-2.0
// The emulated device's memory: one reserved range of addresses that kernels use as they are, and
// beside it what is known about each byte (allocated, initialised) and each word (who accessed it
// last).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace kopt::runtime::emulated {

/// What is known of one byte. Loads need the second bit, stores the first: a protected byte has a
/// value that no kernel may change.
enum ByteState : std::uint8_t {
  kUnallocated = 0,
  kAllocated = 1,
  kProtected = 2,
  kInitialised = 3
};

/// The last write and the last reads of one 4-byte word. An interval is what a thread does between
/// two barriers, of its block or its warp; their numbers only grow and are unique within the
/// process, so a cell of an earlier block, or of before the block's last barrier, means nothing and
/// is never cleared.
struct WordCell {
  std::uint32_t writeInterval, readInterval; ///< of the reads: the latest one
  std::uint32_t readers; ///< the lanes of the reader's warp whose reads nothing orders before the
                         ///< latest one; or CellWho::kOtherWarps
  std::uint16_t writer, reader; ///< CellWho
  std::uint16_t writeSite, readSite;
};
namespace CellWho {
constexpr unsigned kThread = 0x03ff; ///< index within the block
constexpr unsigned kWarp = 0x03e0;
constexpr unsigned kMaskShift = 10;  ///< four bits: the bytes of the word
constexpr unsigned kAtomic = 0x4000; ///< of a writer
constexpr unsigned kOtherWarps =
    0x8000; ///< of a reader: so did other warps, and `readers` is a thread of one of them
} // namespace CellWho

class Arena {
public:
  /// Shared memory of the running block lies at the start of the arena.
  static constexpr std::uint64_t kSharedWindow = 1u << 20;
  /// Allocations begin here, so that a small negative index is not taken for shared memory.
  static constexpr std::uint64_t kFirstAllocation = 2 * kSharedWindow;

  /// Reserves addresses only. Null, with `why`, where the system does not even allow that.
  static std::unique_ptr<Arena> create(std::uint64_t bytes, std::string &why);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// 256-byte aligned and followed by at least as many unallocated bytes. Null if memory is
  /// exhausted.
  std::byte *allocate(std::size_t bytes);
  bool release(void *address);

  struct Allocation {
    std::uint64_t offset = 0, bytes = 0;
    unsigned number = 0; ///< in the order of allocation
  };
  /// The allocation that holds the address, or the nearest one before it (`inside` says which);
  /// null if there is none.
  const Allocation *find(const void *address, bool &inside) const;
  /// Whether all bytes lie in one live allocation.
  bool holds(const void *address, std::size_t bytes) const;

  void setState(const void *address, std::size_t bytes, ByteState state);

  std::byte *base() const { return base_; }
  std::uint64_t size() const { return size_; }
  std::uint8_t *state() const { return state_; }
  WordCell *cells() const { return cells_; }
  std::uint64_t allocatedBytes() const { return allocated_; }
  const std::map<std::uint64_t, Allocation> &allocations() const { return live_; }

private:
  Arena() = default;

  std::byte *base_ = nullptr;
  std::uint8_t *state_ = nullptr;
  WordCell *cells_ = nullptr;
  std::uint64_t size_ = 0, cursor_ = kFirstAllocation, allocated_ = 0;
  unsigned number_ = 0;
  std::map<std::uint64_t, Allocation> live_; ///< by offset
};

} // namespace kopt::runtime::emulated
