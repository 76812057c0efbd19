// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/Requirements.h"

#include "unit/judge/derive/DerivedLaunchesFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kopt;

namespace {

using RequirementsOfLaunches = test::DerivedLaunchesFixture;

TEST(RequirementsTest, MoveAsLittleAsPossible) {
  TuneDeclaration declaration;
  declaration.requirements = {"n % 4 == 0", "n >= K"};
  const Requirements requirements(&declaration);
  const Bindings known{{"n", 256}, {"K", 8}};
  const auto moved = [&](std::int64_t n) {
    return requirements.moved({{"n", n}}, {{"n", 256}}, known).at("n");
  };
  EXPECT_EQ(moved(256), 256);
  EXPECT_EQ(moved(255), 252);
  EXPECT_EQ(moved(257), 260);
  EXPECT_EQ(moved(1001), 1004);
  EXPECT_EQ(moved(3), 8);
  EXPECT_FALSE(requirements.broken(known));
  EXPECT_EQ(requirements.broken({{"n", 6}, {"K", 1}}), "n % 4 == 0");
}

TEST(RequirementsTest, EndsAreTheLastNumbersThatAreAllowed) {
  TuneDeclaration declaration;
  declaration.requirements = {"shift <= 256", "n > m", "n % 4 == 0"};
  const Requirements requirements(&declaration);
  const auto ends = requirements.ends({{"shift", 7}, {"n", 1000}}, {{"m", 64}});
  EXPECT_THAT(ends, testing::UnorderedElementsAre(std::pair("shift", 256)))
      << "65 is no multiple of 4";
  declaration.requirements.pop_back();
  EXPECT_THAT(Requirements(&declaration).ends({{"shift", 7}, {"n", 1000}}, {{"m", 64}}),
              testing::UnorderedElementsAre(std::pair("shift", 256), std::pair("n", 65)));
}

TEST_F(RequirementsOfLaunches, TheEndsOfWhatIsRequiredAreTried) {
  declaration_.requirements = {"n >= 37", "steps <= 9 && steps >= 0"};
  std::set<std::int32_t> sizes, steps;
  for (const DerivedLaunch &derived : derive().launches) {
    sizes.insert(integer(derived.launch, 4));
    steps.insert(integer(derived.launch, 5));
  }
  EXPECT_EQ(*sizes.begin(), 37);
  EXPECT_TRUE(steps.contains(9));
  EXPECT_TRUE(steps.contains(0));
}

} // namespace
