// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/module/Arena.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace kopt::runtime::emulated {
namespace {

constexpr std::uint64_t kAlignment = 256, kRedZone = 256, kPage = 4096;
/// Extra space behind the arena and its states, so that checks may read a few bytes past an access.
constexpr std::uint64_t kSlack = kPage;

void *reserve(std::uint64_t bytes) {
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

std::uint64_t roundUp(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

} // namespace

std::unique_ptr<Arena> Arena::create(std::uint64_t bytes, std::string &why) {
  // If address space is limited (ulimit -v, a container's policy), make a smaller device.
  constexpr std::uint64_t kSmallest = 64u << 20;
  for (std::uint64_t size = bytes; size >= kSmallest; size /= 2) {
    std::unique_ptr<Arena> arena(new Arena);
    arena->size_ = size;
    arena->base_ = static_cast<std::byte *>(reserve(size + kSlack));
    arena->state_ = static_cast<std::uint8_t *>(reserve(size + kSlack));
    arena->cells_ = static_cast<WordCell *>(reserve((size / 4 + kSlack) * sizeof(WordCell)));
    if (arena->base_ && arena->state_ && arena->cells_)
      return arena;
  }
  why = std::string("no address space for the emulated device's memory: ") + std::strerror(errno) +
        "; a limit set with `ulimit -v` must allow at least 1 GiB";
  return nullptr;
}

Arena::~Arena() {
  if (base_)
    munmap(base_, size_ + kSlack);
  if (state_)
    munmap(state_, size_ + kSlack);
  if (cells_)
    munmap(cells_, (size_ / 4 + kSlack) * sizeof(WordCell));
}

std::byte *Arena::allocate(std::size_t bytes) {
  const std::uint64_t needed = roundUp(bytes ? bytes : 1, kAlignment) + kRedZone;
  // Search from the last allocation onwards, so that freed addresses stay unused for long; then
  // once from the start.
  for (std::uint64_t start : {cursor_, kFirstAllocation}) {
    std::uint64_t at = start;
    for (auto next = live_.lower_bound(start); next != live_.end() && next->first < at + needed;
         ++next)
      at = roundUp(next->first + next->second.bytes, kAlignment) + kRedZone;
    if (at + needed > size_)
      continue;
    // The allocation before `at` may reach past it.
    auto before = live_.upper_bound(at);
    if (before != live_.begin()) {
      --before;
      if (before->first + before->second.bytes + kRedZone > at)
        at = roundUp(before->first + before->second.bytes, kAlignment) + kRedZone;
      auto next = live_.upper_bound(at);
      if (at + needed > size_ || (next != live_.end() && next->first < at + needed))
        continue;
    }
    live_[at] = {at, bytes, ++number_};
    // Vary the multiple of the alignment, so that code that depends on further address bits meets
    // all their values.
    cursor_ = at + needed + kAlignment * (number_ * 0x9e3779b97f4a7c15u >> 60);
    allocated_ += bytes;
    std::memset(state_ + at, kAllocated, bytes);
    return base_ + at;
  }
  return nullptr;
}

bool Arena::release(void *address) {
  auto found = live_.find(std::uint64_t(static_cast<std::byte *>(address) - base_));
  if (found == live_.end())
    return false;
  const Allocation allocation = found->second;
  live_.erase(found);
  allocated_ -= allocation.bytes;
  std::memset(state_ + allocation.offset, kUnallocated, allocation.bytes);
  // Return whole pages to the system; they are zero when used again.
  auto discard = [](void *from, std::uint64_t bytes) {
    const std::uint64_t begin = roundUp(std::uint64_t(from), kPage),
                        end = (std::uint64_t(from) + bytes) / kPage * kPage;
    if (end > begin)
      madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  };
  discard(base_ + allocation.offset, allocation.bytes);
  discard(state_ + allocation.offset, allocation.bytes);
  discard(cells_ + allocation.offset / 4, allocation.bytes / 4 * sizeof(WordCell));
  return true;
}

const Arena::Allocation *Arena::find(const void *address, bool &inside) const {
  inside = false;
  const std::uint64_t offset = std::uint64_t(static_cast<const std::byte *>(address) - base_);
  auto after = live_.upper_bound(offset);
  if (offset >= size_ || after == live_.begin())
    return nullptr;
  --after;
  inside = offset < after->first + after->second.bytes;
  return &after->second;
}

bool Arena::holds(const void *address, std::size_t bytes) const {
  bool inside = false;
  const Allocation *allocation = find(address, inside);
  if (!allocation)
    return false;
  const std::uint64_t offset = std::uint64_t(static_cast<const std::byte *>(address) - base_);
  return offset <= allocation->offset + allocation->bytes &&
         bytes <= allocation->offset + allocation->bytes - offset;
}

void Arena::setState(const void *address, std::size_t bytes, ByteState state) {
  std::memset(state_ + (static_cast<const std::byte *>(address) - base_), state, bytes);
}

} // namespace kopt::runtime::emulated
