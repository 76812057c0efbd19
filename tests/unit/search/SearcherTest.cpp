// SPDX-License-Identifier: Apache-2.0
#include "driver/search/space/Searcher.h"
#include "driver/search/space/GaussianProcess.h"
#include "tests/fakes/Results.h"

#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using Make = std::unique_ptr<Searcher> (*)(const Searched &, std::uint64_t);
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
std::vector<Outcome> search(const Space &space, const Answer &answer, Make make, std::uint64_t seed,
                            int trials) {
  Searched searched(space);
  const auto searcher = make(searched, seed);
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
  for (const NamedSearcher &searcher : searchers())
    EXPECT_EQ(search(
                  space, [](const auto &v) { return Outcome(double(v[0])); }, searcher.make, 3, 99)
                  .size(),
              space.size())
        << searcher.name;
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
      makeSearcher, 5, 9);
  EXPECT_THAT(asked, testing::ElementsAre(3, 1, 2));
}

TEST(Searcher, EachIsAheadOfChance) {
  const Space space = tuned();
  for (const NamedSearcher &searcher : searchers()) {
    int ahead = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      ahead += bestOf(search(space, hill, searcher.make, seed, 80)) <
               bestOf(search(space, hill, makeRandomSearcher, seed + 9, 80));
    if (searcher.make != makeRandomSearcher)
      EXPECT_GE(ahead, 3) << searcher.name;
  }
}

TEST(Searcher, TheModelNeedsFewTrials) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    EXPECT_LT(bestOf(search(tuned(), hill, makeModelSearcher, seed, 60)), 0.03); // one step at most
}

TEST(Searcher, TheLocalSearcherKnowsTheWholeNeighbourhood) {
  const Space space = tuned();
  Searched searched(space);
  const auto local = makeLocalSearcher(searched, 1);
  for (std::size_t i = 0; i < kFirstPoints; ++i)
    searched.told(space.at(i * 1000), i == 3 ? 1.0 : 2.0);
  const std::vector<Point> near = space.neighbours(space.at(3000), Space::Near::AnyValue);
  std::set<Point> asked;
  for (std::size_t i = 0; i < near.size(); ++i) {
    const Point point = local->ask().value();
    searched.told(point, 3.0);
    asked.insert(point);
  }
  EXPECT_EQ(asked, std::set<Point>(near.begin(), near.end()));
}

TEST(Searcher, WhatIsOnItsWayIsNotAskedForOnceMoreInOtherWords) {
  const Space space = tuned();
  Searched searched(space);
  const auto model = makeModelSearcher(searched, 4);
  for (int i = 0; i < 30; ++i) {
    const Point point = model->ask().value();
    searched.told(point, hill(space.valuesOf(point)));
  }
  const auto distance = [&](bool tells) {
    Searched own = searched;
    const auto asking = makeModelSearcher(own, 4);
    std::vector<Point> asked;
    for (int i = 0; i < 4; ++i) {
      asked.push_back(asking->ask().value());
      if (tells)
        own.asked(asked.back());
    }
    return std::set<Point>(asked.begin(), asked.end()).size();
  };
  EXPECT_EQ(distance(true), 4u);
  EXPECT_TRUE(searched.pending().empty());
}

TEST(Searcher, TheModelLearnsWhatFails) {
  const auto failing = [](const std::vector<std::int64_t> &v) {
    return v[2] > 4 ? Outcome() : hill(v);
  };
  const auto outcomes = search(tuned(), failing, makeModelSearcher, 1, 45);
  const auto failures = [&](std::size_t from, std::size_t to) {
    return std::count(outcomes.begin() + long(from), outcomes.begin() + long(to), Outcome());
  };
  EXPECT_GT(failures(0, 12), 3);
  EXPECT_LT(failures(25, 45), 5);
}

TEST(Searcher, TheSameAnswersGiveTheSameQuestions) {
  const Space space = tuned();
  EXPECT_EQ(search(space, hill, makeSearcher, 9, 60), search(space, hill, makeSearcher, 9, 60));
  EXPECT_NE(search(space, hill, makeSearcher, 9, 60), search(space, hill, makeSearcher, 8, 60));
}

TEST(GaussianProcess, PredictsASineAndItsDoubt) {
  std::vector<double> rows, targets;
  for (int i = 0; i <= 20; ++i)
    if (i < 8 || i > 13) {
      rows.insert(rows.end(), {i / 20.0, (i % 3) / 2.0}); // the second says nothing
      targets.push_back(std::sin(6 * rows[rows.size() - 2]));
    }
  std::mt19937_64 random(1);
  GaussianProcess process(2);
  process.fit(rows, targets, 60, random);
  const auto at = [&](double x) { return process.predict(std::vector{x, 0.5}); };
  EXPECT_NEAR(at(0.22).mean, std::sin(6 * 0.22), 0.05);
  EXPECT_GT(at(0.52).deviation, 2 * at(0.22).deviation);
  const double doubt = at(0.52).deviation, mean = at(0.52).mean;
  process.suppose(std::vector{0.52, 0.5});
  EXPECT_LT(at(0.52).deviation, doubt / 2);
  EXPECT_NEAR(at(0.52).mean, mean, 0.05);
}

} // namespace
} // namespace kopt
