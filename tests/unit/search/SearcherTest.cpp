// SPDX-License-Identifier: Apache-2.0
#include "driver/search/space/Searcher.h"
#include "driver/search/space/Trees.h"
#include "tests/fakes/Results.h"

#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using Answer = std::function<Outcome(const std::vector<std::int64_t> &)>;

/// 6 parameters of 8 values; two are tied. 163,840 points.
Space tuned() {
  std::vector<SpaceParameter> parameters;
  for (const char *name : {"a", "b", "c", "d", "e", "f"})
    parameters.push_back({name, {1, 2, 4, 8, 16, 32, 64, 128}});
  return must(Space::make(std::move(parameters), {"a * b <= 1024"}));
}

/// A time with one best point, and two parameters that act together.
Outcome hill(const std::vector<std::int64_t> &v) {
  const auto log = [&](std::size_t i) { return std::log2(double(v[i])); };
  return 0.1 * std::abs(log(0) + log(1) - 8) + 0.1 * std::abs(log(2) - 3) +
         0.05 * std::abs(log(3) - log(4)) + 0.02 * log(5);
}

/// The outcomes of so many trials.
std::vector<Outcome> search(const Space &space, const Answer &answer, bool withModel,
                            std::uint64_t seed, int trials) {
  Searched searched(space);
  const auto searcher =
      withModel ? makeModelSearcher(searched, seed) : makeRandomSearcher(searched, seed);
  std::vector<Outcome> outcomes;
  for (int trial = 0; trial < trials; ++trial) {
    const auto point = searcher->ask();
    if (!point)
      break;
    EXPECT_TRUE(space.contains(*point));
    EXPECT_FALSE(searched.isKnown(*point));
    searched.asked(*point);
    outcomes.push_back(answer(space.valuesOf(*point)));
    searched.told(*point, outcomes.back());
  }
  return outcomes;
}

double bestOf(const std::vector<Outcome> &outcomes) {
  double best = INFINITY;
  for (const Outcome &outcome : outcomes)
    best = std::min(best, outcome.value_or(INFINITY));
  return best;
}

TEST(Searcher, EveryPointIsAskedForOnceAndThenThereIsNone) {
  const Space space = must(Space::make({{"a", {1, 2, 3, 4, 5}}, {"b", {1, 2, 3}}}, {"a != b"}));
  for (const bool withModel : {false, true})
    EXPECT_EQ(search(
                  space, [](const auto &v) { return Outcome(double(v[0])); }, withModel, 3, 99)
                  .size(),
              space.size());
}

TEST(Searcher, FewPointsAreTriedInTheirOrder) {
  const Space space = must(Space::make({{"a", {3, 1, 2}}}, {}));
  std::vector<std::int64_t> asked;
  search(
      space,
      [&](const std::vector<std::int64_t> &v) {
        asked.push_back(v[0]);
        return Outcome(1.0);
      },
      true, 5, 9);
  EXPECT_THAT(asked, testing::ElementsAre(3, 1, 2));
}

TEST(Searcher, TheModelIsAheadOfChance) {
  const Space space = tuned();
  int ahead = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    ahead +=
        bestOf(search(space, hill, true, seed, 60)) < bestOf(search(space, hill, false, seed, 120));
  EXPECT_EQ(ahead, 3);
}

TEST(Searcher, TheModelLearnsWhatFails) {
  const auto failing = [](const std::vector<std::int64_t> &v) {
    return v[2] > 4 ? Outcome() : hill(v);
  };
  const auto outcomes = search(tuned(), failing, true, 1, 80);
  const auto failures = [&](std::size_t from, std::size_t to) {
    return std::count(outcomes.begin() + long(from), outcomes.begin() + long(to), Outcome());
  };
  EXPECT_GT(failures(0, 12), 3);
  EXPECT_LT(failures(60, 80), 5);
}

TEST(Searcher, TheSameAnswersGiveTheSameQuestions) {
  const Space space = tuned();
  EXPECT_EQ(search(space, hill, true, 9, 25), search(space, hill, true, 9, 25));
  EXPECT_NE(search(space, hill, true, 9, 25), search(space, hill, true, 8, 25));
}

TEST(Trees, PredictAStepAndTheirDoubt) {
  std::vector<float> rows;
  std::vector<double> targets;
  for (int i = 0; i < 50; ++i) {
    rows.insert(rows.end(), {float(i), 0.0f});
    targets.push_back(i < 20 ? 1 : 3);
  }
  std::mt19937_64 random(1);
  const Trees trees(rows, 2, targets, random);
  const auto at = [&](float x) {
    const float row[] = {x, 0};
    return trees.predict(row);
  };
  EXPECT_NEAR(at(5).mean, 1, 0.05);
  EXPECT_NEAR(at(40).mean, 3, 0.05);
  EXPECT_GT(at(19.5).deviation, at(5).deviation);
}

} // namespace
} // namespace kopt
