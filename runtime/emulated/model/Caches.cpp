// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/Caches.h"

#include <algorithm>
#include <bit>

namespace kopt::runtime::emulated {

SectorCache::SectorCache(std::uint64_t bytes)
    : sets_(std::max<std::uint64_t>(1, bytes / (128 * kWays))) {
  lines_.resize(sets_ * kWays);
}

SectorCache::Outcome SectorCache::access(std::uint64_t sector, bool store) {
  const std::uint64_t tag = sector >> 2;
  const std::uint8_t bit = std::uint8_t(1u << (sector & 3));
  // Hash the address, as real caches do, so that power-of-two strides do not fall into one set.
  const std::uint64_t mixed = (tag ^ (tag >> 17)) * 0x9E3779B97F4A7C15ull;
  Line *set = lines_.data() +
              (std::uint64_t((static_cast<unsigned __int128>(mixed) * sets_) >> 64)) * kWays;
  Outcome outcome;
  Line *line = nullptr, *oldest = set;
  for (unsigned way = 0; way < kWays; ++way) {
    if (set[way].generation != generation_) {
      oldest = &set[way];
      oldest->used = 0;
      oldest->valid = oldest->dirty = 0;
      oldest->tag = ~0ull;
      oldest->generation = generation_;
      break; // lines are filled in order: nothing valid follows
    }
    if (set[way].tag == tag) {
      line = &set[way];
      break;
    }
    if (set[way].used < oldest->used)
      oldest = &set[way];
  }
  if (!line) {
    outcome.writtenBack = unsigned(std::popcount(oldest->dirty));
    oldest->tag = tag;
    oldest->valid = oldest->dirty = 0;
    line = oldest;
  }
  outcome.hit = line->valid & bit;
  line->valid |= bit;
  if (store)
    line->dirty |= bit;
  line->used = ++clock_;
  return outcome;
}

void SectorCache::clear() {
  ++generation_;
  clock_ = 0;
}

std::uint64_t SectorCache::dirtySectors() const {
  std::uint64_t dirty = 0;
  for (const Line &line : lines_)
    if (line.generation == generation_)
      dirty += unsigned(std::popcount(line.dirty));
  return dirty;
}

} // namespace kopt::runtime::emulated
