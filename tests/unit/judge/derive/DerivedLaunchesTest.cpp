// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/DrawnLaunches.h"
#include "unit/judge/derive/CapturedLaunchesFixture.h"
#include "unit/judge/derive/DerivedLaunchesFixture.h"

using namespace kopt;

namespace {

using DerivedLaunchesTest = test::DerivedLaunchesFixture;
class DerivedFromCapturedTest : public test::CapturedLaunchesFixture {};

TEST_F(DerivedLaunchesTest, AFixedGridOfManyThreadsHasLaunchesOfEachKind) {
  kernel_.launches[0].grid = {"128", "1", "1"}; // 32768 threads, with a loop over n
  kernel_.launches[0].block = {"256", "1", "1"};
  declaration_.arguments["n"] = "4194304";
  const DerivedLaunches all = derive();
  for (const Derivation kind :
       {Derivation::Scalars, Derivation::Sizes, Derivation::Contents, Derivation::Alignment})
    EXPECT_FALSE(only(all, kind).empty()) << toString(kind);
  bool odd = false;
  for (const DerivedLaunch &derived : only(all, Derivation::Sizes)) {
    EXPECT_EQ(derived.launch.grid.x, 128u) << derived.title;
    EXPECT_LT(integer(derived.launch, 4), 100000) << "n is as small as it helps";
    odd |= integer(derived.launch, 4) % 16 != 0;
  }
  EXPECT_TRUE(odd);
}

TEST_F(DerivedLaunchesTest, ALaunchThatNothingMakesSmallerHasOtherContentsAtItsOwnSize) {
  kernel_.launches[0].grid = {"65536", "1", "1"};
  declaration_.arguments.erase("n");
  kernel_.launches[0].args[4] = "8388608";
  declaration_.extents = {{"in", "8388608"}, {"index", "8388608"}, {"out", "8388608"}};
  const DerivedLaunches all = derive();
  const auto contents = only(all, Derivation::Contents);
  ASSERT_FALSE(contents.empty());
  EXPECT_EQ(contents.front().launch.threads(), 65536u * 128);
  for (const NotDerived &missing : all.missing)
    EXPECT_EQ(missing.why.find("no argument makes it smaller"), std::string::npos) << missing.why;
}

TEST_F(DerivedLaunchesTest, ConstantMemoryHasOtherContentsAndOneSizeAndPlace) {
  specialization_.constantVariables = {{"taps", "taps", 20, "float", "f32"},
                                       {"rows", "rows", 4, "int", "i32"}};
  declaration_.arguments["rows"] = "n / 8";
  std::set<FillKind> kinds;
  for (const DerivedLaunch &derived : derive().launches) {
    ASSERT_EQ(derived.launch.buffers.size(), 5u) << derived.title;
    EXPECT_EQ(derived.launch.buffers[3].bytes, 20u) << derived.title;
    kinds.insert(derived.launch.buffers[3].fill.kind);
    const Buffer &rows = derived.launch.buffers[4];
    EXPECT_EQ(rows.fill.kind, FillKind::Constant) << derived.title;
    EXPECT_EQ(rows.fill.low, double(derived.launch.bindings.at("n") / 8)) << derived.title;
  }
  EXPECT_GE(kinds.size(), 3u);
}

TEST_F(DerivedLaunchesTest, EachModeThatTheKernelTellsApartIsTried) {
  specialization_.params[5].comparedWith = {0, 7, 12, -1}; // of steps, which is 7
  specialization_.params[4].comparedWith = {4096};         // a size is none
  std::set<std::int32_t> steps;
  for (const DerivedLaunch &derived : only(derive(), Derivation::Scalars)) {
    steps.insert(integer(derived.launch, 5));
    EXPECT_NE(integer(derived.launch, 4), 4096);
  }
  for (const std::int32_t wanted : {0, 12, -1}) {
    EXPECT_TRUE(steps.contains(wanted)) << wanted;
    const auto isOfMode = [&](const DerivedLaunch &derived) {
      return integer(derived.launch, 5) == wanted;
    };
    EXPECT_EQ(std::ranges::count_if(only(derive(), Derivation::Contents), isOfMode), 2) << wanted;
  }
}

TEST_F(DerivedLaunchesTest, OfSeveralSizesAnyTwoAreEqualWhereTheOthersAreNot) {
  specialization_.params.push_back(
      {"rows", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false});
  specialization_.params.push_back(
      {"columns", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false});
  kernel_.launches[0].args.insert(kernel_.launches[0].args.end(), {"rows", "columns"});
  declaration_.arguments = {
      {"factor", "1.5"}, {"n", "50"}, {"rows", "60"}, {"columns", "70"}, {"steps", "7"}};
  declaration_.extents = {{"in", "n * rows"}, {"index", "columns"}, {"out", "n * rows"}};
  std::set<std::string> equal;
  for (const DerivedLaunch &derived : only(derive(), Derivation::Sizes)) {
    const std::int32_t n = integer(derived.launch, 4), rows = integer(derived.launch, 6),
                       columns = integer(derived.launch, 7);
    if (n == rows && rows != columns)
      equal.insert("n and rows");
    if (n == columns && rows != columns)
      equal.insert("n and columns");
    if (rows == columns && n != columns)
      equal.insert("rows and columns");
  }
  EXPECT_EQ(equal.size(), 3u);
}

TEST_F(DerivedLaunchesTest, SizesAreSmallAndTheirLaunchesConsistent) {
  const auto sizes = only(derive(), Derivation::Sizes);
  ASSERT_GE(sizes.size(), 5u);
  std::set<std::int32_t> seen;
  for (const DerivedLaunch &derived : sizes) {
    const std::int32_t n = integer(derived.launch, 4);
    seen.insert(n);
    EXPECT_EQ(derived.launch.grid.x, std::uint32_t(n + 127) / 128) << derived.title;
    for (const Buffer &buffer : derived.launch.buffers)
      EXPECT_EQ(buffer.bytes, std::uint64_t(n) * 4) << derived.title;
    EXPECT_LE(costOf(derived.launch), 2u * 16384) << derived.title;
    EXPECT_TRUE(derived.launch.buffers[2].output);
  }
  // Halved until it is small; one more and one less; a prime; one; one beyond whole blocks.
  for (const std::int32_t n : {3906, 3907, 3905, 5209, 1, 4097})
    EXPECT_TRUE(seen.contains(n)) << n;
}

TEST_F(DerivedLaunchesTest, SizesKeepWhatIsRequiredOfThem) {
  declaration_.requirements = {"n % 512 == 0"};
  std::set<std::int32_t> seen;
  for (const DerivedLaunch &derived : derive().launches) {
    EXPECT_EQ(integer(derived.launch, 4) % 512, 0) << derived.title;
    if (derived.kind == Derivation::Sizes)
      seen.insert(integer(derived.launch, 4));
  }
  EXPECT_GE(seen.size(), 5u);
  for (const std::int32_t n : {3584, 4096, 3072, 512}) // small, one step more and less, the least
    EXPECT_TRUE(seen.contains(n)) << n;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    if (const auto drawn = drawSizes({kernel_, specialization_, &declaration_}, declared(), seed))
      EXPECT_EQ(integer(drawn->launch, 4) % 512, 0) << seed;
}

TEST_F(DerivedLaunchesTest, TheThreadsOfABlockAreNoSize) {
  kernel_.launches[0].grid = {"(n + block_size - 1) / block_size", "1", "1"};
  kernel_.launches[0].block = {"block_size", "1", "1"};
  kernel_.launches[0].variables = {"n", "block_size"};
  declaration_.arguments["block_size"] = "256";
  const auto sizes = only(derive(), Derivation::Sizes);
  ASSERT_GE(sizes.size(), 5u);
  for (const DerivedLaunch &derived : derive().launches)
    EXPECT_EQ(derived.launch.block.x, 256u) << derived.title;
}

TEST_F(DerivedLaunchesTest, EachSizeIsLongOnce) {
  kernel_.launches[0].args = {"in", "index", "out", "factor", "rows", "columns"};
  kernel_.launches[0].grid = {"rows", "1", "1"};
  kernel_.launches[0].variables = {"rows"};
  specialization_.params[4].name = "rows";
  specialization_.params[5].name = "columns";
  declaration_.arguments = {{"factor", "1.5"}, {"rows", "16"}, {"columns", "5000"}};
  declaration_.extents = {
      {"in", "rows * columns"}, {"index", "rows * columns"}, {"out", "rows * columns"}};
  bool longRows = false;
  std::pair<std::int32_t, std::int32_t> longest;
  for (const DerivedLaunch &derived : only(derive(), Derivation::Sizes)) {
    const std::int32_t rows = integer(derived.launch, 4), columns = integer(derived.launch, 5);
    longRows |= rows == 263;
    longest = {std::max(longest.first, rows), std::max(longest.second, columns)};
    EXPECT_LE(costOf(derived.launch), (std::max(rows, columns) > 65536 ? 16u : 4u) * 16384)
        << derived.title;
  }
  EXPECT_TRUE(longRows);
  EXPECT_EQ(
      longest,
      std::pair(263, 70103)); // what 16 bits hold no longer; as many rows would be as many blocks
}

TEST_F(DerivedLaunchesTest, OneSizeIsBeyondWhat16BitsNumberWhereTheLaunchItselfIsNot) {
  const auto largest = [&] {
    std::uint64_t elements = 0;
    for (const DerivedLaunch &derived : only(derive(), Derivation::Sizes))
      for (const Buffer &buffer : derived.launch.buffers)
        elements = std::max(elements, buffer.bytes / 4);
    return elements;
  };
  EXPECT_LT(largest(), 65536u); // of a million the declared launch shows it
  declaration_.arguments["n"] = "9000";
  EXPECT_EQ(largest(), 72000u); // and 66003
}

TEST_F(DerivedLaunchesTest, AQuarterOfTheBlocksIsLaunchedOnce) {
  const DerivedLaunches all = derive();
  const auto part = std::ranges::find_if(all.launches, &DerivedLaunch::isPart);
  ASSERT_NE(part, all.launches.end());
  const DerivedLaunch &whole = all.launches.front();
  EXPECT_EQ(part->launch.grid.count(), std::max<std::uint64_t>(1, whole.launch.grid.count() / 4));
  EXPECT_EQ(std::ranges::count_if(all.launches, &DerivedLaunch::isPart), 1);
}

TEST_F(DerivedLaunchesTest, AnEmptyProblemThatCannotBeLaunchedIsNamed) {
  const DerivedLaunches all = derive();
  EXPECT_TRUE(std::any_of(all.missing.begin(), all.missing.end(), [](const NotDerived &missing) {
    return missing.title == "n = 0" && !missing.why.empty();
  }));
}

TEST_F(DerivedLaunchesTest, ScalarsThatDecideNoSizeAreMovedAndFloatsMultiplied) {
  const auto scalars = only(derive(), Derivation::Scalars);
  std::set<std::int32_t> steps;
  std::set<float> factors;
  for (const DerivedLaunch &derived : scalars) {
    EXPECT_EQ(integer(derived.launch, 4), 3906) << derived.title;
    steps.insert(integer(derived.launch, 5));
    float factor = 0;
    std::memcpy(&factor, std::get<ValueArg>(derived.launch.arguments[3]).bytes.data(),
                sizeof factor);
    factors.insert(factor);
  }
  EXPECT_TRUE(steps.contains(6) && steps.contains(8));
  EXPECT_GE(factors.size(), 3u);
  const Launch launch = declared();
  const DerivationSource source{kernel_, specialization_, &declaration_};
  const auto one = drawScalars(source, launch, 1), other = drawScalars(source, launch, 2);
  ASSERT_TRUE(one && other);
  EXPECT_NE(std::get<ValueArg>(one->launch.arguments[3]).bytes,
            std::get<ValueArg>(other->launch.arguments[3]).bytes);
}

TEST_F(DerivedLaunchesTest, WhatTheProgramCallsOtherwiseIsTheParameterItIsPassedFor) {
  specialization_.params.push_back(
      {"modes", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false});
  kernel_.launches[0].args = {"in", "index", "out", "by", "n", "rounds", "modes"};
  declaration_.arguments = {{"by", "2"}, {"n", "1000"}, {"rounds", "7"}, {"modes", "1"}};
  specialization_.params[5].comparedWith = {12};
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (const DerivedLaunch &derived : only(derive(), Derivation::Scalars)) {
    EXPECT_EQ(derived.title.find("by"), std::string::npos) << derived.title;
    seen.insert({integer(derived.launch, 5), integer(derived.launch, 6)});
  }
  for (const std::pair<int, int> wanted : {std::pair{9, 1}, {7, 3}, {12, 1}, {67, 1}, {8, 2}})
    EXPECT_TRUE(seen.contains(wanted)) << wanted.first << ", " << wanted.second;
}

TEST_F(DerivedLaunchesTest, IntegersThatDecideNoSizeAreNegativeAndLargeOnceWhereBoundsAreChecked) {
  std::set<std::int32_t> steps;
  for (const DerivedLaunch &derived : only(derive(), Derivation::Scalars))
    if (derived.unbounded)
      steps.insert(integer(derived.launch, 5));
  EXPECT_EQ(steps, (std::set<std::int32_t>{-44, 67, 307, 65536 + 4567 + 7, 0x2aaaaaaa + 7}));
  declaration_.requirements = {"n > 20 * steps"};
  bool isAround = false;
  for (const DerivedLaunch &derived : only(derive(), Derivation::Scalars))
    isAround |= integer(derived.launch, 5) == 307 && integer(derived.launch, 4) == 6141;
  EXPECT_TRUE(isAround) << "the size follows";
  declaration_.requirements.clear();
  specialization_.params[5] = {"steps", "long long", ParamKind::Scalar, 8, 8, "i64", 1, 0,
                               false,   false};
  bool wide = false;
  for (const DerivedLaunch &derived : derive().launches)
    wide |= derived.launch.bindings.at("steps") > 0xffffffffll;
  EXPECT_TRUE(wide);
}

TEST_F(DerivedLaunchesTest, OfIntegersThatNobodyDeclaredAnyMayCome) {
  declaration_.fills.clear();
  declaration_.arguments["n"] = "30000";
  specialization_.params[2].scalar =
      "i32"; // a sum of many equal floating-point numbers tells nothing
  bool any = false, negative = false, many = false;
  for (const DerivedLaunch &derived : only(derive(), Derivation::Contents)) {
    const Fill &index = derived.launch.buffers[1].fill;
    EXPECT_EQ(derived.unbounded, index.low < 0 || index.high > 100) << derived.title;
    any |= index.kind == FillKind::Uniform && index.low < -1e18 && index.high > 1e18;
    negative |= index.high < 0;
    many |= derived.large && index.kind == FillKind::Constant && index.low > 1e18;
  }
  EXPECT_TRUE(any && negative && many);
  declaration_.fills["index"] = Fill{FillKind::Uniform, 0, 63};
  for (const DerivedLaunch &derived : only(derive(), Derivation::Contents))
    EXPECT_FALSE(derived.unbounded) << derived.title;
}

TEST_F(DerivedLaunchesTest, OtherLaunchSitesAreLaunchedAsTheyAre) {
  kernel_.launches.push_back(kernel_.launches[0]);
  LaunchSite &other = kernel_.launches.back();
  other.file = "/project/src/wide.cu";
  other.line = 9;
  other.grid = {"(n + 511) / 512", "2", "1"};
  other.block = {"512", "1", "1"};
  other.args[1] = "nullptr";
  kernel_.launches.push_back(other); // once is enough
  std::vector<DerivedLaunch> there;
  for (DerivedLaunch &derived : only(derive(), Derivation::Sizes))
    if (derived.title == "as launched at wide.cu:9")
      there.push_back(std::move(derived));
  ASSERT_EQ(there.size(), 1u);
  const Launch &launch = there[0].launch;
  EXPECT_EQ(launch.block, (Dim3{512, 1, 1}));
  EXPECT_EQ(launch.grid.y, 2u);
  EXPECT_EQ(launch.site, 1u);
  EXPECT_EQ(std::get<ValueArg>(launch.arguments[1]).bytes, std::string(8, '\0'));
  ASSERT_EQ(launch.buffers.size(), 2u);
  EXPECT_TRUE(launch.buffers[1].output) << "by its name, not by its place";
  declaration_.grid = {"n"};
  for (const DerivedLaunch &derived : only(derive(), Derivation::Sizes))
    EXPECT_FALSE(derived.title.starts_with("as launched"))
        << "the declared geometry holds everywhere";
}

TEST_F(DerivedLaunchesTest, OfSeveralSizesEachIsOneOnceAndDrawnAlone) {
  kernel_.launches[0].args = {"in", "index", "out", "factor", "rows", "columns"};
  specialization_.params[4].name = "rows";
  specialization_.params[5].name = "columns";
  declaration_.arguments = {{"factor", "1.5"}, {"rows", "16"}, {"columns", "50"}};
  declaration_.extents = {
      {"in", "rows * columns"}, {"index", "rows * columns"}, {"out", "rows * columns"}};
  declaration_.grid = {"rows", "1", "1"};
  std::set<std::pair<std::int32_t, std::int32_t>> sizes;
  const DerivedLaunches all = derive();
  for (const DerivedLaunch &derived : only(all, Derivation::Sizes))
    sizes.emplace(integer(derived.launch, 4), integer(derived.launch, 5));
  EXPECT_TRUE(sizes.contains({16, 1}) && sizes.contains({1, 50}) && sizes.contains({1, 1}));
  const Launch launch = only(all, Derivation::Sizes).front().launch;
  const std::pair known(integer(launch, 4), integer(launch, 5));
  int rows = 0, columns = 0, both = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto drawn = drawSizes({kernel_, specialization_, &declaration_}, launch, seed);
    ASSERT_TRUE(drawn);
    const bool moved[] = {integer(drawn->launch, 4) != known.first,
                          integer(drawn->launch, 5) != known.second};
    rows += moved[0] && !moved[1];
    columns += moved[1] && !moved[0];
    both += moved[0] && moved[1];
  }
  EXPECT_GT(rows, 5);
  EXPECT_GT(columns, 5);
  EXPECT_GT(both, 15);
}

TEST_F(DerivedLaunchesTest, BoundsOfIndicesFollowTheSizes) {
  declaration_.fills["index"] = Fill{FillKind::Uniform, -3, 0};
  declaration_.fillBounds["index"] = {"", "n - 1"};
  EXPECT_EQ(declared().buffers[1].fill.high, 999999);
  const DerivedLaunches all = derive();
  std::set<FillKind> kinds;
  for (const DerivedLaunch &derived : all.launches) {
    const Fill &fill = derived.launch.buffers[1].fill;
    kinds.insert(fill.kind);
    EXPECT_LT(fill.high, integer(derived.launch, 4)) << derived.title;
    if (derived.kind == Derivation::Sizes) {
      EXPECT_EQ(fill.low, -3) << derived.title;
      EXPECT_EQ(fill.high, integer(derived.launch, 4) - 1) << derived.title;
    }
  }
  EXPECT_TRUE(kinds.contains(FillKind::Uniform) && kinds.contains(FillKind::Sorted));
  const Launch launch = only(all, Derivation::Sizes).front().launch;
  const auto drawn = drawSizes({kernel_, specialization_, &declaration_}, launch, 3);
  ASSERT_TRUE(drawn);
  EXPECT_EQ(drawn->launch.buffers[1].fill.high, integer(drawn->launch, 4) - 1);
}

TEST_F(DerivedLaunchesTest, ABoundThatNobodyCanKnowIsNamed) {
  declaration_.fillBounds["index"] = {"", "m - 1"};
  const auto launch = buildLaunch(kernel_, specialization_, declaration_,
                                  launchesOn(declaration_, DeviceKind::Cuda).front());
  ASSERT_FALSE(launch);
  EXPECT_NE(launch.error().what.find("m"), std::string::npos) << launch.error().what;
  declaration_.fillBounds["index"] = {"n", "1"};
  const auto empty = buildLaunch(kernel_, specialization_, declaration_,
                                 launchesOn(declaration_, DeviceKind::Cuda).front());
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().what.find("empty range"), std::string::npos) << empty.error().what;
}

TEST_F(DerivedLaunchesTest, ASizeIsRoundOnceAndEachIsZeroOnce) {
  bool round = false, none = false;
  const DerivedLaunches all = derive();
  for (const DerivedLaunch &derived : only(all, Derivation::Sizes))
    round |= integer(derived.launch, 4) == 4096;
  for (const NotDerived &missing : all.missing)
    none |= missing.title == "n = 0";
  EXPECT_TRUE(round && none);
}

TEST_F(DerivedLaunchesTest, ALaunchThatNothingMakesSmallerIsNoFailure) {
  declaration_.arguments["n"] = "20000";
  declaration_.extents["out"] = "20000"; // more than the most, whatever n is
  EXPECT_FALSE(only(derive(), Derivation::Sizes).empty());
}

TEST_F(DerivedLaunchesTest, ABoolIsNeverAnythingElse) {
  specialization_.params[5] = {"steps", "bool", ParamKind::Scalar, 1, 1, "bool", 1, 0,
                               false,   false};
  declaration_.arguments["steps"] = "1";
  bool off = false;
  for (const DerivedLaunch &derived : derive().launches) {
    const char byte = std::get<ValueArg>(derived.launch.arguments[5]).bytes.at(0);
    EXPECT_TRUE(byte == 0 || byte == 1) << derived.title;
    off |= byte == 0;
  }
  EXPECT_TRUE(off);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const auto drawn = drawScalars({kernel_, specialization_, &declaration_}, declared(), seed);
    ASSERT_TRUE(drawn);
    EXPECT_LE(drawn->launch.bindings.at("steps"), 1);
  }
  declaration_.arguments["steps"] = "2";
  EXPECT_EQ(std::get<ValueArg>(declared().arguments[5]).bytes, std::string(1, '\1'));
}

TEST_F(DerivedLaunchesTest, AFactorOfZeroComesBack) {
  declaration_.arguments["factor"] = "0";
  bool any = false;
  for (const DerivedLaunch &derived : only(derive(), Derivation::Scalars)) {
    float factor = 0;
    std::memcpy(&factor, std::get<ValueArg>(derived.launch.arguments[3]).bytes.data(),
                sizeof factor);
    any |= factor != 0;
  }
  EXPECT_TRUE(any);
}

TEST_F(DerivedLaunchesTest, ARealNumberThatOthersAreComputedFromStays) {
  declaration_.arguments["factor"] = "half * n";
  declaration_.arguments["half"] = "0.5";
  for (const DerivedLaunch &derived : only(derive(), Derivation::Sizes)) {
    float factor = 0;
    std::memcpy(&factor, std::get<ValueArg>(derived.launch.arguments[3]).bytes.data(),
                sizeof factor);
    EXPECT_EQ(factor, 0.5f * float(integer(derived.launch, 4))) << derived.title;
  }
}

TEST_F(DerivedLaunchesTest, RequirementsOfRealNumbersHold) {
  declaration_.requirements = {"factor > 0", "factor < 1.75"};
  const DerivedLaunches all = derive();
  EXPECT_FALSE(only(all, Derivation::Contents).empty());
  std::set<float> factors;
  for (const DerivedLaunch &derived : all.launches) {
    float factor = 0;
    std::memcpy(&factor, std::get<ValueArg>(derived.launch.arguments[3]).bytes.data(),
                sizeof factor);
    EXPECT_TRUE(factor > 0 && factor < 1.75) << derived.title;
    factors.insert(factor);
  }
  EXPECT_GT(factors.size(), 1u);
}

TEST_F(DerivedLaunchesTest, ARequirementThatTheLaunchBreaksIsNamed) {
  declaration_.requirements = {"factor > 2"};
  const DerivedLaunches all = derive();
  EXPECT_TRUE(only(all, Derivation::Contents).empty());
  EXPECT_TRUE(std::ranges::any_of(all.missing, [](const NotDerived &missing) {
    return missing.why == "'require factor > 2' does not hold there";
  }));
}

TEST_F(DerivedLaunchesTest, WhatIsZeroBecomesSomethingElseAndIndicesRepeat) {
  declaration_.fills["in"] = Fill{FillKind::Zero, 0, 0};
  declaration_.fills["index"] = Fill{FillKind::Iota, 0, 0};
  bool notZero = false, repeated = false;
  for (const DerivedLaunch &derived : only(derive(), Derivation::Contents)) {
    const Fill &in = derived.launch.buffers[0].fill, &index = derived.launch.buffers[1].fill;
    notZero |= derived.maybeConditional && in.kind == FillKind::Uniform && in.low > 0;
    repeated |= index.kind == FillKind::Sorted && index.low == 0 && index.high == 3905;
  }
  EXPECT_TRUE(notZero && repeated);
}

TEST_F(DerivedLaunchesTest, MagnitudesReachWhereSquaresLeaveTheRange) {
  bool huge = false, minute = false;
  for (const DerivedLaunch &derived : only(derive(), Derivation::Contents)) {
    const Fill &in = derived.launch.buffers[0].fill;
    huge |= in.kind == FillKind::Uniform && in.high > 1e19 && in.high < 1e35;
    minute |= in.kind == FillKind::Uniform && in.high > 0 && in.high < 1e-20;
  }
  EXPECT_TRUE(huge && minute);
}

TEST_F(DerivedLaunchesTest, IndicesNeverLeaveWhatTheirFillSays) {
  const auto contents = only(derive(), Derivation::Contents);
  bool colliding = false, permuted = false, special = false;
  for (const DerivedLaunch &derived : contents) {
    const Fill &index = derived.launch.buffers[1].fill;
    EXPECT_GE(index.low, 0) << derived.title;
    EXPECT_LE(index.high, 63) << derived.title;
    colliding |= index.kind == FillKind::Colliding;
    permuted |= index.kind == FillKind::Permutation;
    special |= derived.launch.buffers[0].fill.kind == FillKind::Special && derived.nonFinite;
  }
  EXPECT_TRUE(colliding && permuted && special);
}

TEST_F(DerivedLaunchesTest, PointersGoFurtherTogetherAndAlone) {
  const auto placement = only(derive(), Derivation::Alignment);
  ASSERT_EQ(placement.size(), 7u);
  EXPECT_EQ(std::get<BufferArg>(placement[0].launch.arguments[0]).offset, 256u);
  EXPECT_EQ(std::get<BufferArg>(placement[2].launch.arguments[0]).offset, 4u);
  EXPECT_FALSE(placement[2].launch.buffers[2].output);
  // A condition on the second pointer is asked where the first is aligned.
  EXPECT_EQ(placement[4].title, "'index' alone one element further");
  EXPECT_EQ(std::get<BufferArg>(placement[4].launch.arguments[0]).offset, 0u);
  EXPECT_EQ(std::get<BufferArg>(placement[4].launch.arguments[1]).offset, 4u);
  EXPECT_TRUE(placement[4].launch.buffers[2].output);
  EXPECT_EQ(placement[4].launch.buffers[0].bytes % 64, 0u)
      << "and where n is a multiple of what a load takes";
  EXPECT_EQ(integer(placement[6].launch, 4), 1);
  EXPECT_EQ(std::get<BufferArg>(placement[6].launch.arguments[2]).offset, 4u);
}

TEST_F(DerivedLaunchesTest, TheSameLaunchesEachTime) {
  const DerivedLaunches one = derive(), other = derive();
  ASSERT_EQ(one.launches.size(), other.launches.size());
  for (std::size_t i = 0; i < one.launches.size(); ++i)
    EXPECT_EQ(one.launches[i].title, other.launches[i].title);
}

TEST_F(DerivedLaunchesTest, NumbersOfAStructAreScaledEachOnItsOwn) {
  KernelParam scale{"scale", "float3", ParamKind::Scalar, 12, 4, "f32", 3, 0, false, false};
  scale.members = {{"x", "f32", 0}, {"y", "f32", 4}, {"z", "f32", 8}};
  specialization_.params.push_back(scale);
  kernel_.launches[0].args.push_back("scale");
  declaration_.argumentMembers = {{"scale", {"1.0", "2.0", "0.0"}}};
  const auto derived = only(derive(), Derivation::Scalars);
  EXPECT_TRUE(std::ranges::any_of(derived, [](const DerivedLaunch &launch) {
    float held[3];
    std::memcpy(held, std::get<ValueArg>(launch.launch.arguments[6]).bytes.data(), sizeof held);
    return held[0] < 0 && held[1] < 0 && held[1] != 2 * held[0] && held[2] < 0;
  }));
}

TEST_F(DerivedLaunchesTest, NumbersFarFromZeroAreLittleApart) {
  const auto derived = only(derive(), Derivation::Contents);
  const auto far = std::ranges::find(derived, "contents: far above zero", &DerivedLaunch::title);
  const auto below = std::ranges::find(derived, "contents: far below zero", &DerivedLaunch::title);
  ASSERT_NE(far, derived.end());
  ASSERT_NE(below, derived.end());
  const Fill &fill = far->launch.buffers[0].fill;
  EXPECT_GE(fill.low / (fill.high - fill.low), 1000);
  EXPECT_EQ(below->launch.buffers[0].fill.high, -fill.low);
  EXPECT_EQ(far->launch.buffers[1].fill.high, 63) << "indices stay";
}

TEST_F(DerivedLaunchesTest, LengthsOfWhichNobodySaysAnythingExceedSixteenBits) {
  declaration_.arguments["n"] = "6000";
  declaration_.fills.clear();
  const auto isLong = [](const DerivedLaunch &derived) {
    return derived.unbounded && derived.launch.buffers[1].fill.high > 65536 &&
           derived.launch.buffers[1].fill.high < 1e6;
  };
  EXPECT_TRUE(std::ranges::any_of(derive().launches, isLong));
  declaration_.fills["index"] = Fill{FillKind::Uniform, 0, 63};
  EXPECT_FALSE(std::ranges::any_of(derive().launches, isLong));
}

TEST_F(DerivedLaunchesTest, AnInputThatCouldBeTheOutputIsIt) {
  const auto inPlace = [&]() -> std::optional<DerivedLaunch> {
    for (DerivedLaunch &derived : derive().launches)
      if (derived.inPlace)
        return std::move(derived);
    return std::nullopt;
  };
  const auto found = inPlace();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->title, "'in' and 'out' one buffer");
  const Buffer &both = found->launch.buffers[found->inPlace->both];
  EXPECT_EQ(std::get<BufferArg>(found->launch.arguments[2]).buffer, found->inPlace->both);
  EXPECT_EQ(both.name, "in") << "its contents are drawn as those of the input apart";
  EXPECT_FALSE(both.readOnly);
  const Launch &apart = found->inPlace->apart;
  EXPECT_EQ(apart.buffers[found->inPlace->output].name, "out");
  EXPECT_EQ(apart.buffers[found->inPlace->both].bytes, both.bytes);
  specialization_.params[2].restrict = true;
  EXPECT_FALSE(inPlace());
  specialization_.params[2].restrict = false;
  declaration_.extents["out"] = "2 * n";
  EXPECT_FALSE(inPlace()) << "of another size";
}

TEST_F(DerivedFromCapturedTest, WhereAnInputIsTheOutputWhatIsNotWrittenIsTheSame) {
  const auto pathApart = [&] {
    for (const DerivedLaunch &derived : derive(Derivation::Alignment))
      if (derived.inPlace)
        return derived.inPlace->apart.buffers[4].fill.path;
    return std::string("none is used in place");
  };
  EXPECT_EQ(pathApart(), launch_.buffers[4].fill.path);
  launch_.buffers[4].output = false; // its old contents stay in part, or are read
  EXPECT_EQ(pathApart(), launch_.buffers[0].fill.path);
}

TEST_F(DerivedFromCapturedTest, PointersGoFurtherInMoreMemory) {
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

TEST_F(DerivedFromCapturedTest, PointersStayAlignedAsRequired) {
  declaration_.requirements = {"in % 16 == 0"};
  std::size_t moved = 0;
  for (const DerivedLaunch &derived : derive(Derivation::Alignment)) {
    EXPECT_EQ(std::get<BufferArg>(derived.launch.arguments[0]).offset % 16, 0u);
    moved += std::get<BufferArg>(derived.launch.arguments[1]).offset % 16 != 0;
  }
  EXPECT_GT(moved, 0u); // another pointer alone
}

TEST_F(DerivedFromCapturedTest, APartIsTheFirstBlocks) {
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

TEST_F(DerivedFromCapturedTest, LessMemoryKeepsWhatPointersNeed) {
  std::get<BufferArg>(launch_.arguments[0]).offset = 1024;
  const Launch less = withLessMemory(launch_, 512);
  EXPECT_EQ(less.buffers[0].bytes, 1536u);
  EXPECT_EQ(less.buffers[1].bytes, 512u);
  EXPECT_EQ(less.buffers[3].bytes, launch_.buffers[3].bytes) << "addresses may be anywhere in it";
}

} // namespace
