// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/parallel/WorkPool.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

namespace kopt::frontend {
namespace {

TEST(WorkPool, DoesEachPieceOnce) {
  for (unsigned jobs : {1u, 2u, 7u}) {
    WorkPool pool(jobs);
    std::vector<std::atomic<int>> done(100);
    for (int round = 0; round < 3; ++round)
      pool.forEach(done.size(), [&](std::size_t i) { ++done[i]; });
    for (const std::atomic<int> &count : done)
      EXPECT_EQ(count, 3);
    pool.forEach(0, [](std::size_t) { FAIL(); });
  }
}

TEST(WorkPool, StaysWithinItsJobsWhereWorkIsNested) {
  for (unsigned jobs : {1u, 3u}) {
    WorkPool pool(jobs);
    std::atomic<unsigned> running = 0, most = 0, done = 0;
    pool.forEach(6, [&](std::size_t) {
      pool.forEach(5, [&](std::size_t) {
        unsigned now = ++running, known = most;
        while (now > known && !most.compare_exchange_weak(known, now))
          ;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --running;
        ++done;
      });
    });
    EXPECT_EQ(done, 30u);
    EXPECT_LE(most, jobs);
  }
}

TEST(WorkPool, WorksAtTheSameTime) {
  WorkPool pool(2);
  std::atomic<int> arrived = 0;
  pool.forEach(2, [&](std::size_t) {
    ++arrived;
    while (arrived < 2) // ends only if the other one runs beside it
      std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(WorkPool, StartsInOrderOnOneThread) {
  WorkPool pool(1);
  std::vector<std::size_t> order;
  pool.forEach(4, [&](std::size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(WorkPool, HandsOnWhatWasThrown) {
  for (unsigned jobs : {1u, 4u}) {
    WorkPool pool(jobs);
    std::atomic<int> done = 0;
    EXPECT_THROW(pool.forEach(8,
                              [&](std::size_t i) {
                                ++done;
                                if (i == 3)
                                  throw std::runtime_error("no memory");
                              }),
                 std::runtime_error);
    EXPECT_EQ(done, 8);
  }
}

} // namespace
} // namespace kopt::frontend
