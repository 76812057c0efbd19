// SPDX-License-Identifier: Apache-2.0
// The order in which blocks, warps and lanes take their turns, the length of a turn, and the values
// of variables that were never set. CUDA guarantees none of these, so a kernel whose result depends
// on them is wrong. BlockRunner asks here whose turn it is.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace kopt::runtime::emulated {

class Schedule {
public:
  /// With `seed` 0, all run in the order of their indices and without a limit on turns; else the
  /// seed decides.
  explicit Schedule(std::uint64_t seed = 0) : seed_(seed), random_(seed) {
    std::iota(lanes_.begin(), lanes_.end(), 0u);
  }

  /// The block that runs at `turn`, of `count` blocks. Even seeds run the last block first, so that
  /// a block that waits for an earlier one's result finds none. Odd seeds visit all blocks with a
  /// stride.
  std::uint64_t block(std::uint64_t turn, std::uint64_t count) const {
    if (seed_ == 0)
      return turn;
    if (seed_ % 2 == 0)
      return count - 1 - turn;
    std::uint64_t step = seed_ % count;
    while (std::gcd(step, count) != 1)
      step = step + 1 >= count ? 1 : step + 1;
    return std::uint64_t((static_cast<unsigned __int128>(step) * turn + seed_ / 2) % count);
  }

  /// The warps of a block in the order of one round of turns.
  const std::vector<std::uint32_t> &warps(std::uint32_t count) {
    if (warps_.size() != count) {
      warps_.resize(count);
      std::iota(warps_.begin(), warps_.end(), 0u);
    }
    if (seed_ != 0)
      std::shuffle(warps_.begin(), warps_.end(), random_);
    return warps_;
  }

  /// The lanes of a warp in the order of one round of turns.
  const std::array<std::uint32_t, 32> &lanes() {
    if (seed_ != 0)
      std::shuffle(lanes_.begin(), lanes_.end(), random_);
    return lanes_;
  }

  /// Instructions of one turn, at most `most`. Short turns interleave the accesses of threads.
  std::int64_t turn(std::int64_t most) {
    return seed_ == 0 ? most : std::min<std::int64_t>(most, 50 + std::int64_t(random_() % 2000));
  }

  /// The value of variables that were never set, for setUnset().
  std::uint32_t unset() const { return seed_ == 0 ? 0 : 1 + std::uint32_t(seed_ % 2); }

  /// True if a thread gives way before an atomic, so that what it has read may be out of date.
  bool givesWay() { return seed_ != 0 && random_() % 4 == 0; }

private:
  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> warps_;
  std::array<std::uint32_t, 32> lanes_{};
};

} // namespace kopt::runtime::emulated
