// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/HostValues.h"

#include <gtest/gtest.h>

using namespace kopt;

namespace {

TEST(HostValuesTest, ExpressionsTogetherNarrowAValue) {
  const auto ranges = hostRanges({{"n / 4", 512}, {"n * 4", 8192}}, {});
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges.at("n").least, 2048);
  EXPECT_EQ(ranges.at("n").most, 2048);
}

TEST(HostValuesTest, WhatHasOneValueHelpsTheOthers) {
  const auto ranges = hostRanges({{"(n + threads - 1) / threads", 10}, {"threads", 128}}, {});
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges.at("threads").most, 128);
  EXPECT_EQ(ranges.at("n").least, 1153);
  EXPECT_EQ(ranges.at("n").most, 1280);
}

TEST(HostValuesTest, NothingIsFoundThatIsNotKnown) {
  EXPECT_TRUE(hostRanges({{"rows * columns", 6}}, {}).empty()) << "two names";
  EXPECT_EQ(hostRanges({{"rows * columns", 6}}, {{"rows", 2}}).at("columns").least, 3);
  EXPECT_TRUE(hostRanges({{"n % 32", 5}}, {}).empty()) << "it does not grow with n";
  EXPECT_TRUE(hostRanges({{"n * 2", 5}}, {}).empty()) << "no such n";
  EXPECT_TRUE(hostRanges({{"n * 2", 4}, {"n", 3}}, {}).empty()) << "they contradict each other";
  EXPECT_TRUE(hostRanges({{"n +", 4}}, {}).empty());
}

} // namespace
