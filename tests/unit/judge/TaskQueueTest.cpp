// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/queue/TaskQueue.h"

#include "fakes/Results.h"

#include <atomic>
#include <gmock/gmock.h>
#include <thread>

namespace kopt {
namespace {

using testing::HasSubstr;

Candidate candidate(const std::string &title) {
  Candidate made;
  made.title = title;
  made.declarations.push_back({title, 0, ""});
  return made;
}

class TaskQueueTest : public testing::Test {
protected:
  using Judge = std::function<bool(std::size_t lane, const TaskQueue::TaskPointer &task)>;

  /// Lanes work until `judge_` says that they end.
  void work(std::size_t lane) {
    while (const auto task = queue_.next(lane))
      if (!judge_(lane, task))
        return;
  }

  JobQueue first_{1}, second_{1};
  Judge judge_ = [](std::size_t, const TaskQueue::TaskPointer &task) {
    task->answer.set_value(Trial());
    return true;
  };
  std::vector<std::string> told_;
  TaskQueue queue_{{{"gpu1", &first_}, {"gpu2", &second_}},
                   {[this](std::size_t lane) { work(lane); },
                    [](std::size_t, const Error &) { return false; },
                    [this](const std::string &text) { told_.push_back(text); }}};
};

TEST_F(TaskQueueTest, WhatALostLaneJudgedIsJudgedByAnother) {
  std::atomic<bool> isLost = false;
  judge_ = [&](std::size_t lane, const TaskQueue::TaskPointer &task) {
    if (!isLost.exchange(true)) {
      queue_.lose(lane, {ErrorCode::Environment, "it is gone", {}, {}, {}}, task);
      return false;
    }
    task->answer.set_value(Trial());
    return true;
  };
  queue_.begin({candidate("a"), candidate("b")});
  std::string notes;
  for (const char *title : {"a", "b"})
    for (const Finding &finding : must(queue_.wait(candidate(title))).findings)
      notes += finding.message;
  EXPECT_THAT(notes, HasSubstr("judged again, as gpu"));
  EXPECT_THAT(told_.at(0), HasSubstr("leaves the pool, 1 left: it is gone"));
  queue_.drain();
}

TEST_F(TaskQueueTest, WhereNoLaneIsLeftAllThatWaitFail) {
  judge_ = [&](std::size_t lane, const TaskQueue::TaskPointer &task) {
    queue_.lose(lane, {ErrorCode::Environment, "it is gone", {}, {}, {}}, task);
    return false;
  };
  queue_.begin({candidate("a")});
  for (const char *title : {"a", "b"}) {
    const auto trial = queue_.wait(candidate(title));
    ASSERT_FALSE(trial);
    EXPECT_EQ(trial.error().what, "it is gone");
  }
  EXPECT_FALSE(queue_.first());
  queue_.drain();
}

TEST_F(TaskQueueTest, NothingBeginsOnceItIsDrained) {
  std::promise<void> begun, lost;
  std::atomic<int> judged = 0;
  judge_ = [&](std::size_t lane, const TaskQueue::TaskPointer &task) {
    if (++judged == 1)
      begun.set_value();
    lost.get_future().wait();
    queue_.lose(lane, {ErrorCode::Environment, "it is gone", {}, {}, {}}, task);
    return false;
  };
  queue_.begin({candidate("a")});
  begun.get_future().wait();
  std::thread drains([&] { queue_.drain(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // it waits for the lane
  lost.set_value();
  drains.join();
  for (JobQueue *lane : {&first_, &second_})
    lane->runAndWait([] {});
  EXPECT_EQ(judged, 1) << "the other lane does not take it over";
}

} // namespace
} // namespace kopt
