// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/program/ProgramOutput.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

using Outcome = OutputComparison::Verdict;

TEST(ProgramOutput, WhatVariesBetweenRunsOfTheOldProgramIsIgnored) {
  const auto compared = compareOutputs({"seed 17\nsum 4\n", "seed 18\nsum 4\n"}, "seed 3\nsum 4\n");
  EXPECT_EQ(compared.verdict, Outcome::Same) << compared.text;
  EXPECT_EQ(compared.lines, 2u);
  EXPECT_EQ(compared.ignored, 1u);
}

TEST(ProgramOutput, ADifferenceIsShownWithBothLines) {
  const auto compared = compareOutputs({"a\nsum 4\n", "a\nsum 4\n"}, "a\nsum 5\n");
  EXPECT_EQ(compared.verdict, Outcome::Different);
  EXPECT_EQ(compared.text, "line 2 of the output was 'sum 4' and is 'sum 5'");
  EXPECT_EQ(compareOutputs({"PASS\n"}, "FAIL\n").verdict, Outcome::Different);
  EXPECT_EQ(compareOutputs({"a\nb\n"}, "a\n").verdict, Outcome::Different);
}

TEST(ProgramOutput, TimesMayBecomeOthersAndTheirUnitsToo) {
  const std::string old = "Average kernel time: 1.20 ms\nbandwidth 100 GB/s, PASS\n";
  EXPECT_EQ(
      compareOutputs({old, old}, "Average kernel time: 980 us\nbandwidth 130 GB/s, PASS\n").verdict,
      Outcome::Same);
  EXPECT_EQ(
      compareOutputs({old}, "Average kernel time: 980 us\nbandwidth 130 GB/s, FAIL\n").verdict,
      Outcome::Different);
}

TEST(ProgramOutput, ATimeThatIsRoundedToZeroGivesAnInfiniteRate) {
  const std::string old = "time = 0 ms, rate = inf GHash/sec\n";
  EXPECT_EQ(compareOutputs({old}, "time = 1 ms, rate = 52.5219 GHash/sec\n").verdict,
            Outcome::Same);
  EXPECT_EQ(compareOutputs({"sum 2.5\n"}, "sum inf\n").verdict, Outcome::Different);
}

TEST(ProgramOutput, FractionsMayBeRoundedInAnotherWayAndIntegersNot) {
  EXPECT_EQ(compareOutputs({"checksum 1234.5678"}, "checksum 1234.5681").verdict, Outcome::Same);
  EXPECT_EQ(compareOutputs({"checksum 1234.5"}, "checksum 1236.5").verdict, Outcome::Different);
  EXPECT_EQ(compareOutputs({"count 100000"}, "count 100001").verdict, Outcome::Different);
  EXPECT_EQ(compareOutputs({"x1 2.5"}, "x2 2.5").verdict, Outcome::Different); // a name
}

TEST(ProgramOutput, AProgramThatPrintsAnotherNumberOfLinesIsNotCompared) {
  const auto compared = compareOutputs({"a\nb\n", "a\n"}, "c\n");
  EXPECT_EQ(compared.verdict, Outcome::NotComparable);
  EXPECT_NE(compared.text.find("not compared"), std::string::npos);
}

} // namespace
} // namespace kopt
