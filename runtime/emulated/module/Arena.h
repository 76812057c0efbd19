// SPDX-License-Identifier: Apache-2.0
// The emulated device's memory: one reserved range of addresses that kernels use directly, with the
// state of each byte (allocated, initialised) and of each word (the last accesses).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace kopt::runtime::emulated {

/// The state of one byte. Loads need the second bit, stores the first: a protected byte has a value
/// that no kernel may change.
enum ByteState : std::uint8_t {
  kUnallocated = 0,
  kAllocated = 1,
  kProtected = 2,
  kInitialised = 3
};

/// The last write and the last reads of one 4-byte word. An interval is what a thread does between
/// two barriers of its block or its warp. Interval numbers only grow and are unique within the
/// process, so entries from an earlier block, or from before the block's last barrier, can be
/// recognised and need not be cleared.
struct WordCell {
  std::uint32_t writeInterval, readInterval; ///< of the latest write and the latest read
  /// The lanes of the reader's warp whose reads are not ordered before the latest one. With
  /// CellWho::kOtherWarps in `reader`, a thread of another warp.
  std::uint32_t readers;
  std::uint16_t writer, reader; ///< CellWho
  std::uint16_t writeSite, readSite;
};
namespace CellWho {
constexpr unsigned kThread = 0x03ff; ///< index within the block
constexpr unsigned kWarp = 0x03e0;
constexpr unsigned kMaskShift = 10;  ///< position of four bits, one for each byte of the word
constexpr unsigned kAtomic = 0x4000; ///< in a writer: the write was an atomic
/// In a reader: other warps have read too, and `readers` is a thread of one of them.
constexpr unsigned kOtherWarps = 0x8000;
} // namespace CellWho

class Arena {
public:
  /// Shared memory of the running block lies at the start of the arena.
  static constexpr std::uint64_t kSharedWindow = 1u << 20;
  /// Allocations begin here, so that a small negative index is not taken for shared memory.
  static constexpr std::uint64_t kFirstAllocation = 2 * kSharedWindow;

  /// Reserves address space only. Null, with the reason in `why`, if the system refuses even that.
  static std::unique_ptr<Arena> create(std::uint64_t bytes, std::string &why);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// Allocates memory that is aligned to 256 bytes and followed by at least 256 unallocated bytes.
  /// Null if memory is exhausted.
  std::byte *allocate(std::size_t bytes);
  bool release(void *address);

  struct Allocation {
    std::uint64_t offset = 0, bytes = 0;
    unsigned number = 0; ///< in the order of allocation
  };
  /// The allocation that holds the address, or the nearest one before it (`inside` says which);
  /// null if there is none.
  const Allocation *find(const void *address, bool &inside) const;
  /// True if all bytes lie in one live allocation.
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
