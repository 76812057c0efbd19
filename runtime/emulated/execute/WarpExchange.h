// SPDX-License-Identifier: Apache-2.0
// Shuffles, votes, matches and reductions of a warp, as pure functions.
#pragma once

#include <array>
#include <cstdint>

namespace kopt::runtime::emulated {

enum class WarpOperation : std::uint8_t { Barrier, Shuffle, Vote, ActiveMask, Reduce };

struct LaneRequest {
  std::uint64_t value = 0;
  int argument = 0, width = 32;
};

/// The value that a shuffle reads from a lane that does not take part, which the programming guide
/// leaves undefined.
constexpr std::uint64_t kUndefinedLane = 0xDEADDEADDEADDEADull;

/// `mode` as in runtime/emulated/include/kopt_emulated/hooks.h. Only lanes of `members` get a
/// result.
void exchange(WarpOperation operation, int mode, std::uint32_t members,
              const std::array<LaneRequest, 32> &requests, std::array<std::uint64_t, 32> &results);

} // namespace kopt::runtime::emulated
