// SPDX-License-Identifier: Apache-2.0
#include "driver/support/OnceEach.h"

#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <thread>

using namespace kopt;

namespace {

TEST(OnceEachTest, AnAnswerIsWorkedOutOnce) {
  OnceEach<int> answers;
  int asked = 0;
  const auto work = [&]() -> Result<int> { return ++asked; };
  EXPECT_EQ(*answers.get("a", work), 1);
  EXPECT_EQ(*answers.get("a", work), 1);
  EXPECT_EQ(*answers.get("b", work), 2);
}

TEST(OnceEachTest, WhoAsksMeanwhileWaits) {
  OnceEach<int> answers;
  std::promise<void> begun, allowed;
  std::atomic<int> worked = 0;
  std::thread first([&] {
    const auto answer = answers.get("a", [&]() -> Result<int> {
      ++worked;
      begun.set_value();
      allowed.get_future().wait();
      return 7;
    });
    EXPECT_EQ(*answer, 7);
  });
  begun.get_future().wait();
  std::thread second([&] {
    const auto answer = answers.get("a", [&]() -> Result<int> { return ++worked; });
    EXPECT_EQ(*answer, 7);
  });
  allowed.set_value();
  first.join();
  second.join();
  EXPECT_EQ(worked, 1);
}

TEST(OnceEachTest, AnErrorIsNotKept) {
  OnceEach<int> answers;
  const auto failed = answers.get(
      "a", []() -> Result<int> { return makeError(ErrorCode::Environment, "the disk is full"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "the disk is full");
  EXPECT_EQ(*answers.get("a", []() -> Result<int> { return 3; }), 3);
}

} // namespace
