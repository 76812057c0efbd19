// SPDX-License-Identifier: Apache-2.0
#include "driver/support/JobQueue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <gtest/gtest.h>

using namespace kopt;

namespace {

TEST(JobQueue, OneThreadKeepsTheOrder) {
  std::vector<int> order;
  std::promise<void> done;
  JobQueue queue(1);
  for (int i = 0; i < 50; ++i)
    queue.add([&order, i] { order.push_back(i); });
  queue.add([&] { done.set_value(); });
  done.get_future().wait();
  ASSERT_EQ(order.size(), 50u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(JobQueue, SeveralThreadsRunSeveralJobs) {
  std::promise<void> first, second;
  std::shared_future<void> firstSeen = first.get_future().share(),
                           secondSeen = second.get_future().share();
  std::promise<bool> met;
  JobQueue queue(2);
  queue.add([&] {
    first.set_value();
    met.set_value(secondSeen.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
  });
  queue.add([&] {
    second.set_value();
    firstSeen.wait_for(std::chrono::seconds(30));
  });
  EXPECT_TRUE(met.get_future().get());
}

TEST(JobQueue, OneCanWaitForAJob) {
  JobQueue queue(1);
  std::thread::id where;
  bool isFirstDone = false, wasFirst = false;
  queue.add([&] { isFirstDone = true; });
  queue.runAndWait([&] {
    wasFirst = isFirstDone;
    where = std::this_thread::get_id();
  });
  EXPECT_TRUE(wasFirst);
  EXPECT_NE(where, std::thread::id());
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(JobQueue, TheEndWaitsForWhatRunsAndDropsTheRest) {
  std::atomic<int> begun = 0, ended = 0;
  std::promise<void> running;
  {
    JobQueue queue(1);
    for (int i = 0; i < 10; ++i)
      queue.add([&] {
        if (++begun == 1)
          running.set_value();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        ++ended;
      });
    running.get_future().wait();
  }
  EXPECT_EQ(ended, begun);
  EXPECT_LT(begun, 10);
}

} // namespace
