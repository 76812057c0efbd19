// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/ScalarArguments.h"

#include <gmock/gmock.h>
#include <limits>

using namespace kopt;
using testing::ElementsAre;

namespace {

template <class T> ValueArg valueOf(T number) {
  return {std::string(reinterpret_cast<const char *>(&number), sizeof number)};
}

template <class T> std::string literalOf(const char *scalar, T number) {
  Specialization specialization;
  specialization.params.resize(1);
  specialization.params[0].name = "x";
  specialization.params[0].kind = ParamKind::Scalar;
  specialization.params[0].scalar = scalar;
  Workload workload;
  workload.launches.resize(1);
  workload.launches[0].arguments = {valueOf(number)};
  const auto shapes = launchShapesOf(specialization, workload);
  return shapes.at(0).scalars.empty() ? "" : shapes[0].scalars[0].literal;
}

TEST(ScalarArguments, LiteralsHaveTheTypeOfTheParameter) {
  EXPECT_EQ(literalOf("i32", std::int32_t{-7}), "-7");
  EXPECT_EQ(literalOf("u32", std::uint32_t{7}), "7u");
  EXPECT_EQ(literalOf("i64", std::int64_t{1} << 40), "1099511627776ll");
  EXPECT_EQ(literalOf("u64", std::uint64_t{7}), "7ull");
  EXPECT_EQ(literalOf("bool", true), "true");
  EXPECT_EQ(literalOf("f32", 2.0f), "2.0f");
  EXPECT_EQ(literalOf("f32", 0.1f), "0.1f");
  EXPECT_EQ(literalOf("f32", 1e30f), "1e+30f");
  EXPECT_EQ(literalOf("f64", 0.1), "0.1");
}

TEST(ScalarArguments, WhatHasNoExactLiteralIsLeftOut) {
  EXPECT_EQ(literalOf("f32", std::numeric_limits<float>::infinity()), "");
  EXPECT_EQ(literalOf("f64", std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(literalOf("f32", 0.0f), "") << "-0.0 equals it";
  EXPECT_EQ(literalOf("i64", std::numeric_limits<std::int64_t>::min()), "");
}

TEST(ScalarArguments, MembersOfAStructHaveTheirPaths) {
  struct Size {
    std::int32_t x;
    float scale;
  };
  Specialization specialization;
  specialization.params.resize(1);
  KernelParam &param = specialization.params[0];
  param.name = "size";
  param.kind = ParamKind::Struct;
  param.members = {{"x", "i32", 0}, {"scale", "f32", 4}};
  Workload workload;
  workload.launches.resize(1);
  workload.launches[0].weight = 0.25;
  workload.launches[0].block = {64, 2, 1};
  workload.launches[0].arguments = {valueOf(Size{3, 0.5f})};
  const auto shapes = launchShapesOf(specialization, workload);
  EXPECT_THAT(shapes.at(0).scalars,
              ElementsAre(ScalarValue{"size.x", "3"}, ScalarValue{"size.scale", "0.5f"}));
  EXPECT_EQ(shapes[0].weight, 0.25);
  EXPECT_EQ(shapes[0].block[1], 2u);
}

} // namespace
