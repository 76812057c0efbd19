// SPDX-License-Identifier: Apache-2.0
// What a launch and a kernel may ask of a GPU: NVIDIA's CUDA C++ Programming Guide, "Compute
// Capabilities", table "Technical Specifications per Compute Capability". The same from 7.5 to 12.x
// unless it says otherwise. No other file repeats these numbers.
#pragma once

#include <cstdint>

namespace kopt::gpu {

inline constexpr std::uint32_t kMostThreads = 1024, kMostThreadsInZ = 64; ///< of a block
inline constexpr std::uint32_t kMostGrid[] = {2147483647, 65535, 65535};
/// Bytes of shared memory a block: without an opt-in (all that is static), and with one, which is
/// what 9.0 and 10.x have; older and smaller ones have less. The system takes another KiB.
inline constexpr std::uint32_t kSharedWithoutOptIn = 48 * 1024, kMostShared = 227 * 1024,
                               kSharedOfSystem = 1024;

/// The number of threads that a multiprocessor holds; `capability`: 90 for 9.0.
constexpr unsigned threadsPerMultiprocessor(unsigned capability) {
  const bool isSmall = (capability >= 86 && capability < 90) || capability == 110 ||
                       capability == 120 || capability == 121;
  return capability == 75 ? 1024 : isSmall ? 1536 : 2048;
}

} // namespace kopt::gpu
