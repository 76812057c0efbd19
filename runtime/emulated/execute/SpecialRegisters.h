// SPDX-License-Identifier: Apache-2.0
// threadIdx and the like, as variables that emulated modules import.
#pragma once

#include <array>
#include <cstdint>

namespace kopt::runtime::emulated {

void setDimensions(const std::array<std::uint32_t, 3> &block,
                   const std::array<std::uint32_t, 3> &grid);
void setBlock(const std::array<std::uint32_t, 3> &block);
void setThread(const std::array<std::uint32_t, 3> &thread, std::uint64_t callKey);
/// What local variables hold that were never set: 0 a NaN and a negative integer, 1 the largest
/// floating-point number and 0, 2 the lowest and the largest integer.
void setUnset(std::uint32_t choice);
std::array<std::uint32_t, 3> currentBlock();
std::uint64_t currentCallKey();
/// Judges a suspicious store of the thread that is about to give way.
void judgePendingStore();

} // namespace kopt::runtime::emulated
