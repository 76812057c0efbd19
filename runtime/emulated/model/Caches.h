// SPDX-License-Identifier: Apache-2.0
// A cache model without data: tags for 128-byte lines of four 32-byte sectors, as on NVIDIA GPUs
// since Volta.
#pragma once

#include <cstdint>
#include <vector>

namespace kopt::runtime::emulated {

/// A set-associative cache that replaces the least recently used line.
class SectorCache {
public:
  static constexpr unsigned kWays = 16;
  explicit SectorCache(std::uint64_t bytes);

  struct Outcome {
    bool hit = false;
    unsigned writtenBack = 0; ///< dirty sectors that were evicted
  };
  /// `sector` is address / 32. A store makes its sector valid and dirty without reading it.
  Outcome access(std::uint64_t sector, bool store);
  /// Empties the cache without writing back.
  void clear();
  std::uint64_t dirtySectors() const;

private:
  struct Line {
    std::uint64_t tag = ~0ull;
    std::uint32_t used = 0, generation = 0;
    std::uint8_t valid = 0, dirty = 0;
  };
  std::vector<Line> lines_;
  std::uint64_t sets_;
  std::uint32_t clock_ = 0, generation_ = 1;
};

} // namespace kopt::runtime::emulated
