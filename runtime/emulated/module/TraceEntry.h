// SPDX-License-Identifier: Apache-2.0
// The trace of a lane, which the hooks write for the model of the GPU.
#pragma once

#include <cstdint>

namespace kopt::runtime::emulated {

/// One record of a lane's trace: a block that it entered, or an access within it.
struct TraceEntry {
  std::uint64_t value; ///< for a block: its key; for an access: its address
  std::uint32_t id;    ///< for a block: kBlockBit | number; for an access: its site
  /// For an access. With kStoreBit, the store of a site that both reads and writes (a copy).
  std::uint32_t bytes;
};
constexpr std::uint32_t kBlockBit = 0x80000000u, kStoreBit = 0x80000000u;

} // namespace kopt::runtime::emulated
