// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/CapturedContents.h"
#include "unit/judge/derive/CapturedLaunchesFixture.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <numeric>
#include <set>

using namespace kopt;

namespace {

using CapturedContentsTest = test::CapturedLaunchesFixture;

TEST_F(CapturedContentsTest, IntegersThatAreBitsAreTriedWithNoneSet) {
  const auto least = [&] {
    for (const DerivedLaunch &derived : derive(Derivation::Contents))
      if (derived.title == "contents: zeros")
        return derived.launch.buffers[2].fill.low;
    return -1.0;
  };
  launch_.buffers[2].fill.path = store(std::vector<std::uint32_t>{3, 9, 77, 5, 1u << 31, 6});
  launch_.buffers[2].bytes = 24;
  launch_.buffers[2].scalar = "u32";
  EXPECT_EQ(least(), 0);
  launch_.buffers[2].fill.path = store(std::vector<std::uint32_t>{3, 9, 77, 5, 1u << 11, 6});
  EXPECT_EQ(least(), 3) << "they may be indices from 3 on";
}

TEST_F(CapturedContentsTest, ATermThatHappensToBeZeroComesBackFirst) {
  const DerivedLaunch first = derive(Derivation::Contents).front();
  const Fill &added = first.launch.buffers[1].fill;
  EXPECT_EQ(added.kind, FillKind::Uniform) << first.title;
  EXPECT_GT(added.low, 100) << "beside numbers of 500 it has to be seen";
  EXPECT_EQ(first.launch.buffers[0].fill.kind, FillKind::Captured);
  EXPECT_EQ(first.launch.grid, launch_.grid);
}

TEST_F(CapturedContentsTest, IntegersKeepTheirRangeAndKindAndAddressesStay) {
  bool permuted = false, scaled = false, drawn = false;
  for (const DerivedLaunch &derived : derive(Derivation::Contents)) {
    const Fill &index = derived.launch.buffers[2].fill;
    if (index.kind != FillKind::Captured) {
      EXPECT_EQ(index.kind, FillKind::Permutation) << derived.title;
      EXPECT_EQ(index.low, 0) << derived.title;
      EXPECT_EQ(index.high, kN - 1) << derived.title;
      permuted = true;
    }
    EXPECT_EQ(derived.launch.buffers[3].fill.kind, FillKind::Captured) << derived.title;
    EXPECT_TRUE(derived.launch.buffers[3].holdsPointers) << derived.title;
    EXPECT_TRUE(derived.launch.buffers[4].output) << derived.title;
    const Fill &in = derived.launch.buffers[0].fill;
    scaled |= in.kind == FillKind::Captured && in.high == 1000;
    drawn |= in.kind == FillKind::Uniform && in.low == -500.25 && in.high > 498 && in.high < 500;
    EXPECT_FALSE(derived.unbounded) << derived.title;
  }
  EXPECT_TRUE(permuted && scaled && drawn);
}

TEST_F(CapturedContentsTest, IntegersThatAreNoPermutationAreDrawnInTheirRange) {
  index_[5] = 3;
  launch_.buffers[2].fill.path = store(index_);
  std::set<FillKind> kinds;
  for (const DerivedLaunch &derived : derive(Derivation::Contents)) {
    const Fill &index = derived.launch.buffers[2].fill;
    if (index.kind == FillKind::Captured)
      continue;
    EXPECT_GE(index.low, 0) << derived.title;
    EXPECT_LE(index.high, kN - 1) << derived.title;
    kinds.insert(index.kind);
  }
  EXPECT_THAT(kinds, testing::IsSupersetOf({FillKind::Uniform, FillKind::Colliding}));
  std::sort(index_.begin(), index_.end()); // as of the begins of rows
  launch_.buffers[2].fill.path = store(index_);
  kinds.clear();
  for (const DerivedLaunch &derived : derive(Derivation::Contents))
    kinds.insert(derived.launch.buffers[2].fill.kind);
  EXPECT_THAT(kinds, testing::IsSubsetOf({FillKind::Captured, FillKind::Sorted, FillKind::Uneven}));
  EXPECT_TRUE(kinds.contains(FillKind::Uneven));
}

TEST_F(CapturedContentsTest, ContentsThatCannotBeReadAreNamed) {
  for (Buffer &buffer : launch_.buffers)
    buffer.fill.path = "/nowhere";
  const DerivedLaunches all = derive();
  EXPECT_TRUE(std::ranges::any_of(all.missing, [](const NotDerived &missing) {
    return missing.kind == Derivation::Contents &&
           missing.why.find("/nowhere") != std::string::npos;
  }));
  EXPECT_FALSE(std::ranges::any_of(all.launches, [](const DerivedLaunch &derived) {
    return derived.kind == Derivation::Contents &&
           derived.launch.buffers[0].fill.kind != FillKind::Captured;
  }));
  for (const Derivation kind : {Derivation::Sizes, Derivation::Scalars, Derivation::Alignment})
    EXPECT_FALSE(derive(kind).empty()) << toString(kind);
}

TEST_F(CapturedContentsTest, WhatIsDeclaredOfContentsCounts) {
  declaration_.fills["in"] = Fill{FillKind::Uniform, 0, 1};
  declaration_.fills["index"] = Fill{FillKind::Zero, 0, 0};
  for (const DerivedLaunch &derived : derive(Derivation::Contents)) {
    EXPECT_EQ(derived.launch.buffers[2].fill.kind, FillKind::Captured) << derived.title;
    if (derived.title.ends_with("drawn anew"))
      EXPECT_EQ(derived.launch.buffers[0].fill.high, 1) << derived.title;
  }
}

TEST_F(CapturedContentsTest, NumbersOfOneSignAlsoHaveTheOther) {
  const auto isNegated = [](const DerivedLaunch &derived) {
    return derived.title == "contents: of the other sign";
  };
  EXPECT_TRUE(std::ranges::none_of(derive(Derivation::Contents), isNegated));
  std::vector<float> positive(launch_.buffers[0].bytes / 4);
  std::iota(positive.begin(), positive.end(), 0.5f);
  launch_.buffers[0].fill.path = store(positive);
  const auto contents = derive(Derivation::Contents);
  const auto negated = std::ranges::find_if(contents, isNegated);
  ASSERT_NE(negated, contents.end());
  EXPECT_EQ(negated->launch.buffers[0].fill.high, -0.5);
  EXPECT_TRUE(std::ranges::any_of(contents, [](const DerivedLaunch &derived) {
    return derived.launch.buffers[0].fill.high == -500; // what is far below underflows
  }));
}

TEST_F(CapturedContentsTest, NumbersInStructsAreScaled) {
  const auto isScaled = [](const DerivedLaunch &derived) {
    return derived.launch.buffers[0].fill.high == 1000;
  };
  Buffer &in = launch_.buffers[0];
  in.scalar = "struct 8 i32 0 f32 4";
  const auto contents = derive(Derivation::Contents);
  const auto scaled = std::ranges::find_if(contents, isScaled);
  ASSERT_NE(scaled, contents.end());
  EXPECT_EQ(scaled->launch.buffers[0].fill.kind, FillKind::Captured);
  EXPECT_EQ(scaled->launch.buffers[0].fill.path, in.fill.path);
  EXPECT_EQ(scaled->launch.buffers[0].fill.high, 1000);
  declaration_.fills["in"] = Fill{FillKind::Uniform, 0, 1};
  EXPECT_TRUE(std::ranges::none_of(derive(Derivation::Contents), isScaled));
  declaration_.fills.clear();
  in.scalar = "struct 8 i32 0 i32 4";
  EXPECT_TRUE(std::ranges::none_of(derive(Derivation::Contents), isScaled));
}

TEST(ContentsReader, TellsKindsApart) {
  const auto of = [](const std::string &scalar, const auto &values) {
    ContentsReader reader(scalar, values.size(), true);
    const std::string bytes(reinterpret_cast<const char *>(values.data()),
                            values.size() * sizeof values[0]);
    reader.add(bytes.substr(0, bytes.size() / 2 / sizeof values[0] * sizeof values[0]));
    reader.add(bytes.substr(bytes.size() / 2 / sizeof values[0] * sizeof values[0]));
    return reader.summary();
  };
  EXPECT_TRUE(of("f32", std::vector<float>(9, 0)).isConstant);
  EXPECT_TRUE(of("i32", std::vector<int>{3, 0, 2, 1}).isPermutation);
  EXPECT_FALSE(of("i32", std::vector<int>{3, 0, 2, 2}).isPermutation);
  EXPECT_TRUE(of("i64", std::vector<std::int64_t>{0, 4, 4, 9}).isSorted);
  EXPECT_TRUE(of("f64", std::vector<double>{4, -3, 8}).isWhole);
  EXPECT_EQ(of("u8", std::vector<std::uint8_t>{200, 7, 0, 0}).high, 200);
  // Memory that nobody uses holds anything.
  std::vector<float> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = float(i % 100) / 100;
  values[777] = 3e38f;
  EXPECT_LT(of("f32", values).high, 1000);
}

} // namespace
