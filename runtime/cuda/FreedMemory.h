// SPDX-License-Identifier: Apache-2.0
// Device memory that was released and waits for the next allocation. The driver takes up to ten
// milliseconds to allocate or to free, more on machines with several GPUs, and a judgement
// allocates some hundred times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace kopt::runtime::cuda {

class FreedMemory {
public:
  struct Block {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
  };

  /// The bytes to allocate for a request: similar requests get blocks of equal size.
  static std::size_t rounded(std::size_t bytes);

  /// Takes out a block of at least `bytes` and at most twice as many: the smallest, and of equal
  /// ones the one that was kept first. Nothing if there is none.
  std::optional<Block> take(std::size_t bytes);
  /// Keeps a block.
  void keep(Block block);
  /// Takes out blocks, the largest first, until at most `most` bytes are left. The caller frees
  /// them.
  std::vector<Block> reduce(std::uint64_t most);

private:
  std::multimap<std::size_t, std::uint64_t> blocks_; ///< address by size
  std::uint64_t bytes_ = 0;
};

} // namespace kopt::runtime::cuda
