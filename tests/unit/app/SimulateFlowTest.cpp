// SPDX-License-Identifier: Apache-2.0
#include "driver/app/simulate/SimulateFlow.h"

#include "driver/report/document/Markdown.h"
#include "driver/report/html/HtmlReport.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::Each;
using testing::HasSubstr;

/// 40 x 40 points of 1 s each, the fastest at (30, 12); those above the diagonal fail.
SpaceToSearch bowl(double scale = 1) {
  RecordedSpace space;
  std::vector<SpaceParameter> parameters{{"X", {}}, {"Y", {}}};
  for (std::int64_t value = 0; value < 40; ++value)
    for (SpaceParameter &parameter : parameters)
      parameter.values.push_back(value);
  for (const SpaceParameter &parameter : parameters)
    space.declaration.params.push_back({parameter.name, parameter.values, {}});
  std::vector<Point> points;
  for (std::int64_t x = 0; x < 40; ++x)
    for (std::int64_t y = 0; y < 40; ++y) {
      RecordedPoint &point = space.points[{x, y}];
      point.cost = 1;
      if (y <= x)
        point.seconds.assign(12, scale * 1e-3 * (1 + std::hypot(double(x - 30), double(y - 12))));
      points.push_back({std::uint16_t(x), std::uint16_t(y)});
    }
  SearchScale scaleOf(space);
  return {"bowl", std::move(space), *Space::of(std::move(parameters), std::move(points)),
          std::move(scaleOf)};
}

std::vector<double> bestAfter(const std::vector<SimulatedSearch> &searches, std::size_t trials) {
  std::vector<double> best;
  for (const SimulatedSearch &search : searches)
    best.push_back(*std::min_element(search.times.begin(),
                                     search.times.begin() +
                                         std::ptrdiff_t(std::min(trials, search.times.size()))));
  return best;
}

TEST(SimulateFlowTest, TheWholeLoopFindsTheOptimum) {
  const SpaceToSearch space = bowl();
  const auto searches = simulate(space, {.repeats = 3, .trials = 120});
  ASSERT_TRUE(searches) << searches.error().what;
  EXPECT_THAT(bestAfter(*searches, 120), Each(testing::DoubleEq(1e-3))) << "of 1600 points";
  EXPECT_EQ(searches->front().times.size(), 120u);
  EXPECT_NE(searches->at(0).times, searches->at(1).times) << "each has its own seed";
  EXPECT_EQ(simulate(space, {.repeats = 1, .trials = 120})->front().times, searches->front().times);
}

TEST(SimulateFlowTest, WhatIsKnownOfElsewhereComesFirst) {
  const SpaceToSearch space = bowl(), elsewhere = bowl(7);
  EXPECT_THAT(
      bestAfter(*simulate(space, {.repeats = 3, .trials = 8, .elsewhere = &elsewhere.recorded}), 8),
      Each(testing::DoubleEq(1e-3)));
}

TEST(SimulateFlowTest, RecordedSecondsEndASearch) {
  const auto searches = simulate(bowl(), {.repeats = 1, .seconds = 50});
  ASSERT_TRUE(searches);
  EXPECT_LE(searches->front().seconds.back(), 50);
  EXPECT_GE(searches->front().times.size(), 30u);
}

TEST(SimulateFlowTest, ASearchEndsWhereNothingIsGainedForAWhile) {
  // The optimum is known from the first trial: 60 more, of which one counts 0.4 of 24.
  const SpaceToSearch space = bowl();
  const auto searches =
      simulate(space, {.repeats = 1, .trials = 200, .patience = 8, .elsewhere = &space.recorded});
  ASSERT_TRUE(searches);
  EXPECT_NEAR(double(searches->front().times.size()), 62, 4);
}

TEST(SimulateFlowTest, FiguresAreFractionsOfTheOptimumAndAScoreAboveChance) {
  const SpaceToSearch space = bowl();
  const SearchScale &scale = space.scale;
  EXPECT_THAT(scale.figures({1e-3}), Each(testing::DoubleEq(1)));
  TriedTimes byChance;
  for (std::size_t trial = 1; trial <= scale.trials(); ++trial)
    byChance.push_back(scale.byChance(trial));
  EXPECT_NEAR(scale.figures(byChance).back(), 0, 1e-12);
  TriedTimes late(30, 2e-3);
  late.push_back(1e-3);
  EXPECT_DOUBLE_EQ(scale.figures(late)[0], 0.5);
  EXPECT_DOUBLE_EQ(scale.figures(late)[1], 1);
}

TEST(SimulateFlowTest, TheTableHasEachSpaceAndAll) {
  std::vector<SpaceToSearch> spaces;
  spaces.push_back(bowl());
  spaces.push_back(bowl(2));
  const std::vector<ComparedSearch> searches{{"mine", {{{1e-3}, {2e-3}}, {{2e-3}}}}};
  const Document document = documentOf(spaces, searches);
  EXPECT_THAT(toMarkdown(document), HasSubstr("| mine | all | 2 | 0.875 ± 0.245 |"));
  EXPECT_THAT(toMarkdown(document), HasSubstr("0.875 ± 0.245 of the optimum after 100 trials"));
  EXPECT_THAT(toHtml(document), HasSubstr("bowl: 1600 points, scored for"));
}

} // namespace
} // namespace kopt
