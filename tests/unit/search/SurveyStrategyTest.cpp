// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kopt {
namespace {

using testing::AnyOf;

/// A search that answers each ask at once: parents have these techniques, each for one candidate.
class SurveyTest : public testing::Test {
protected:
  SurveyTest() { history_.trials.emplace_back().candidateHash = "base"; }

  void tell(Event event, const Trial *trial = nullptr) {
    history_.apply(event, trial);
    strategy_->observe(event, history_);
  }

  Decision decide() { return strategy_->decide(history_); }

  /// Lets the strategy ask; the ask, with its id.
  Ask ask() {
    Decision decision = decide();
    while (const auto *profile = std::get_if<Profile>(&decision.what)) {
      profiled_.push_back(profile->candidate);
      tell({.what = Profiled{profile->candidate}});
      decision = decide();
    }
    EXPECT_TRUE(std::holds_alternative<Ask>(decision.what));
    Ask ask = std::get<Ask>(decision.what);
    ask.id = int(history_.asked.size()) + 1;
    tell({.what = ask});
    return ask;
  }

  /// The answer: a candidate of this technique, and what else the parent has.
  void answer(const Ask &ask, const std::string &technique, std::map<std::string, int> left) {
    Offered offer{.ask = ask.id, .role = ask.role, .left = std::move(left)};
    if (!technique.empty()) {
      offer.candidates.emplace_back().technique = technique;
      offer.candidates.back().constants["of"] = ask.id; // what it is told apart by
    }
    tell({.what = offer});
  }

  void judge(const Ask &ask, double speedup, Verdict verdict = Verdict::Faster) {
    Trial trial;
    trial.candidateHash = history_.waiting.front().hash;
    trial.verdict = verdict;
    trial.speedup = Speedup{};
    trial.speedup->estimate = speedup;
    tell({.what = Judged{ask.id, trial.candidateHash}}, &trial);
  }

  SearchHistory history_;
  std::unique_ptr<Strategy> strategy_ =
      makeSurveyStrategy({.proposers = {"transform"}, .seed = 7, .open = 2});
  std::vector<std::string> profiled_;
};

TEST_F(SurveyTest, AsksWhatIsLeftThenDrawsFromThat) {
  const Ask first = ask();
  EXPECT_EQ(first.technique, "");
  EXPECT_EQ(first.parents, std::vector<std::string>{"base"});
  EXPECT_TRUE(std::holds_alternative<Wait>(decide().what)) << "nothing is known before the answer";
  answer(first, "unroll", {{"coarsen", 2}, {"jam", 1}});
  const Ask second = ask();
  EXPECT_THAT(second.technique, AnyOf("coarsen", "jam"));
  EXPECT_TRUE(std::holds_alternative<Wait>(decide().what)) << "two are open";
  EXPECT_EQ(profiled_.size(), 0U) << "the baseline has its counters";
}

TEST_F(SurveyTest, TriesThingsOnWhatIsRight) {
  answer(ask(), "unroll", {});
  judge(history_.asked.back().ask, 1.2);
  Ask next = ask(); // of the two parents it is not known what they have left
  if (next.parents.front() == "base") {
    answer(next, "", {});
    next = ask();
  }
  EXPECT_EQ(next.parents.front(), history_.trials[1].candidateHash);
  EXPECT_EQ(profiled_, next.parents);
  answer(next, "coarsen", {{"jam", 1}});
  judge(next, 3, Verdict::WrongResult);
  std::set<std::string> parents;
  for (int i = 0; i < 20; ++i) {
    parents.insert(ask().parents.front());
    answer(history_.asked.back().ask, "", {{"jam", 1}});
  }
  EXPECT_FALSE(parents.contains(history_.trials[2].candidateHash)) << "what is wrong is no parent";
  EXPECT_TRUE(parents.contains(history_.trials[1].candidateHash));
}

TEST_F(SurveyTest, ReachesAllArms) {
  const std::map<std::string, int> left = {{"coarsen", 1}, {"jam", 1}, {"stage", 1}};
  std::set<std::string> drawn;
  for (int i = 0; i < 40; ++i) {
    const Ask next = ask();
    drawn.insert(next.technique);
    answer(next, "", left);
  }
  EXPECT_EQ(drawn, (std::set<std::string>{"", "coarsen", "jam", "stage"}));
}

TEST_F(SurveyTest, DecidesTheSameAgain) {
  answer(ask(), "unroll", {{"coarsen", 2}, {"jam", 1}, {"stage", 1}});
  const Ask next = std::get<Ask>(decide().what);
  strategy_ = makeSurveyStrategy({.proposers = {"transform"}, .seed = 7, .open = 2});
  for (const Event &event : history_.events)
    strategy_->observe(event, history_);
  EXPECT_EQ(std::get<Ask>(decide().what).technique, next.technique);
}

} // namespace
} // namespace kopt
