// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/RepairConditions.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kopt;

namespace {

using Integers = std::map<std::string, std::int64_t>;

Counterexample launch(Integers integers, std::uint64_t alignment = 256) {
  return {"launch", std::move(integers), {{"in", alignment}, {"out", 256}}};
}

/// The condition; "none" where there is none.
std::string without(const std::vector<Counterexample> &wrong,
                    const std::vector<Counterexample> &own, const std::string &text,
                    const std::vector<Counterexample> &right = {}) {
  const auto found = propertiesWithout(wrong, own, right, text);
  if (!found)
    return "none";
  std::string condition;
  for (const LaunchProperty &property : *found)
    condition += (condition.empty() ? "" : " && ") + property.text;
  return condition;
}

TEST(RepairConditions, ADivisorIsTheWidthOfTheVectorsOfTheCandidate) {
  EXPECT_EQ(without({launch({{"n", 1023}})}, {launch({{"n", 1024}})}, "float4 v = in4[i];"),
            "n % 4 == 0");
  EXPECT_EQ(without({launch({{"n", 1023}}), launch({{"n", 1022}})}, {launch({{"n", 1024}})},
                    "float2 a; i * 2; int4 b"),
            "n % 4 == 0")
      << "what follows from another is left out";
}

TEST(RepairConditions, AValueOfTheLaunchesIsNoProperty) {
  EXPECT_EQ(without({launch({{"n", 1023}})}, {launch({{"n", 1021}})}, "float x;"), "none");
  EXPECT_EQ(without({launch({{"n", 1024}})}, {launch({{"n", 1024}})}, "float4"), "none")
      << "only the contents differ";
}

TEST(RepairConditions, OneNumberMayBoundAnother) {
  EXPECT_EQ(without({launch({{"columns", 100}, {"shift", 70110}})},
                    {launch({{"columns", 100}, {"shift", 7}})}, "if (i < 256)",
                    {launch({{"columns", 100}, {"shift", 99}}),
                     launch({{"columns", 300}, {"shift", 280}})}),
            "shift <= columns");
}

TEST(RepairConditions, AlignmentIsAskedOfEachPointerThatLacksIt) {
  const auto found =
      must(propertiesWithout({launch({{"n", 64}}, 4)}, {launch({{"n", 64}})}, {}, "float4 v;"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().text, "reinterpret_cast<unsigned long long>(in) % 16 == 0");
  EXPECT_TRUE(found.front().isOfPointer);
  EXPECT_THAT(found.front().variables, testing::ElementsAre("in"));
}

TEST(RepairConditions, BoundsAreNumbersOfTheCandidate) {
  EXPECT_EQ(without({launch({{"n", 0}})}, {launch({{"n", 1000}})}, ""), "n > 0");
  EXPECT_EQ(without({launch({{"n", 33}})}, {launch({{"n", 999}})}, "if (i < 37)"), "n >= 37");
  EXPECT_EQ(without({launch({{"n", 5001}})}, {launch({{"n", 999}})}, "float s[4096];"),
            "n <= 4096");
}

TEST(RepairConditions, SeveralPropertiesTellSeveralLaunches) {
  EXPECT_EQ(without({launch({{"n", 63}, {"m", 64}}), launch({{"n", 64}, {"m", 63}})},
                    {launch({{"n", 64}, {"m", 128}})}, "int4"),
            "n % 4 == 0 && m % 4 == 0");
  EXPECT_EQ(
      without({launch({{"rows", 65}, {"columns", 67}})},
              {launch({{"rows", 65}, {"columns", 65}}), launch({{"rows", 67}, {"columns", 67}})},
              ""),
      "columns == rows");
}

TEST(RepairConditions, OneThatTellsAllIsLikelierThanTheFirst) {
  const Counterexample own = launch({{"columns", 1024}, {"rows", 1024}});
  EXPECT_EQ(without({launch({{"columns", 769}, {"rows", 1024}}),
                     launch({{"columns", 1024}, {"rows", 769}}),
                     launch({{"columns", 512}, {"rows", 1024}})},
                    {own}, "float4"),
            "columns == rows");
  EXPECT_EQ(without({launch({{"columns", 1023}, {"rows", 1023}}),
                     launch({{"columns", 1024}, {"rows", 1023}})},
                    {own}, "float4"),
            "rows % 4 == 0");
}

TEST(RepairConditions, WhatLaunchesLackThatItIsRightOnIsUnlikely) {
  const Counterexample own = launch({{"length", 16}, {"n", 1000}});
  EXPECT_EQ(without({launch({{"length", 257}, {"n", 333}})}, {own}, "i % 5; float4; < 64",
                    {launch({{"length", 16}, {"n", 333}}), launch({{"length", 33}, {"n", 333}})}),
            "length <= 64");
}

TEST(RepairConditions, APartMayHaveADivisor) {
  EXPECT_EQ(without({launch({{"C", 144}, {"NH", 2}}), launch({{"C", 768}, {"NH", 24}})},
                    {launch({{"C", 768}, {"NH", 12}})}, "i / 64; float4"),
            "NH > 0 && C % (64 * NH) == 0");
}

TEST(RepairConditions, ARequirementIsWrittenAsTheUserWould) {
  const auto found =
      must(propertiesWithout({launch({{"n", 63}}, 4)}, {launch({{"n", 64}})}, {}, "float4 v;"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().requirement, "in % 16 == 0");
}

} // namespace
