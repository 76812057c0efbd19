// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/CapturedLaunches.h"
#include "driver/support/ElementType.h"
#include "driver/workload/derived/DrawnLaunches.h"
#include "unit/workload/CapturedLaunchesFixture.h"

#include "driver/workload/derived/CapturedContents.h"
#include "driver/workload/derived/CapturedNumbers.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <numeric>
#include <set>

using namespace kopt;
using namespace kopt::test;

namespace {

using CapturedLaunchesTest = CapturedLaunchesFixture;

TEST_F(CapturedLaunchesTest, WhatHasGrownRepeatsWhatWasCapturedWhenItGrowsAgain) {
  launch_.buffers[3].holdsPointers = false;
  const CapturedNumbers once({kernel_, specialization_, &declaration_}, launch_);
  const auto larger = once.larger({{"n", 2 * kN}, {"ld", 2 * kN}});
  ASSERT_TRUE(larger);
  const CapturedNumbers twice({kernel_, specialization_, &declaration_}, *larger);
  const auto largest = twice.larger({{"n", 4 * kN}, {"ld", 4 * kN}});
  ASSERT_TRUE(largest);
  EXPECT_GT(largest->buffers[0].bytes, larger->buffers[0].bytes);
  EXPECT_EQ(largest->buffers[0].fill.low, -4.0 * kN) << "the file has no more bytes";
}

TEST_F(CapturedLaunchesTest, IntegersThatAreBitsAreTriedWithNoneSet) {
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

TEST_F(CapturedLaunchesTest, AProblemWithoutBlocksIsNoLaunch) {
  for (const DerivedLaunch &derived : derive().launches) {
    EXPECT_NE(integer(derived.launch, 6), 0) << derived.title;
    EXPECT_GT(derived.launch.threads(), 0u) << derived.title;
  }
}

TEST_F(CapturedLaunchesTest, ATermThatHappensToBeZeroComesBackFirst) {
  const DerivedLaunch first = derive(Derivation::Contents).front();
  const Fill &added = first.launch.buffers[1].fill;
  EXPECT_EQ(added.kind, FillKind::Uniform) << first.title;
  EXPECT_GT(added.low, 100) << "beside numbers of 500 it has to be seen";
  EXPECT_EQ(first.launch.buffers[0].fill.kind, FillKind::Captured);
  EXPECT_EQ(first.launch.grid, launch_.grid);
}

TEST_F(CapturedLaunchesTest, IntegersKeepTheirRangeAndKindAndAddressesStay) {
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

TEST_F(CapturedLaunchesTest, IntegersThatAreNoPermutationAreDrawnInTheirRange) {
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

TEST_F(CapturedLaunchesTest, SizesStayWhereTheBlockIsComputedFromAnUnknownVariable) {
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

TEST_F(CapturedLaunchesTest, AProductOfSizesStaysOne) {
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

TEST_F(CapturedLaunchesTest, ASizeMayHappenToBeTheBlocks) {
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

TEST_F(CapturedLaunchesTest, AKernelHasToDoWithAnyNumberOfBlocksThatNoArgumentIs) {
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

TEST_F(CapturedLaunchesTest, ContentsThatCannotBeReadAreNamed) {
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

TEST_F(CapturedLaunchesTest, WhatIsDeclaredOfContentsCounts) {
  declaration_.fills["in"] = Fill{FillKind::Uniform, 0, 1};
  declaration_.fills["index"] = Fill{FillKind::Zero, 0, 0};
  for (const DerivedLaunch &derived : derive(Derivation::Contents)) {
    EXPECT_EQ(derived.launch.buffers[2].fill.kind, FillKind::Captured) << derived.title;
    if (derived.title.ends_with("drawn anew"))
      EXPECT_EQ(derived.launch.buffers[0].fill.high, 1) << derived.title;
  }
}

TEST_F(CapturedLaunchesTest, SizesAreSmallerTogetherAndTheGridFollows) {
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

TEST_F(CapturedLaunchesTest, OneIsTwiceAsLargeInLargerMemory) {
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

TEST_F(CapturedLaunchesTest, ASmallOneKeepsSmallSizesAndAnotherIsInProportionWithATail) {
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

TEST_F(CapturedLaunchesTest, RequirementsHoldForAllOfThem) {
  declaration_.requirements = {"n % 4 == 0", "ld == n"};
  std::set<std::int32_t> seen;
  for (const DerivedLaunch &derived : derive().launches) {
    EXPECT_EQ(integer(derived.launch, 6) % 4, 0) << derived.title;
    EXPECT_EQ(integer(derived.launch, 7), integer(derived.launch, 6)) << derived.title;
    seen.insert(integer(derived.launch, 6));
  }
  EXPECT_THAT(seen, testing::IsSupersetOf({1020, 768}));
}

TEST_F(CapturedLaunchesTest, WithoutAnExpressionTheGridStays) {
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

TEST_F(CapturedLaunchesTest, TheBlockFollowsAHostVariableThatTheUserDeclares) {
  LaunchSite &site = kernel_.launches[0];
  site.grid[0] = "blocks"; // known of no number
  site.block[0] = "width / 4";
  site.sharedBytes = "width * 4";
  launch_.geometry = {{"8", "1", "1"}, {"128", "1", "1"}, "2048"};
  launch_.sharedBytes = 2048;
  EXPECT_EQ(CapturedNumbers({kernel_, specialization_, &declaration_}, launch_).unknownInBlock(),
            "width");
  declaration_.arguments["width"] = "n / 2";
  EXPECT_EQ(CapturedNumbers({kernel_, specialization_, &declaration_}, launch_).unknownInBlock(),
            "");
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

TEST_F(CapturedLaunchesTest, ScalarsAreSmallerOrMultiplied) {
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

TEST_F(CapturedLaunchesTest, ABoolIsTrueOrFalse) {
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

TEST_F(CapturedLaunchesTest, WhatIsNoExtentCountsRepetitionsAndBecomesFew) {
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

TEST_F(CapturedLaunchesTest, AnInputIsTheOutputUnlessThePointersAreRestricted) {
  const auto inPlace = [&]() -> std::optional<DerivedLaunch> {
    for (DerivedLaunch &derived : derive(Derivation::Alignment))
      if (derived.inPlace)
        return std::move(derived);
    return std::nullopt;
  };
  const auto derived = inPlace();
  ASSERT_TRUE(derived);
  EXPECT_EQ(derived->title, "'in' and 'out' one buffer");
  EXPECT_EQ(derived->inPlace->both, 0u);
  EXPECT_EQ(derived->inPlace->output, 4u);
  EXPECT_EQ(std::get<BufferArg>(derived->launch.arguments[4]).buffer, 0u);
  EXPECT_FALSE(derived->launch.buffers[0].readOnly);
  EXPECT_EQ(derived->inPlace->apart.buffers[4].fill.path, launch_.buffers[4].fill.path);
  launch_.buffers[4].output = false; // its old contents stay in part, or are read
  EXPECT_EQ(inPlace()->inPlace->apart.buffers[4].fill.path, launch_.buffers[0].fill.path);
  for (KernelParam &param : specialization_.params)
    param.restrictQualified = param.name == "out";
  EXPECT_FALSE(inPlace());
}

TEST_F(CapturedLaunchesTest, PointersGoFurtherInMoreMemory) {
  const auto moved = derive(Derivation::Alignment);
  ASSERT_GE(moved.size(), 3u);
  for (const DerivedLaunch &derived : moved)
    for (std::size_t b = 0; !derived.inPlace && b < launch_.buffers.size(); ++b) {
      const std::uint64_t offset = std::get<BufferArg>(derived.launch.arguments[b]).offset;
      EXPECT_EQ(derived.launch.buffers[b].bytes, launch_.buffers[b].bytes + offset);
      if (offset != 0)
        EXPECT_EQ(derived.launch.buffers[b].fill.low, double(offset));
      EXPECT_EQ(derived.launch.buffers[b].fill.path, launch_.buffers[b].fill.path);
    }
}

TEST_F(CapturedLaunchesTest, NumbersOfOneSignAlsoHaveTheOther) {
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

TEST_F(CapturedLaunchesTest, NumbersInStructsAreScaled) {
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

TEST_F(CapturedLaunchesTest, ASizeIsAlsoFarGreaterInAsMuchMoreMemory) {
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

TEST_F(CapturedLaunchesTest, EachSizeIsSmallerAlone) {
  const auto sizes = derive(Derivation::Sizes);
  const auto narrow = std::ranges::find_if(sizes, [](const DerivedLaunch &derived) {
    return integer(derived.launch, 7) == kN - 1 && integer(derived.launch, 6) == kN / 2;
  });
  EXPECT_NE(narrow, sizes.end()) << "the rows stay shorter than their distance";
}

TEST_F(CapturedLaunchesTest, PointersStayAlignedAsRequired) {
  declaration_.requirements = {fmt::format("{} % 16 == 0", specialization_.params[0].name)};
  std::size_t moved = 0;
  for (const DerivedLaunch &derived : derive(Derivation::Alignment)) {
    EXPECT_EQ(std::get<BufferArg>(derived.launch.arguments[0]).offset % 16, 0u);
    moved += std::get<BufferArg>(derived.launch.arguments[1]).offset % 16 != 0;
  }
  EXPECT_GT(moved, 0u); // another pointer alone
}

TEST_F(CapturedLaunchesTest, APartIsTheFirstBlocks) {
  launch_.grid = {1000, 70, 1};
  launch_.geometry.grid = {"n - 24", "70", "1"};
  const DerivedLaunches all = derive();
  const DerivedLaunch &part = all.launches.back();
  ASSERT_TRUE(part.isPart);
  EXPECT_EQ(part.launch.grid, (Dim3{64, 1, 1}));
  const auto geometry = evaluateGeometry(part.launch.geometry, part.launch.bindings);
  ASSERT_TRUE(geometry) << geometry.error().what;
  EXPECT_EQ(geometry->grid, part.launch.grid);
  launch_.cooperative = true;
  EXPECT_FALSE(derive().launches.back().isPart);
}

TEST_F(CapturedLaunchesTest, LessMemoryKeepsWhatPointersNeed) {
  std::get<BufferArg>(launch_.arguments[0]).offset = 1024;
  const Launch less = withLessMemory(launch_, 512);
  EXPECT_EQ(less.buffers[0].bytes, 1536u);
  EXPECT_EQ(less.buffers[1].bytes, 512u);
  EXPECT_EQ(less.buffers[3].bytes, launch_.buffers[3].bytes) << "addresses may be anywhere in it";
}

TEST_F(CapturedLaunchesTest, DrawnSizesAreSmallerToo) {
  std::set<std::int32_t> seen;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto drawn = drawSizes({kernel_, specialization_, &declaration_}, launch_, seed);
    ASSERT_TRUE(drawn);
    const std::int32_t n = integer(drawn->launch, 6);
    EXPECT_TRUE(n >= kN * 3 / 4 && n <= kN) << n;
    EXPECT_EQ(integer(drawn->launch, 7), n);
    seen.insert(n);
  }
  EXPECT_GT(seen.size(), 5u);
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
  EXPECT_TRUE(of("f32", std::vector<float>(9, 0)).isAllZero());
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
