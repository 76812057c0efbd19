// SPDX-License-Identifier: Apache-2.0
// The portfolio over arms whose gains are known to the test alone.
#include "driver/search/policy/Portfolio.h"

#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace kopt {
namespace {

using testing::_;
using testing::ElementsAre;

/// A proposer and a judge in one: each parent has every technique that it has not, and a technique
/// multiplies the speed by what `gainOf` says.
class ArmsWorld {
public:
  ArmsWorld(std::vector<std::string> techniques, PortfolioSettings settings = {})
      : techniques_(std::move(techniques)), settings_(std::move(settings)) {
    settings_.proposers = {"transform"};
    strategy = makePortfolio(settings_);
    history.trials.emplace_back().candidateHash = "base";
  }

  /// Plays until `trials` were judged or the strategy stops; the reason if it does.
  std::optional<StopReason> play(std::size_t trials) {
    while (history.trials.size() <= trials) {
      const auto start = std::chrono::steady_clock::now();
      Decision decision = strategy->decide(history);
      slowest = std::max(
          slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      if (auto *ask = std::get_if<Ask>(&decision.what)) {
        ask->id = int(history.asked.size()) + 1;
        tell({.what = *ask, .evidence = decision.evidence});
        answer(*ask);
      } else if (const auto *profile = std::get_if<Profile>(&decision.what)) {
        tell({.what = Profiled{profile->candidate}});
      } else if (const auto *accept = std::get_if<Accept>(&decision.what)) {
        accepted.push_back(accept->title);
        tell({.what = *accept});
      } else if (const auto *stop = std::get_if<Stop>(&decision.what)) {
        return stop->reason;
      } else {
        judge();
      }
    }
    return std::nullopt;
  }

  double best() const {
    double most = 1;
    for (std::size_t i = 1; i < history.trials.size(); ++i)
      most = std::max(most, history.trials[i].speedup->estimate);
    return most;
  }

  std::function<double(const std::string &technique, int tried)> gainOf = [](auto &, int) {
    return 1.0;
  };
  std::function<bool(const std::string &technique)> isWrong = [](auto &) { return false; };
  int each = 1; ///< candidates of a technique that a parent has
  SearchHistory history;
  std::unique_ptr<Strategy> strategy;
  std::vector<std::string> tried, accepted; ///< techniques, titles
  double slowest = 0;                       ///< seconds of a decision

private:
  void tell(Event event, const Trial *trial = nullptr) {
    history.apply(event, trial);
    strategy->observe(event, history);
  }

  void answer(const Ask &ask) {
    const std::string &parent = ask.parents.front();
    std::map<std::string, int> &left = left_[parent];
    if (!known_[parent]) {
      known_[parent] = true;
      const Trial *from = history.find(parent);
      for (const std::string &technique : techniques_)
        if (from->candidate.title.find(technique) == std::string::npos)
          left[technique] = each;
    }
    Offered offer{.ask = ask.id, .role = ask.role};
    std::string technique = ask.technique;
    if (technique.empty() && !left.empty())
      technique = left.begin()->first;
    if (left.contains(technique)) {
      Candidate candidate;
      candidate.technique = technique;
      candidate.parents = {parent};
      candidate.title = history.find(parent)->candidate.title + " " + technique;
      candidate.constants["of"] = ask.id; // what it is told apart by
      offer.candidates.push_back(candidate);
      if (--left[technique] == 0)
        left.erase(technique);
    }
    offer.left = left;
    tell({.what = offer});
  }

  void judge() {
    ASSERT_FALSE(history.waiting.empty());
    const WaitingCandidate next = history.waiting.front();
    Trial trial;
    trial.candidate = next.candidate;
    trial.candidateHash = next.hash;
    const std::string &technique = next.candidate.technique;
    const Trial *parent = history.find(next.candidate.parents.front());
    const double before = parent->speedup ? parent->speedup->estimate : 1;
    trial.speedup = Speedup{};
    const double after = before * gainOf(technique, tries_[technique]++);
    trial.speedup->estimate = trial.speedup->low = trial.speedup->high = after;
    trial.verdict = isWrong(technique) ? Verdict::WrongResult
                    : after > 1.02     ? Verdict::Faster
                    : after > 0.98     ? Verdict::Same
                                       : Verdict::Slower;
    if (trial.verdict == Verdict::WrongResult)
      trial.speedup->estimate = 1;
    trial.seconds = 1;
    tried.push_back(technique);
    tell({.what = Judged{next.ask, trial.candidateHash}}, &trial);
  }

  std::vector<std::string> techniques_;
  PortfolioSettings settings_;
  std::map<std::string, std::map<std::string, int>> left_;
  std::map<std::string, bool> known_;
  std::map<std::string, int> tries_;
};

TEST(Portfolio, TriesEachTechniqueAndBuildsOnWhatGains) {
  ArmsWorld world({"coarsen", "jam", "unroll"});
  world.gainOf = [](const std::string &technique, int) {
    return technique == "jam" ? 2.0 : technique == "unroll" ? 1.2 : 0.9;
  };
  EXPECT_EQ(world.play(100), StopReason::Exhausted);
  EXPECT_DOUBLE_EQ(world.best(), 2.4);
  EXPECT_EQ(world.accepted.back().find("coarsen"), std::string::npos);
}

TEST(Portfolio, StartsWithWhatThePriorPromises) {
  PortfolioSettings settings{.open = 1};
  settings.priors["stage"] = {.chance = 0.9};
  ArmsWorld world({"coarsen", "jam", "stage", "unroll"}, settings);
  world.play(2);
  // What a parent has is not known before the first answer.
  EXPECT_THAT(world.tried, ElementsAre("coarsen", "stage"));
}

/// A rewrite that the world offers for its ask with this number.
std::string offeredFor(int ask) {
  Candidate candidate;
  candidate.constants["of"] = ask;
  return candidate.contentHash();
}

TEST(Portfolio, GoesTheStepsThatLedOnBefore) {
  PortfolioSettings settings;
  settings.precedents.ofText = {{offeredFor(1), {"base", "coarsen", 0, 0.4, 0.4}},
                                {offeredFor(2), {offeredFor(1), "unroll", 0.4, 0.4, 0.4}}};
  ArmsWorld world({"coarsen", "jam", "pad", "unroll"}, settings);
  world.play(2);
  EXPECT_THAT(world.tried, ElementsAre("coarsen", "unroll")) << "nothing was tried beside them";
  EXPECT_EQ(world.history.trials.at(2).candidate.parents.front(), offeredFor(1));
  ArmsWorld cold({"coarsen", "jam", "pad", "unroll"});
  cold.play(2);
  EXPECT_THAT(cold.tried, ElementsAre("coarsen", "jam"));
}

TEST(Portfolio, DoesNotWaitForWhatIsNotOfferedAgain) {
  PortfolioSettings settings;
  settings.precedents.ofText = {{"gone", {"base", "unroll", 1, 1, 1}}};
  ArmsWorld world({"coarsen", "jam", "pad", "unroll"}, settings);
  world.each = 5;
  world.play(5);
  EXPECT_THAT(world.tried, ElementsAre("coarsen", "unroll", "jam", "pad", _));
}

TEST(Portfolio, TriesLastWhatLedNowhereBefore) {
  PortfolioSettings settings;
  settings.precedents.ofText = {{"slow", {"base", "jam", -0.1, -0.1, -1}}};
  ArmsWorld world({"coarsen", "jam", "pad", "unroll"}, settings);
  world.play(4);
  EXPECT_THAT(world.tried, ElementsAre("coarsen", "pad", "unroll", "jam"));
}

TEST(Portfolio, LearnsAgainstThePrior) {
  PortfolioSettings settings{.open = 1};
  settings.priors["stage"] = {.chance = 0.9};
  ArmsWorld world({"coarsen", "stage", "unroll"}, settings);
  world.each = 20;
  world.gainOf = [](const std::string &technique, int) {
    return technique == "unroll" ? 1.1 : 0.5;
  };
  world.play(30);
  EXPECT_LT(std::ranges::count(world.tried, "stage"), 20);
  EXPECT_GT(std::ranges::count(world.tried, "unroll"), 2);
}

TEST(Portfolio, PrefersWhatARuleRecommends) {
  ArmsWorld world({"a", "b", "stage"}, {.open = 1});
  world.history.trials.front().diagnosis.hits.resize(1);
  world.history.trials.front().diagnosis.hits.front().techniques = {"stage"};
  world.play(2);
  EXPECT_THAT(world.tried, ElementsAre("a", "stage"));
}

TEST(Portfolio, LeavesWhatIsMostlyWrong) {
  ArmsWorld world({"right", "wrong"}, {.open = 1});
  world.each = 50;
  world.isWrong = [](const std::string &technique) { return technique == "wrong"; };
  world.gainOf = [](const std::string &, int tried) { return tried % 3 == 0 ? 1.03 : 1.0; };
  world.play(40);
  EXPECT_LT(std::ranges::count(world.tried, "wrong"), 15);
}

TEST(Portfolio, KeepsSeveralFamilies) {
  // The faster one at first has nothing that goes with it; the other has.
  PortfolioSettings settings;
  settings.policy.families = true;
  ArmsWorld world({"a", "b", "c"}, settings);
  world.gainOf = [&world](const std::string &technique, int) {
    const auto &next = world.history.waiting.front().candidate;
    const bool isAlone = std::ranges::count(next.title, ' ') == 1;
    if (technique == "c" && !isAlone)
      return next.title == " b c" ? 3.0 : 0.8;
    return technique == "a" ? 1.2 : technique == "b" ? 1.15 : 1.0;
  };
  world.play(15);
  EXPECT_GE(world.best(), 3.4);
}

TEST(Portfolio, AGateSetsWhatIsAsked) {
  PortfolioSettings settings{.open = 1};
  const PolicyBook book = PolicyBook::load().value();
  settings.policy = *book.find("navigator");
  settings.gates = book.gates();
  settings.priors["a"] = {.chance = 0.9};
  settings.policy.priorWeight = 100;
  ArmsWorld gated({"a", "b", "c"}, settings);
  gated.each = 10;
  gated.play(3);
  EXPECT_THAT(gated.tried, ElementsAre("a", "b", "c")) << "breadth: each once while nothing gains";
  const auto isGate = [](const Event &event) {
    return !event.evidence.empty() && event.evidence.front().what.starts_with("gate breadth: ");
  };
  EXPECT_EQ(std::ranges::count_if(gated.history.events, isGate), 3);
  settings.policy.gates = false;
  ArmsWorld other({"a", "b", "c"}, settings);
  other.each = 10;
  other.play(3);
  EXPECT_THAT(other.tried, ElementsAre("a", "a", "a"));
}

TEST(Portfolio, StopsWithoutGain) {
  ArmsWorld world({"a", "b"}, {.patience = 10});
  world.each = 100;
  EXPECT_EQ(world.play(300), StopReason::Patience);
  EXPECT_GE(world.tried.size(), 10U);
  EXPECT_LE(world.tried.size(), 10U + 3);
}

TEST(Portfolio, NumbersMayTryLongerWithoutGain) {
  ArmsWorld world({"params"}, {.patience = 10});
  world.each = 100;
  EXPECT_EQ(world.play(300), StopReason::Patience);
  EXPECT_GE(world.tried.size(), 25U);
  EXPECT_LE(world.tried.size(), 26U + 3);
}

TEST(Portfolio, TheFirstPointsOfASpaceDoNotCountAgainstIt) {
  ArmsWorld world({"a", "b", "params"});
  world.each = 100;
  ArmsWorld without({"a", "b", "c"});
  without.each = 100;
  world.play(40);
  without.play(40);
  EXPECT_GE(std::ranges::count(world.tried, "params"), 18);
  EXPECT_LT(std::ranges::count(without.tried, "c"), 16) << "a third of 40";
}

TEST(Portfolio, TriesOtherValuesOfAModelsTunablesAtOnce) {
  SearchHistory history;
  history.trials.emplace_back().candidateHash = "base";
  const auto portfolio = makePortfolio({.proposers = {"params", "llm", "transform"}});
  const auto tell = [&](Event event, const Trial *trial = nullptr) {
    history.apply(event, trial);
    portfolio->observe(event, history);
  };
  for (const auto &[verdict, asked] :
       {std::pair(Verdict::WrongResult, "base"), std::pair(Verdict::Slower, "slow")}) {
    const int id = int(history.asked.size()) + 1;
    tell({.what = Ask{.id = id, .role = "llm", .parents = {"base"}, .limit = 1}});
    Trial trial;
    trial.candidate.proposer = trial.candidate.technique = "llm";
    trial.candidate.parents = {"base"};
    trial.candidate.tunables = {{.name = "ROWS", .values = {1, 2, 4}, .value = 2}};
    trial.candidate.title = asked;
    trial.candidateHash = verdict == Verdict::Slower ? "slow" : trial.candidate.contentHash();
    tell({.what = Offered{.ask = id, .role = "llm", .candidates = {trial.candidate}}});
    history.waiting.back().hash = trial.candidateHash;
    trial.verdict = verdict;
    trial.speedup = Speedup{};
    trial.speedup->estimate = 0.5;
    tell({.what = Judged{id, trial.candidateHash}}, &trial);
    const Decision decision = portfolio->decide(history);
    const auto *ask = std::get_if<Ask>(&decision.what);
    ASSERT_NE(ask, nullptr);
    EXPECT_EQ(ask->parents.front(), asked);
    EXPECT_EQ(ask->role == "params" && ask->limit == 4, verdict == Verdict::Slower);
    if (verdict == Verdict::Slower) { // and once
      Ask again = *ask;
      again.id = 3;
      tell({.what = again});
      const Decision next = portfolio->decide(history);
      EXPECT_FALSE(std::holds_alternative<Ask>(next.what) &&
                   std::get<Ask>(next.what).parents.front() == "slow");
    }
  }
}

TEST(Portfolio, AsksAFollowerWhereATrialIsFasterOnSomeLaunchesOnly) {
  PortfolioSettings settings;
  settings.proposers = {"transform"};
  settings.followers = {"classes"};
  settings.weights = {1, 1};
  const std::unique_ptr<Strategy> strategy = makePortfolio(settings);
  SearchHistory history;
  Trial trial;
  trial.candidateHash = "base";
  trial.verdict = Verdict::Same;
  const auto timed = [](double first, double second) {
    std::vector<LaunchTiming> timings(2);
    timings[0].speedup.estimate = timings[0].speedup.low = timings[0].speedup.high = first;
    timings[1].speedup.estimate = timings[1].speedup.low = timings[1].speedup.high = second;
    return timings;
  };
  trial.timings = timed(1, 1);
  history.trials = {trial};
  for (int i = 0; i < 6; ++i) {
    trial.candidateHash = std::to_string(i);
    trial.timings = timed(2, 0.5);
    trial.verdict = Verdict::Slower;
    trial.speedup = Speedup{};
    history.trials.push_back(trial);
  }
  const Decision decision = strategy->decide(history);
  ASSERT_TRUE(std::holds_alternative<Ask>(decision.what));
  EXPECT_EQ(std::get<Ask>(decision.what).role, "classes");
  EXPECT_FALSE(decision.evidence.empty());
}

TEST(Portfolio, DecidesTheSameFromTheSameEvents) {
  ArmsWorld world({"coarsen", "jam", "unroll"});
  world.each = 5;
  world.gainOf = [](const std::string &technique, int tried) {
    return technique == "jam" ? 1.3 - 0.1 * tried : 1.0 + 0.02 * tried;
  };
  world.play(12);
  PortfolioSettings settings;
  settings.proposers = {"transform"};
  const std::unique_ptr<Strategy> again = makePortfolio(settings);
  SearchHistory history;
  history.trials.emplace_back().candidateHash = "base";
  for (const Event &event : world.history.events) {
    const auto *judged = std::get_if<Judged>(&event.what);
    if (const auto *ask = std::get_if<Ask>(&event.what)) {
      const Decision decision = again->decide(history);
      ASSERT_TRUE(std::holds_alternative<Ask>(decision.what));
      EXPECT_EQ(std::get<Ask>(decision.what).technique, ask->technique);
      EXPECT_EQ(std::get<Ask>(decision.what).parents, ask->parents);
    }
    history.apply(event, judged ? world.history.find(judged->candidate) : nullptr);
    again->observe(event, history);
  }
}

// Ten arms that gain with known chances, as bandits are tested. UCB1 (Auer, Cesa-Bianchi and
// Fischer 2002) gets the same rewards.
TEST(Portfolio, RegretsNoMoreThanUcb1) {
  double own = 0, ucb = 0;
  constexpr int kArms = 10, kTrials = 150;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<double> chances(kArms);
    for (double &chance : chances)
      chance = std::uniform_real_distribution<double>(0, 1)(random);
    const double top = *std::ranges::max_element(chances);
    std::vector<std::string> names;
    for (int i = 0; i < kArms; ++i)
      names.push_back(fmt::format("arm{}", i));
    const auto chanceOf = [&](const std::string &name) {
      return chances[std::size_t(std::stoi(name.substr(3)))];
    };
    // The baseline is the only parent: what gains is not better than what gained before.
    PortfolioSettings settings{.open = 1};
    settings.policy.width = 0;
    ArmsWorld world(names, settings);
    world.each = kTrials;
    world.gainOf = [&](const std::string &name, int) {
      return std::bernoulli_distribution(chanceOf(name))(random) ? 1.1 : 1.0;
    };
    world.play(kTrials);
    ASSERT_EQ(world.tried.size(), std::size_t(kTrials));
    for (const std::string &name : world.tried)
      own += top - chanceOf(name);

    std::vector<double> sums(kArms), counts(kArms);
    for (int trial = 0; trial < kTrials; ++trial) {
      int chosen = 0;
      double most = -1e9;
      for (int i = 0; i < kArms; ++i) {
        const std::size_t at = std::size_t(i);
        const double bound =
            counts[at] == 0
                ? 1e9
                : sums[at] / counts[at] + std::sqrt(2 * std::log(double(trial)) / counts[at]);
        if (bound > most)
          std::tie(most, chosen) = std::pair(bound, i);
      }
      const std::size_t at = std::size_t(chosen);
      sums[at] += std::bernoulli_distribution(chances[at])(random);
      counts[at] += 1;
      ucb += top - chances[at];
    }
  }
  EXPECT_LE(own, ucb);
}

TEST(Portfolio, DecidesInMillisecondsAfterAThousandTrials) {
  std::vector<std::string> names;
  for (int i = 0; i < 15; ++i)
    names.push_back(fmt::format("t{:02}", i));
  PortfolioSettings settings;
  for (int i = 0; i < 1000; ++i)
    settings.precedents.ofText[fmt::format("{:064}", i)] = {"base", names[std::size_t(i) % 15],
                                                            -0.1, -0.1, -1};
  ArmsWorld world(names, settings);
  world.each = 100;
  world.gainOf = [](const std::string &, int tried) { return tried % 7 == 0 ? 1.01 : 0.99; };
  world.play(1000);
  EXPECT_EQ(world.history.trials.size(), 1001U);
  world.slowest = 0;
  world.play(1010);
  EXPECT_LT(world.slowest, 0.05) << "5 ms in a release build";
}

} // namespace
} // namespace kopt
