// SPDX-License-Identifier: Apache-2.0
#include "driver/search/space/Space.h"
#include "tests/fakes/Results.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::int64_t> powers(int from, int to) {
  std::vector<std::int64_t> values;
  for (std::int64_t value = from; value <= to; value *= 2)
    values.push_back(value);
  return values;
}

std::vector<std::int64_t> upTo(std::int64_t last) {
  std::vector<std::int64_t> values;
  for (std::int64_t value = 1; value <= last; ++value)
    values.push_back(value);
  return values;
}

/// All points, by trying every one.
std::set<Point> listed(const std::vector<SpaceParameter> &parameters,
                       const std::function<bool(const std::vector<std::int64_t> &)> &holds) {
  std::set<Point> points;
  Point point(parameters.size());
  const std::function<void(std::size_t)> add = [&](std::size_t p) {
    if (p == parameters.size()) {
      std::vector<std::int64_t> values;
      for (std::size_t i = 0; i < p; ++i)
        values.push_back(parameters[i].values[point[i]]);
      if (holds(values))
        points.insert(point);
      return;
    }
    for (std::size_t v = 0; v < parameters[p].values.size(); ++v) {
      point[p] = std::uint16_t(v);
      add(p + 1);
    }
  };
  add(0);
  return points;
}

/// Four parameters, of which three are tied.
const std::vector<SpaceParameter> kTiled{
    {"bx", powers(1, 64)}, {"by", upTo(12)}, {"pad", {0, 1}}, {"tile", {8, 4, 2, 1}}};
const std::vector<std::string> kTileFits{"bx * by <= limit", "bx % tile == 0",
                                         "tile == 1 || by * tile > 3"};
bool tileFits(const std::vector<std::int64_t> &v) {
  return v[0] * v[1] <= 96 && v[0] % v[3] == 0 && (v[3] == 1 || v[1] * v[3] > 3);
}

TEST(Space, HasThePointsThatATryOfAllFinds) {
  const Space space = must(Space::make(kTiled, kTileFits, {{{"limit", 96}}}));
  const std::set<Point> all = listed(kTiled, tileFits);
  EXPECT_EQ(space.size(), all.size());
  std::set<Point> found;
  for (std::uint64_t i = 0; i < space.size(); ++i)
    found.insert(space.at(i));
  EXPECT_EQ(found, all);
  for (const Point &point : listed(kTiled, [](const auto &) { return true; }))
    EXPECT_EQ(space.contains(point), all.contains(point));
  EXPECT_FALSE(space.contains(Point{0, 0}));
}

/// Branches are one where the parts of later requirements are worth the same: also where a part
/// has no value, is a real number, or is an integer in one branch and a real number in another.
TEST(Space, PartsOfRequirementsThatAreWorthTheSameGoOnAlike) {
  const std::vector<SpaceParameter> parameters{
      {"a", {0, 1, 2, 3, 4, 6}}, {"b", {1, 2, 3, 4}}, {"c", {1, 2, 3, 6}}, {"d", {1, 2, 3, 4, 5}}};
  const std::vector<std::string> requirements{
      "12 / a % b * c <= 9", "(a > 2 ? b : b / 2.0) * c / d != 1", "a % (b - 2) == 0 || c + d > 4"};
  const Space space = must(Space::make(parameters, requirements));
  const auto holds = [&](const std::vector<std::int64_t> &v) {
    const Bindings values{{"a", v[0]}, {"b", v[1]}, {"c", v[2]}, {"d", v[3]}};
    return std::ranges::all_of(requirements, [&](const std::string &text) {
      return evaluateExpression(text, values).value_or(0) != 0;
    });
  };
  const std::set<Point> all = listed(parameters, holds);
  EXPECT_GT(all.size(), 20u);
  EXPECT_EQ(space.size(), all.size());
  for (std::uint64_t i = 0; i < space.size(); ++i)
    EXPECT_TRUE(all.contains(space.at(i)));
}

TEST(Space, NeighboursDifferInOneParameterAndAreValid) {
  const Space space = must(Space::make(kTiled, kTileFits, {{{"limit", 96}}}));
  const std::set<Point> all = listed(kTiled, tileFits);
  for (const Point &point : all) {
    std::set<Point> expected;
    for (const Point &other : all) {
      int differences = 0;
      for (std::size_t p = 0; p < point.size(); ++p)
        differences += point[p] != other[p];
      if (differences == 1)
        expected.insert(other);
    }
    const auto near = space.neighbours(point, Space::Near::AnyValue);
    EXPECT_EQ(std::set<Point>(near.begin(), near.end()), expected);
    for (std::size_t p = 0; p < point.size(); ++p) { // values in the order of their owner
      std::vector<std::uint16_t> values;
      for (const Point &other : near)
        if (other[p] != point[p])
          values.push_back(other[p]);
      EXPECT_TRUE(std::ranges::is_sorted(values));
    }
    for (const Point &next : space.neighbours(point, Space::Near::NextValue)) {
      EXPECT_TRUE(expected.contains(next));
      // None that is valid lies between.
      for (const Point &other : expected)
        for (std::size_t p = 0; p < point.size(); ++p)
          if (next[p] != point[p] && other[p] != point[p])
            EXPECT_FALSE((other[p] > point[p] && other[p] < next[p]) ||
                         (other[p] < point[p] && other[p] > next[p]));
    }
  }
}

TEST(Space, IsDrawnUniformly) {
  const Space space = must(Space::make(kTiled, kTileFits, {{{"limit", 96}}}));
  std::mt19937_64 random(7);
  std::map<Point, int> drawn;
  constexpr int kEach = 400;
  for (std::uint64_t i = 0; i < kEach * space.size(); ++i)
    ++drawn[space.draw(random)];
  EXPECT_EQ(drawn.size(), space.size());
  double chi = 0;
  for (const auto &[point, times] : drawn)
    chi += double(times - kEach) * (times - kEach) / kEach;
  const double freedom = double(space.size()) - 1; // chi-squared: mean and variance / 2
  EXPECT_NEAR(chi, freedom, 5 * std::sqrt(2 * freedom));
}

TEST(Space, OfBillionsOfPointsIsCountedAndDrawn) {
  std::vector<SpaceParameter> parameters;
  std::vector<std::string> requirements;
  for (int pair = 0; pair < 5; ++pair) { // 55 points each
    const std::string n = std::to_string(pair);
    parameters.push_back({"a" + n, upTo(10)});
    parameters.push_back({"b" + n, upTo(10)});
    requirements.push_back("a" + n + " <= b" + n);
  }
  parameters.push_back({"last", upTo(1000)});
  const Space space = must(Space::make(parameters, requirements));
  EXPECT_EQ(space.size(), 55ull * 55 * 55 * 55 * 55 * 1000);
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i)
    EXPECT_TRUE(space.contains(space.draw(random)));
  EXPECT_TRUE(space.contains(space.at(space.size() - 1)));
  EXPECT_EQ(space.neighbours(space.at(0), Space::Near::NextValue).size(), 6u);
  EXPECT_THAT(space.valuesOf(space.at(0)), testing::Each(1));
}

TEST(Space, TiedParametersOfWhichLittleIsLeftToKnowAreCountedFast) {
  std::vector<SpaceParameter> parameters; // 10^12 products, a chain of requirements
  std::vector<std::string> requirements;
  for (int i = 0; i < 12; ++i) {
    parameters.push_back({"p" + std::to_string(i), upTo(10)});
    if (i > 0)
      requirements.push_back(fmt::format("p{} <= p{}", i - 1, i));
  }
  EXPECT_EQ(must(Space::make(parameters, requirements)).size(), 293930u); // 21 choose 12
}

TEST(Space, RequirementsHoldWithEachSetOfConstants) {
  const Space space =
      must(Space::make({{"a", upTo(10)}}, {"n % a == 0", "a > 1"}, {{{"n", 12}}, {{"n", 18}}}));
  EXPECT_EQ(space.size(), 3u); // 2, 3, 6
}

TEST(Space, MayBeEmpty) {
  EXPECT_EQ(must(Space::make({{"a", {1, 2}}}, {"a > 5"})).size(), 0u);
  EXPECT_EQ(must(Space::make({{"a", {1, 2}}}, {"n > 5"}, {{{"n", 3}}})).size(), 0u);
  EXPECT_FALSE(must(Space::make({{"a", {1, 2}}}, {"a > 5"})).contains(Point{0}));
  EXPECT_EQ(must(Space::make({{"a", {0, 1, 2}}}, {"4 % a == 0"})).size(), 2u)
      << "where it cannot be evaluated it does not hold";
  EXPECT_EQ(must(Space::make({}, {})).size(), 1u);
}

TEST(Space, WhatIsWrongIsNamed) {
  EXPECT_THAT(Space::make({{"a", {1}}}, {"a * b > 1"}),
              fails({.code = ErrorCode::Usage, .what = HasSubstr("names 'b'")}));
  EXPECT_THAT(Space::make({{"a", {1}}}, {"a *"}), fails({.code = ErrorCode::Usage}));
  EXPECT_THAT(Space::make({{"a", {}}}, {}), fails({.what = HasSubstr("'a' has 0 values")}));
}

TEST(Space, OfRecordedPointsHasThemAlone) {
  const std::vector<SpaceParameter> parameters{{"a", {1, 2, 3}}, {"b", {5, 6}}};
  const Space space = must(Space::of(parameters, {{2, 1}, {0, 0}, {2, 0}}));
  EXPECT_EQ(space.size(), 3u);
  EXPECT_THAT((std::vector{space.at(0), space.at(1), space.at(2)}),
              ElementsAre(Point{0, 0}, Point{2, 0}, Point{2, 1}));
  EXPECT_FALSE(space.contains(Point{0, 1}));
  EXPECT_THAT(space.neighbours({2, 0}, Space::Near::NextValue),
              ElementsAre(Point{0, 0}, Point{2, 1}));
  EXPECT_THAT(space.valuesOf({2, 1}), ElementsAre(3, 6));
  EXPECT_THAT(Space::of(parameters, {{0, 0}, {0, 0}}), fails({.code = ErrorCode::Usage}));
  EXPECT_THAT(Space::of(parameters, {{0, 2}}), fails({.code = ErrorCode::Usage}));
}

} // namespace
} // namespace kopt
