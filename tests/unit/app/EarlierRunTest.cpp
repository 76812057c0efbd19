// SPDX-License-Identifier: Apache-2.0
#include "driver/app/resume/EarlierRun.h"
#include "tests/fakes/MemoryStore.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;

class EarlierRunTest : public testing::Test {
protected:
  void SetUp() override {
    run_.kernel = "scale";
    run_.sliceText = "text";
    run_.name = "scale-1";
    run_ = must(store_.beginRun(run_));
  }

  static Candidate candidate(const std::string &title) {
    Candidate made;
    made.proposer = kModelRole;
    made.title = title;
    made.chunks[0] = title;
    made.parents = {"a parent"};
    return made;
  }
  void judge(const Candidate &candidate, Verdict verdict, double speedup) {
    Trial trial;
    trial.candidate = candidate;
    trial.candidateHash = candidate.contentHash();
    trial.verdict = verdict;
    trial.purpose = Purpose::Search;
    trial.speedup = Speedup{.estimate = speedup};
    must(store_.recordTrial(run_.id, trial));
  }
  void offer(int ask, const std::string &role, std::vector<Candidate> candidates) {
    ASSERT_TRUE(store_.recordEvent(
        run_.id, {.what = Offered{.ask = ask, .role = role, .candidates = std::move(candidates)}}));
  }
  std::vector<std::string> titles() {
    const auto earlier = must(findEarlierRun(store_, must(store_.runs()), run_));
    std::vector<std::string> titles;
    for (const Candidate &each : earlier.value().best.candidates) {
      EXPECT_TRUE(each.parents.empty()) << each.title;
      titles.push_back(each.title);
    }
    return titles;
  }

  fakes::MemoryStore store_;
  RunRecord run_;
};

TEST_F(EarlierRunTest, AnotherKernelHasNone) {
  RunRecord other = run_;
  other.sliceText = "another text";
  EXPECT_FALSE(must(findEarlierRun(store_, must(store_.runs()), other)));
}

TEST_F(EarlierRunTest, WhatTheModelHandedInAndNobodyJudgedIsNotLost) {
  judge(candidate("fast"), Verdict::Faster, 1.5);
  judge(candidate("faster"), Verdict::Faster, 2);
  judge(candidate("slow"), Verdict::Slower, 0.5);
  EXPECT_THAT(titles(), ElementsAre("faster", "fast"));
  offer(1, kModelRole, {candidate("slow"), candidate("older")});
  offer(2, kModelRole, {candidate("new"), candidate("older")});
  offer(3, "params", {candidate("tried again anyway")});
  EXPECT_THAT(titles(), ElementsAre("faster", "new", "older", "fast"));
}

TEST_F(EarlierRunTest, WhereAReplyWaitsOnlyWhatItIsAboutAndTheFastestGoBefore) {
  const Candidate about = candidate("about");
  judge(candidate("fast"), Verdict::Faster, 1.5);
  judge(about, Verdict::Faster, 2);
  ModelCall open;
  open.ask = 7;
  ASSERT_TRUE(store_.recordModelCall(run_.id, open));
  ASSERT_TRUE(store_.recordEvent(
      run_.id, {.what = Ask{.id = 7, .role = kModelRole, .parents = {about.contentHash()}}}));
  EXPECT_THAT(titles(), ElementsAre("about"));
  judge(candidate("faster"), Verdict::Faster, 3);
  EXPECT_THAT(titles(), ElementsAre("about", "faster"));
}

} // namespace
} // namespace kopt
