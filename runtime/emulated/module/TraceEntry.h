// SPDX-License-Identifier: Apache-2.0
// What the functions that emulated code calls write down of a lane, for the model of the GPU.
#pragma once

#include <cstdint>

namespace kopt::runtime::emulated {

/// One record of a lane's trace: a block that it entered, or an access within it.
struct TraceEntry {
  std::uint64_t value; ///< of a block: its key; of an access: the address
  std::uint32_t id;    ///< of a block: kBlockBit | number; of an access: the site
  std::uint32_t bytes; ///< of an access; kStoreBit where its site both reads and writes (a copy)
};
constexpr std::uint32_t kBlockBit = 0x80000000u, kStoreBit = 0x80000000u;

} // namespace kopt::runtime::emulated
