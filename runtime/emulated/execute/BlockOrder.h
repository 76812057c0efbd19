// SPDX-License-Identifier: Apache-2.0
// What orders the blocks of a launch, which CUDA lets run in any order and at once: a block that
// makes its writes visible by a fence, and another that has looked at an atomic or a volatile word
// since. Without both a block may see the old values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kopt::runtime::emulated {

class BlockOrder {
public:
  void beginLaunch() { blocks_.clear(); }
  /// `interval`: the first one of the block. They only grow.
  void beginBlock(std::uint32_t interval) {
    blocks_.push_back({interval, 0});
    looked_ = false;
  }
  /// The running block makes what it wrote until now visible to others.
  void fence(std::uint32_t interval) {
    blocks_.back().lastFence = std::max(blocks_.back().lastFence, interval);
  }
  /// The running block accesses a word that others tell it something by.
  void look() { looked_ = true; }

  /// Whether what an earlier block did in `interval` happened before the running block goes on.
  bool isOrdered(std::uint32_t interval) const {
    if (!looked_)
      return false;
    const auto next =
        std::upper_bound(blocks_.begin(), blocks_.end(), interval,
                         [](std::uint32_t at, const Block &block) { return at < block.first; });
    return next != blocks_.begin() && std::prev(next)->lastFence >= interval;
  }

private:
  struct Block {
    std::uint32_t first, lastFence; ///< intervals; no fence: 0
  };
  std::vector<Block> blocks_;
  bool looked_ = false;
};

} // namespace kopt::runtime::emulated
