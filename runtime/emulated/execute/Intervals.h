// SPDX-License-Identifier: Apache-2.0
// When the threads of a block have passed barriers. Each passing begins an interval; their numbers
// grow with time, and the accesses that Checks.h compares have the number of their interval.
#pragma once

#include "runtime/emulated/execute/Machine.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kopt::runtime::emulated {

class Intervals {
public:
  void resize(std::uint32_t threads) {
    warps_.resize((threads + 31) / 32);
    threads_.resize(std::max<std::size_t>(threads_.size(), warps_.size() * 32));
  }
  /// For numbers that begin anew.
  void forget() { std::fill(threads_.begin(), threads_.end(), Thread()); }

  /// All threads have passed a barrier of the block. No access before it can race with one after
  /// it.
  void beginPhase() {
    machine.phase = ++machine.lastInterval;
    std::fill(warps_.begin(), warps_.end(), machine.phase);
    for (std::size_t t = 0; t < warps_.size() * 32; ++t)
      threads_[t].interval = machine.phase;
  }
  /// The lanes of `mask`, of `count` from thread `first` on, pass a warp barrier: what they did,
  /// and what earlier barriers ordered before it, happens before what they do next. Lanes that have
  /// returned stay as they are.
  void passWarpBarrier(std::uint32_t first, std::uint32_t count, std::uint32_t mask) {
    const std::uint32_t interval = ++machine.lastInterval, all = ~0u >> (32 - count);
    std::array<std::uint32_t, 32> heard{};
    if ((mask & all) == all) {
      machine.warpInterval = warps_[first / 32] = interval;
    } else {
      for (std::uint32_t i = 0; i < count; ++i)
        for (std::uint32_t other = 0; (mask >> i & 1u) && other < count; ++other)
          heard[other] = mask >> other & 1u
                             ? interval
                             : std::max(heard[other], threads_[first + i].heard[other]);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!(mask >> i & 1u))
        continue;
      threads_[first + i].interval = interval;
      if (interval != machine.warpInterval)
        threads_[first + i].heard = heard;
    }
  }

  void enterWarp(std::uint32_t warp) { machine.warpInterval = warps_[warp]; }
  void enter(std::uint32_t thread) {
    machine.interval = threads_[thread].interval;
    machine.heard = threads_[thread].heard.data();
  }

private:
  struct Thread {
    std::uint32_t interval = 0;
    std::array<std::uint32_t, 32> heard{}; ///< Machine::heard
  };
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> warps_; ///< Machine::warpInterval of each
};

} // namespace kopt::runtime::emulated
