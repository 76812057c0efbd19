// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/FreedMemory.h"

#include <algorithm>

namespace kopt::runtime::cuda {
namespace {

constexpr std::size_t kSmallStep = 256u << 10,
                      kLargeStep = 2u << 20; ///< the latter is a page's size

} // namespace

std::size_t FreedMemory::rounded(std::size_t bytes) {
  const std::size_t step = bytes <= kLargeStep ? kSmallStep : kLargeStep;
  return std::max<std::size_t>(1, (bytes + step - 1) / step) * step;
}

std::optional<FreedMemory::Block> FreedMemory::take(std::size_t bytes) {
  const auto found = blocks_.lower_bound(bytes);
  if (found == blocks_.end() || found->first / 2 > bytes)
    return std::nullopt;
  const Block block{found->second, found->first};
  blocks_.erase(found);
  bytes_ -= block.bytes;
  return block;
}

void FreedMemory::keep(Block block) {
  blocks_.emplace(block.bytes, block.address);
  bytes_ += block.bytes;
}

std::vector<FreedMemory::Block> FreedMemory::reduce(std::uint64_t most) {
  std::vector<Block> out;
  while (bytes_ > most) {
    const auto largest = std::prev(blocks_.end());
    out.push_back({largest->second, largest->first});
    bytes_ -= largest->first;
    blocks_.erase(largest);
  }
  return out;
}

} // namespace kopt::runtime::cuda
