// SPDX-License-Identifier: Apache-2.0
// threadIdx and the like, as variables that emulated modules import.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace kopt::runtime::emulated {

void setDimensions(const std::array<std::uint32_t, 3> &block,
                   const std::array<std::uint32_t, 3> &grid);
void setBlock(const std::array<std::uint32_t, 3> &block);
void setThread(const std::array<std::uint32_t, 3> &thread, std::uint64_t callKey);
/// Sets the values of local variables that were never set, for floating-point types and integers:
/// 0: NaN and a negative integer; 1: the largest number and 0; 2: the lowest number and the largest
/// integer.
void setUnset(std::uint32_t choice);
std::array<std::uint32_t, 3> currentBlock();
/// "(0,1,0)"
inline std::string positionText(const std::array<std::uint32_t, 3> &at) {
  return "(" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," + std::to_string(at[2]) +
         ")";
}
std::uint64_t currentCallKey();
/// Judges a pending suspicious store of the thread that is about to give way.
void judgePendingStore();

} // namespace kopt::runtime::emulated
