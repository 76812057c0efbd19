// SPDX-License-Identifier: Apache-2.0
// The order between blocks of a launch, which CUDA may run in any order and at the same time. An
// order exists if one block makes its writes visible by a fence and the other one has since read an
// atomic or a volatile word. Otherwise a block may see old values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kopt::runtime::emulated {

class BlockOrder {
public:
  void beginLaunch() { blocks_.clear(); }
  /// `interval`: the first one of the block. Interval numbers only grow.
  void beginBlock(std::uint32_t interval) {
    blocks_.push_back({interval, 0});
    looked_ = false;
  }
  /// The running block makes its earlier writes visible to other blocks.
  void fence(std::uint32_t interval) {
    blocks_.back().lastFence = std::max(blocks_.back().lastFence, interval);
  }
  /// The running block accesses a word through which others signal to it.
  void look() { looked_ = true; }

  bool hasLooked() const { return looked_; }
  /// True if the block of `interval` passed a fence, before or after.
  bool hasFence(std::uint32_t interval) const { return lastFenceOf(interval) != 0; }

  /// True if what an earlier block did in `interval` happened before the running block continues.
  bool isOrdered(std::uint32_t interval) const {
    return looked_ && lastFenceOf(interval) >= interval;
  }

private:
  std::uint32_t lastFenceOf(std::uint32_t interval) const {
    const auto next =
        std::upper_bound(blocks_.begin(), blocks_.end(), interval,
                         [](std::uint32_t at, const Block &block) { return at < block.first; });
    return next == blocks_.begin() ? 0 : std::prev(next)->lastFence;
  }

  struct Block {
    std::uint32_t first, lastFence; ///< intervals; lastFence is 0 if there was no fence
  };
  std::vector<Block> blocks_;
  bool looked_ = false;
};

} // namespace kopt::runtime::emulated
