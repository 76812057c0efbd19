// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/LaunchNumbers.h"
#include "driver/support/ElementType.h"
#include "unit/judge/derive/CapturedLaunchesFixture.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>

using namespace kopt;

namespace {

class CapturedNumbersTest : public test::CapturedLaunchesFixture {
protected:
  std::unique_ptr<LaunchNumbers> numbers(const Launch &launch) const {
    return numbersOf({kernel_, specialization_, &declaration_}, launch);
  }
};

TEST_F(CapturedNumbersTest, WhatHasGrownRepeatsWhatWasCapturedWhenItGrowsAgain) {
  launch_.buffers[3].holdsPointers = false;
  const auto once = numbers(launch_);
  const auto larger = once->larger({{"n", 2 * kN}, {"ld", 2 * kN}});
  ASSERT_TRUE(larger);
  const auto twice = numbers(*larger);
  const auto largest = twice->larger({{"n", 4 * kN}, {"ld", 4 * kN}});
  ASSERT_TRUE(largest);
  EXPECT_GT(largest->buffers[0].bytes, larger->buffers[0].bytes);
  EXPECT_EQ(largest->buffers[0].fill.low, -4.0 * kN) << "the file has no more bytes";
}

TEST_F(CapturedNumbersTest, AProblemWithoutBlocksIsNoLaunch) {
  for (const DerivedLaunch &derived : derive().launches) {
    EXPECT_NE(integer(derived.launch, 6), 0) << derived.title;
    EXPECT_GT(derived.launch.threads(), 0u) << derived.title;
  }
}

TEST_F(CapturedNumbersTest, SizesStayWhereTheBlockIsComputedFromAnUnknownVariable) {
  LaunchSite &site = kernel_.launches[0];
  site.block = {"length / 8", "1", "1"};
  launch_.geometry = {{"8", "1", "1"}, {"128", "1", "1"}, "0"};
  const DerivedLaunches all = derive();
  EXPECT_TRUE(std::ranges::any_of(all.missing, [](const NotDerived &missing) {
    return missing.kind == Derivation::Sizes && missing.why.find("'length'") != std::string::npos;
  }));
  EXPECT_TRUE(derive(Derivation::Sizes).empty());
  site.block[0] = "length"; // as many threads as the program likes
  EXPECT_FALSE(derive(Derivation::Sizes).empty());
  site.sharedBytes = "tile * 4";
  EXPECT_TRUE(derive(Derivation::Sizes).empty());
  kernel_.launches.push_back(site);
  kernel_.launches.back().sharedBytes = "length * 4";
  EXPECT_FALSE(derive(Derivation::Sizes).empty()) << "this site may have launched it";
}

TEST_F(CapturedNumbersTest, AProductOfSizesStaysOne) {
  const std::int32_t half = kN * kN / 2;
  std::get<ValueArg>(launch_.arguments[9]).bytes =
      std::string(reinterpret_cast<const char *>(&half), sizeof half);
  launch_.bindings["steps"] = half;
  std::size_t others = 0;
  for (const DerivedLaunch &derived : derive(Derivation::Sizes)) {
    const std::int64_t n = integer(derived.launch, 6), ld = integer(derived.launch, 7);
    EXPECT_EQ(integer(derived.launch, 9), n * ld / 2) << derived.title;
    others += integer(derived.launch, 9) != half;
  }
  EXPECT_GT(others, 3u);
  declaration_.arguments["steps"] = "n * ((ld + 1) / 2)"; // the same for even sizes
  for (const DerivedLaunch &derived : derive(Derivation::Sizes))
    EXPECT_EQ(integer(derived.launch, 9),
              integer(derived.launch, 6) * ((integer(derived.launch, 7) + 1) / 2))
        << derived.title;
}

TEST_F(CapturedNumbersTest, ASizeMayHappenToBeTheBlocks) {
  const auto varies = [&] {
    return std::ranges::any_of(derive(Derivation::Sizes), [&](const DerivedLaunch &derived) {
      return integer(derived.launch, 7) != 128;
    });
  };
  const std::int32_t ld = 128;
  std::get<ValueArg>(launch_.arguments[7]).bytes =
      std::string(reinterpret_cast<const char *>(&ld), sizeof ld);
  launch_.bindings["ld"] = ld;
  EXPECT_TRUE(varies());
  kernel_.launches[0].args[7] = "128";
  EXPECT_FALSE(varies()) << "the block's, as a constant";
}

TEST_F(CapturedNumbersTest, AKernelHasToDoWithAnyNumberOfBlocksThatNoArgumentIs) {
  kernel_.launches[0].grid[0] = "batch";
  launch_.geometry = {{"8", "1", "1"}, {"128", "1", "1"}, "0"};
  const auto fewer = [&] {
    return std::ranges::any_of(derive(Derivation::Sizes), [&](const DerivedLaunch &derived) {
      return derived.launch.grid.x == launch_.grid.x - 1 && derived.title.starts_with("batch = ");
    });
  };
  EXPECT_TRUE(fewer());
  launch_.grid.x = 3; // as many as steps
  launch_.geometry.grid[0] = "3";
  EXPECT_FALSE(fewer());
  launch_.grid.x = 8;
  kernel_.launches[0].grid[0] = "batch / 2";
  EXPECT_FALSE(fewer());
}

TEST_F(CapturedNumbersTest, SizesAreSmallerTogetherAndTheGridFollows) {
  std::set<std::int32_t> seen;
  for (const DerivedLaunch &derived : derive(Derivation::Sizes)) {
    const std::int32_t n = integer(derived.launch, 6), ld = integer(derived.launch, 7);
    seen.insert(n);
    EXPECT_LE(n, kN) << derived.title;
    EXPECT_LE(n, ld) << derived.title << ": elements of two rows would meet";
    EXPECT_EQ(integer(derived.launch, 8), 128) << derived.title;
    EXPECT_EQ(derived.launch.block.x, 128u) << derived.title;
    EXPECT_EQ(derived.launch.grid.x, std::uint32_t(n + 127) / 128) << derived.title;
    EXPECT_EQ(derived.launch.buffers[0].bytes, 4u * kN) << derived.title;
  }
  EXPECT_THAT(seen, testing::IsSupersetOf({1023, 1021, 769, 256, 1}));
}

TEST_F(CapturedNumbersTest, OneIsTwiceAsLargeInLargerMemory) {
  launch_.buffers[3].holdsPointers = false;
  const auto sizes = derive(Derivation::Sizes);
  const auto larger = std::ranges::find_if(
      sizes, [](const DerivedLaunch &derived) { return integer(derived.launch, 6) > kN; });
  ASSERT_NE(larger, sizes.end());
  EXPECT_EQ(integer(larger->launch, 6), 2049);
  EXPECT_EQ(integer(larger->launch, 7), 2049) << "equal ones stay equal";
  EXPECT_EQ(larger->launch.grid.x, 17u);
  const std::vector<Buffer> &buffers = larger->launch.buffers;
  for (const Buffer &buffer : buffers)
    EXPECT_EQ(buffer.bytes, 2049u * elementBytes(buffer.scalar)) << buffer.name;
  EXPECT_EQ(buffers[0].fill.kind, FillKind::Captured);
  EXPECT_EQ(buffers[0].fill.low, -4.0 * kN) << "what was captured is repeated";
  EXPECT_EQ(buffers[2].fill.kind, FillKind::Permutation);
  EXPECT_EQ(buffers[2].fill.high, 2048);
  EXPECT_NE(buffers[4].fill.kind, FillKind::Captured) << "results may be there already";
}

TEST_F(CapturedNumbersTest, ASmallOneKeepsSmallSizesAndAnotherIsInProportionWithATail) {
  const std::int32_t ld = 2 * kN;
  std::memcpy(std::get<ValueArg>(launch_.arguments[7]).bytes.data(), &ld, 4);
  launch_.bindings["ld"] = ld;
  const auto sizes = derive(Derivation::Sizes);
  std::vector<std::pair<std::int32_t, std::int32_t>> small;
  for (const DerivedLaunch &derived : sizes)
    if (derived.isSmall) {
      small.emplace_back(integer(derived.launch, 6), integer(derived.launch, 7));
      EXPECT_EQ(derived.launch.grid.x, 2u);
    }
  EXPECT_THAT(small, testing::ElementsAre(std::pair(256, 2048), std::pair(255, 511)));
}

TEST_F(CapturedNumbersTest, RequirementsHoldForAllOfThem) {
  declaration_.requirements = {"n % 4 == 0", "ld == n"};
  std::set<std::int32_t> seen;
  for (const DerivedLaunch &derived : derive().launches) {
    EXPECT_EQ(integer(derived.launch, 6) % 4, 0) << derived.title;
    EXPECT_EQ(integer(derived.launch, 7), integer(derived.launch, 6)) << derived.title;
    seen.insert(integer(derived.launch, 6));
  }
  EXPECT_THAT(seen, testing::IsSupersetOf({1020, 768}));
}

TEST_F(CapturedNumbersTest, WithoutAnExpressionTheGridStays) {
  launch_.geometry = {{"8", "1", "1"}, {"128", "1", "1"}, "0"};
  const auto sizes = derive(Derivation::Sizes);
  ASSERT_FALSE(sizes.empty());
  for (const DerivedLaunch &derived : sizes) {
    EXPECT_EQ(derived.launch.grid, launch_.grid) << derived.title;
    EXPECT_EQ(integer(derived.launch, 8), 128) << derived.title << ": as many as a block has";
    EXPECT_EQ(integer(derived.launch, 6), integer(derived.launch, 7)) << derived.title;
    EXPECT_EQ(derived.launch.bindings.at("n"), integer(derived.launch, 6)) << derived.title;
  }
}

TEST_F(CapturedNumbersTest, TheBlockFollowsAHostVariableThatTheUserDeclares) {
  LaunchSite &site = kernel_.launches[0];
  site.grid[0] = "blocks"; // known of no number
  site.block[0] = "width / 4";
  site.sharedBytes = "width * 4";
  launch_.geometry = {{"8", "1", "1"}, {"128", "1", "1"}, "2048"};
  launch_.sharedBytes = 2048;
  EXPECT_NE(numbers(launch_)->whySizesStay().find("'width'"), std::string::npos);
  declaration_.arguments["width"] = "n / 2";
  EXPECT_EQ(numbers(launch_)->whySizesStay(), "");
  const auto sizes = derive(Derivation::Sizes);
  ASSERT_FALSE(sizes.empty());
  std::set<std::uint32_t> blocks;
  for (const DerivedLaunch &derived : sizes) {
    const auto width = std::uint32_t(integer(derived.launch, 6) / 2);
    EXPECT_EQ(derived.launch.block.x, width / 4) << derived.title;
    EXPECT_EQ(derived.launch.sharedBytes, width * 4) << derived.title;
    EXPECT_EQ(derived.launch.geometry.block[0], std::to_string(width / 4)) << derived.title;
    blocks.insert(derived.launch.block.x);
  }
  EXPECT_GT(blocks.size(), 1u);
  EXPECT_FALSE(blocks.contains(0)) << "no program can launch that";
  EXPECT_TRUE(std::ranges::any_of(derive().missing, [](const NotDerived &missing) {
    return missing.why == "the program cannot launch it: it has no threads";
  }));
}

TEST_F(CapturedNumbersTest, ScalarsAreSmallerOrMultiplied) {
  std::set<float> factors;
  std::set<std::int32_t> steps;
  for (const DerivedLaunch &derived : derive(Derivation::Scalars)) {
    float factor = 0;
    std::memcpy(&factor, std::get<ValueArg>(derived.launch.arguments[5]).bytes.data(), 4);
    factors.insert(factor);
    steps.insert(integer(derived.launch, 9));
    EXPECT_EQ(integer(derived.launch, 6), kN) << derived.title;
    EXPECT_EQ(integer(derived.launch, 9) > 3, derived.unbounded) << derived.title;
  }
  EXPECT_GE(factors.size(), 4u);
  EXPECT_EQ(steps, (std::set<std::int32_t>{1, 2, 3, 49}));
}

TEST_F(CapturedNumbersTest, ABoolIsTrueOrFalse) {
  for (const char captured : {0, 1}) {
    specialization_.params[9].scalar = "bool";
    launch_.arguments[9] = ValueArg{std::string(1, captured)};
    launch_.bindings["steps"] = captured;
    bool isOther = false;
    for (const DerivedLaunch &derived : derive().launches) {
      const char now = std::get<ValueArg>(derived.launch.arguments[9]).bytes[0];
      EXPECT_TRUE(now == 0 || now == 1) << derived.title;
      isOther |= now != captured;
    }
    EXPECT_TRUE(isOther) << int(captured);
  }
}

TEST_F(CapturedNumbersTest, WhatIsNoExtentCountsRepetitionsAndBecomesFew) {
  std::memcpy(std::get<ValueArg>(launch_.arguments[9]).bytes.data(), "\x64\0\0\0", 4);
  launch_.bindings["steps"] = 100;
  std::set<std::string> titles;
  for (const DerivedLaunch &derived : derive(Derivation::Scalars))
    titles.insert(derived.title);
  EXPECT_TRUE(titles.contains("steps = 1") && titles.contains("steps = 3"));
  EXPECT_FALSE(titles.contains("ld = 1")) << "'add' has as many elements";
  launch_.buffers[1].bytes -= 4;
  for (const DerivedLaunch &derived : derive(Derivation::Scalars))
    EXPECT_NE(derived.title, "steps = 3") << "it may decide how many elements 'add' has";
}

TEST_F(CapturedNumbersTest, ASizeIsAlsoFarGreaterInAsMuchMoreMemory) {
  launch_.buffers[3].holdsPointers = false; // then the memory may grow
  for (std::int32_t &value : index_)
    value = value * 7 % 251;
  launch_.buffers[2].fill.path = store(index_);
  const std::int32_t radius = 10;
  specialization_.params.back().name = "radius";
  kernel_.launches[0].args.back() = "radius";
  std::memcpy(std::get<ValueArg>(launch_.arguments.back()).bytes.data(), &radius, sizeof radius);
  const auto sizes = derive(Derivation::Sizes);
  const auto titled = [&](const std::string &title) {
    const auto found = std::ranges::find(sizes, title, &DerivedLaunch::title);
    EXPECT_NE(found, sizes.end()) << title;
    return found == sizes.end() ? Launch() : found->launch;
  };
  titled("radius = 21"); // a loop over it may have another round
  const Launch far = titled("radius = 161"), great = titled("radius = 161, great integers");
  ASSERT_TRUE(!far.buffers.empty() && !great.buffers.empty());
  EXPECT_EQ(integer(far, 6), kN);
  EXPECT_GE(far.buffers[0].bytes, 4u * kN);
  EXPECT_EQ(great.buffers[2].fill.kind, FillKind::Constant);
  EXPECT_EQ(great.buffers[2].fill.low, 250);
  const Launch both = titled("ld = 16385, n = 16385, great integers");
  ASSERT_FALSE(both.buffers.empty());
  EXPECT_EQ(both.buffers[0].bytes, 4u * 16385);
  EXPECT_EQ(both.grid.x, 129u);
}

TEST_F(CapturedNumbersTest, EachSizeIsSmallerAlone) {
  const auto sizes = derive(Derivation::Sizes);
  const auto narrow = std::ranges::find_if(sizes, [](const DerivedLaunch &derived) {
    return integer(derived.launch, 7) == kN - 1 && integer(derived.launch, 6) == kN / 2;
  });
  EXPECT_NE(narrow, sizes.end()) << "the rows stay shorter than their distance";
}

TEST_F(CapturedNumbersTest, MatricesGrowByTheirProduct) {
  launch_.buffers[3].holdsPointers = false;
  const std::int32_t ld = 512;
  std::memcpy(std::get<ValueArg>(launch_.arguments[7]).bytes.data(), &ld, 4);
  launch_.bindings["ld"] = ld;
  launch_.buffers[0].bytes = 4u * kN * ld; // n x ld
  for (const DerivedLaunch &derived : derive(Derivation::Sizes))
    if (const std::int64_t n = integer(derived.launch, 6), m = integer(derived.launch, 7); n > kN)
      EXPECT_GE(derived.launch.buffers[0].bytes, 4u * n * m) << derived.title;
}

TEST_F(CapturedNumbersTest, OfTwoEqualNumbersOneGrowsAMatrixOnce) {
  launch_.buffers[3].holdsPointers = false;
  const std::int32_t ld = kN;
  std::memcpy(std::get<ValueArg>(launch_.arguments[7]).bytes.data(), &ld, 4);
  launch_.bindings["ld"] = ld;
  launch_.buffers[0].bytes = 4u * kN * ld; // n x ld, or n x n
  const auto larger = numbers(launch_)->larger({{"n", 4 * kN}});
  ASSERT_TRUE(larger);
  EXPECT_GE(larger->buffers[0].bytes, 4u * 4 * kN * ld);
  EXPECT_LT(larger->buffers[0].bytes, 4u * 4 * kN * 4 * kN);
}

TEST_F(CapturedNumbersTest, ABufferMayHaveAsManyElementsAsTwoSizesDiffer) {
  launch_.buffers[3].holdsPointers = false;
  const std::int32_t ld = 300;
  std::memcpy(std::get<ValueArg>(launch_.arguments[7]).bytes.data(), &ld, 4);
  launch_.bindings["ld"] = ld;
  launch_.buffers[0].bytes = 4u * (kN - ld + 1);
  const auto known = numbers(launch_);
  EXPECT_EQ(known->larger({{"ld", 200}})->buffers[0].bytes, 4u * (kN - 200 + 1));
  EXPECT_EQ(known->larger({{"n", 3 * kN}})->buffers[0].bytes, 4u * (3 * kN - ld + 1));
  EXPECT_GE(known->larger({{"ld", 400}})->buffers[0].bytes, launch_.buffers[0].bytes);
}

TEST_F(CapturedNumbersTest, ANumberThatTheLaunchSiteComputesFollowsTheOthers) {
  launch_.buffers[3].holdsPointers = false;
  kernel_.launches[0].values.assign(10, "");
  kernel_.launches[0].values[7] = "(((n + 63) / 64) * 64)";
  const auto known = numbers(launch_);
  EXPECT_EQ(known->allowed({{"n", 900}, {"ld", 900}}),
            (LaunchNumbers::Values{{"n", 900}, {"ld", 960}}));
  // All launches that change n keep the row distance that the site computes.
  for (const DerivedLaunch &derived : derive(Derivation::Sizes)) {
    const std::int64_t n = integer(derived.launch, 6);
    EXPECT_EQ(integer(derived.launch, 7), (n + 63) / 64 * 64) << derived.title;
  }
  kernel_.launches[0].values[7] = "(n * 2)"; // which it did not pass at the captured launch
  EXPECT_EQ(numbers(launch_)->allowed({{"n", 900}, {"ld", 900}}),
            (LaunchNumbers::Values{{"n", 900}, {"ld", 900}}));
}

TEST_F(CapturedNumbersTest, NothingGrowsWhereAddressesWouldHaveToMove) {
  const DerivedLaunches all = derive();
  EXPECT_TRUE(std::ranges::none_of(
      all.launches, [](const DerivedLaunch &derived) { return integer(derived.launch, 6) > kN; }));
  EXPECT_TRUE(std::ranges::any_of(all.missing, [](const NotDerived &missing) {
    return missing.title.find("2049") != missing.title.npos;
  }));
}

} // namespace
