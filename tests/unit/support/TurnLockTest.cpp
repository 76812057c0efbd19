// SPDX-License-Identifier: Apache-2.0
#include "driver/support/TurnLock.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

TEST(TurnLock, OneAtATimeAndNobodyIsForgotten) {
  constexpr int kThreads = 4, kTurns = 2000;
  kopt::TurnLock turn;
  int inside = 0, most = 0, turns = 0; // guarded by the lock, or the thread sanitizer says so
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < kTurns; ++k) {
        const std::lock_guard hold(turn);
        most = std::max(most, ++inside);
        ++turns;
        --inside;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(turns, kThreads * kTurns);
}

} // namespace
