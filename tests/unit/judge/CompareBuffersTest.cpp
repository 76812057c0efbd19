// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/context/CompareBuffers.h"

#include "driver/support/FileSystem.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace kopt;

namespace {

class JudgeTest : public testing::Test {
protected:
  template <class T>
  std::filesystem::path file(const std::string &name, const std::vector<T> &values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    const auto path = folder_.path() / name;
    EXPECT_TRUE(writeFileAtomically(path, bytes));
    return path;
  }

  template <class T>
  std::optional<Mismatch> compare(const std::string &scalar, const std::vector<T> &expected,
                                  const std::vector<T> &actual, Tolerance tolerance = {}) {
    Buffer buffer;
    buffer.name = "out";
    buffer.scalar = scalar;
    buffer.bytes = expected.size() * sizeof(T);
    auto result =
        compareBuffers(buffer, tolerance, file("expected", expected), file("actual", actual));
    EXPECT_TRUE(result);
    return *result;
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("judge"));
};

const float kNaN = std::numeric_limits<float>::quiet_NaN();
const float kInf = std::numeric_limits<float>::infinity();

TEST_F(JudgeTest, EqualBytesAreEqual) {
  EXPECT_FALSE(compare<float>("f32", {1, kNaN, -0.f}, {1, kNaN, -0.f}));
}

TEST_F(JudgeTest, ReorderedSumsOfFloatsAreWithinTheDefault) {
  EXPECT_FALSE(compare<float>("f32", {100, 200, 300}, {100.0005f, 200, 300}));
}

TEST_F(JudgeTest, OneWrongElementAmongManyIsFound) {
  std::vector<float> expected(100000, 1), actual = expected;
  actual[77777] = 1.01f;
  const auto mismatch = compare("f32", expected, actual);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 77777u);
  EXPECT_EQ(mismatch->wrong, 1u);
  EXPECT_EQ(mismatch->total, 100000u);
}

TEST_F(JudgeTest, AnElementThatJumpsExcusesNoOther) {
  const std::vector<std::int32_t> expected = {10, 20, 30, 40}, moved = {10, 23, 30, 40};
  Buffer buffer;
  buffer.name = "out";
  buffer.scalar = "i32";
  buffer.bytes = 16;
  const auto furthest =
      furthestOf(buffer, file("expected", expected), {file("one", expected), file("other", moved)});
  ASSERT_TRUE(furthest);
  Slack slack;
  slack.moved = std::make_shared<const std::string>(*furthest);
  const auto wrong = [&](std::vector<std::int32_t> actual) {
    return bool(
        *compareBuffers(buffer, {}, file("expected", expected), file("actual", actual), slack));
  };
  EXPECT_FALSE(wrong({10, 17, 30, 40}));
  EXPECT_TRUE(wrong({10, 20, 31, 40})) << "that one does not jump";
  EXPECT_TRUE(wrong({10, 2000, 30, 40})) << "nor that far";
}

TEST_F(JudgeTest, MovementIsThatOfMostElements) {
  std::vector<float> expected(1000, 1), moved(1000, 1.001f);
  moved[7] = 0;
  Buffer buffer;
  buffer.scalar = "f32";
  const auto movement = movementOf(buffer, file("expected", expected), file("moved", moved));
  ASSERT_TRUE(movement);
  EXPECT_NEAR(movement->usual, 1e-3, 1e-6);
  EXPECT_NEAR(movement->tolerated, 1e-5, 1e-9);
}

TEST_F(JudgeTest, SmallElementsAreJudgedAtTheScaleOfTheOutputNotByAnAbsoluteFloor) {
  // All values are tiny: an absolute tolerance of 1e-5 would let zeros pass.
  EXPECT_TRUE(compare<float>("f32", {1e-7f, 2e-7f}, {0, 0}));
}

TEST_F(JudgeTest, NaNMatchesOnlyNaN) {
  EXPECT_TRUE(compare<float>("f32", {1, 2}, {1, kNaN}));
  EXPECT_TRUE(compare<float>("f32", {1, kNaN}, {1, 2}));
}

TEST_F(JudgeTest, InfinityMatchesOnlyItsSign) {
  EXPECT_TRUE(compare<float>("f32", {kInf, 1}, {-kInf, 1}));
  EXPECT_TRUE(compare<float>("f32", {kInf, 1}, {3e38f, 1}));
}

TEST_F(JudgeTest, IntegersAreExact) {
  EXPECT_TRUE(compare<int>("i32", {1000000}, {1000001}));
  EXPECT_FALSE(compare<int>("i32", {7, 8}, {7, 8}));
}

TEST_F(JudgeTest, LargeIntegersThatADoubleCannotTellApartDiffer) {
  EXPECT_TRUE(
      compare<std::int64_t>("i64", {(std::int64_t(1) << 60)}, {(std::int64_t(1) << 60) + 1}));
}

TEST_F(JudgeTest, IntegersAreShownWithEveryDigit) {
  const auto said = [&]<class T>(const std::string &scalar, T expected, T actual) {
    Buffer buffer;
    buffer.name = "out";
    const auto mismatch = compare<T>(scalar, {T(1), expected}, {T(1), actual});
    return mismatch ? mismatch->describe(buffer) : "the same";
  };
  EXPECT_EQ(said("u32", 3929649027u, 3929649025u),
            "out[1] is 3929649025, expected 3929649027; 1 of 2 elements differ, worst error 2 "
            "(allowed 0)");
  EXPECT_EQ(said("u64", std::uint64_t(18446744073709551615u), std::uint64_t(18446744073709551614u)),
            "out[1] is 18446744073709551614, expected 18446744073709551615; 1 of 2 elements "
            "differ, worst error 1 (allowed 0)");
  EXPECT_EQ(said("i64", std::numeric_limits<std::int64_t>::min(),
                 std::numeric_limits<std::int64_t>::max()),
            "out[1] is 9223372036854775807, expected -9223372036854775808; 1 of 2 elements differ, "
            "worst error "
            "18446744073709551615 (allowed 0)");
  EXPECT_EQ(said("i8", std::int8_t(-128), std::int8_t(65)),
            "out[1] is 65, expected -128; 1 of 2 elements differ, worst error 193 (allowed 0)");
  EXPECT_EQ(said("u8", std::uint8_t(255), std::uint8_t(0)),
            "out[1] is 0, expected 255; 1 of 2 elements differ, worst error 255 (allowed 0)");
  EXPECT_EQ(
      said("f32", 0.5f, 2.0f),
      "out[1] is 2, expected 0.5; 1 of 2 elements differ, worst error 1.5 (allowed 7.91e-06)");
}

TEST_F(JudgeTest, TheWorstOfLargeIntegersIsToldByAllTheirDigits) {
  // As doubles the first two are the same.
  const std::int64_t large = std::int64_t(1) << 60;
  const auto mismatch = compare<std::int64_t>("i64", {large, 0, large}, {large + 1, 0, large + 3});
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 0u);
  EXPECT_EQ(mismatch->worst, "3");
}

TEST_F(JudgeTest, StrictIsBitwiseButForNaNs) {
  Tolerance strict{TolerancePolicy::Strict, 0, 0};
  EXPECT_TRUE(compare<float>("f32", {1}, {std::nextafter(1.f, 2.f)}, strict));
  EXPECT_TRUE(compare<float>("f32", {0.f}, {-0.f}, strict));
  EXPECT_FALSE(compare<float>("f32", {kNaN}, {-kNaN}, strict));
}

TEST_F(JudgeTest, UserToleranceIsRelativePlusAbsolute) {
  Tolerance user{TolerancePolicy::User, 1e-2, 1e-3};
  EXPECT_FALSE(compare<float>("f32", {1, 0}, {1.009f, 0.0009f}, user));
  EXPECT_TRUE(compare<float>("f32", {1, 0}, {1, 0.002f}, user));
}

TEST_F(JudgeTest, HalvesAreReadAsHalves) {
  EXPECT_FALSE(compare<std::uint16_t>("f16", {0x3c00}, {0x3c01})); // 1 and the next half
  EXPECT_TRUE(compare<std::uint16_t>("f16", {0x3c00}, {0x3c40}));  // 1 and 1.0625
  EXPECT_TRUE(compare<std::uint16_t>("bf16", {0x3f80}, {0x3f90})); // 1 and 1.125
}

TEST_F(JudgeTest, NoNumberOfThreadsChangesAnything) {
  std::mt19937 random(5);
  std::vector<float> expected(3'000'001), actual;
  for (float &value : expected)
    value = float(random()) / 1e6f;
  expected[1'234'567] = kNaN;
  actual = expected;
  for (std::size_t i = 65'536; i < actual.size(); i += 777)
    actual[i] *= 1 + float(random() % 100) * 1e-6f;
  Buffer buffer;
  buffer.name = "out";
  buffer.scalar = "f32";
  buffer.bytes = 4 * expected.size();
  const auto bytes = [](const std::vector<float> &values) {
    return std::string_view(reinterpret_cast<const char *>(values.data()), 4 * values.size());
  };
  const auto one = compareContents(buffer, {}, bytes(expected), bytes(actual), 1);
  ASSERT_TRUE(one);
  EXPECT_GT(one->wrong, 100u);
  for (const unsigned threads : {2, 3, 7, 16}) {
    const auto many = compareContents(buffer, {}, bytes(expected), bytes(actual), threads);
    ASSERT_TRUE(many);
    EXPECT_EQ(many->index, one->index);
    EXPECT_EQ(many->wrong, one->wrong);
    EXPECT_EQ(many->total, one->total);
    EXPECT_EQ(many->worstError, one->worstError);
    EXPECT_EQ(many->allowed, one->allowed);
  }
}

TEST_F(JudgeTest, BytesAfterTheLastWholeElementCount) {
  Buffer buffer;
  buffer.name = "out";
  buffer.scalar = "f32";
  buffer.bytes = 6;
  const auto mismatch = compareContents(buffer, {}, {"abcdef", 6}, {"abcdeg", 6});
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 1u);
  EXPECT_EQ(mismatch->total, 2u);
  EXPECT_FALSE(compareContents(buffer, {}, {"abcdef", 6}, {"abcdef", 6}));
}

struct Tagged {
  float x;
  int tag;
  double y;
  char c;
  char padding[7];
};
constexpr const char *kTagged = "struct 24 f32 0 i32 4 f64 8 i8 16";

TEST_F(JudgeTest, MembersOfAStructAreJudgedEachByItsOwnType) {
  std::vector<Tagged> want;
  for (int i = 0; i < 100; ++i)
    want.push_back({100.f + float(i), i, 1e-3 * i, char(i), {}});
  std::vector<Tagged> got = want;
  got[7].x += 1e-4f; // another order of a sum
  got[8].padding[3] = 5;
  EXPECT_FALSE(compare(kTagged, want, got));
  EXPECT_TRUE(compare(kTagged, want, got, {TolerancePolicy::Strict, 0, 0})) << "by its members";
  got[7].x = want[7].x;
  EXPECT_FALSE(compare(kTagged, want, got, {TolerancePolicy::Strict, 0, 0}))
      << "padding is nobody's result";
  got[9].y += 1e-6; // far within a float's tolerance
  auto mismatch = compare(kTagged, want, got);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 9u);
  EXPECT_EQ(mismatch->member, 8u);
  EXPECT_EQ(mismatch->wrong, 1u);
  EXPECT_EQ(mismatch->total, 400u);
  got[9].y = want[9].y;
  got[31].tag = 5;
  got[32].tag = 5;
  mismatch = compare(kTagged, want, got);
  ASSERT_TRUE(mismatch);
  Buffer buffer;
  buffer.name = "out";
  EXPECT_EQ(mismatch->describe(buffer).substr(0, 36), "out[31] at byte 4 is 5, expected 31;");
  EXPECT_EQ(mismatch->wrong, 2u);
}

TEST_F(JudgeTest, AStructsLargestDifferenceIsOfItsFloatsAndItsIntegersAreTheSame) {
  Buffer buffer;
  buffer.scalar = kTagged;
  std::vector<Tagged> a = {{1, 2, 3, 4, {}}}, b = {{1.5f, 2, 3.25, 4, {}}};
  bool allFinite = true;
  auto largest = largestDifference(buffer, file("a", a), file("b", b), &allFinite);
  ASSERT_TRUE(largest && *largest);
  EXPECT_EQ(**largest, 0.5);
  EXPECT_TRUE(allFinite);
  b[0].tag = 3;
  largest = largestDifference(buffer, file("a", a), file("b", b), &allFinite);
  ASSERT_TRUE(largest);
  EXPECT_FALSE(*largest);
}

TEST_F(JudgeTest, AFileOfTheWrongLengthIsAnErrorNotAPass) {
  Buffer buffer;
  buffer.name = "out";
  buffer.scalar = "f32";
  buffer.bytes = 8;
  EXPECT_FALSE(compareBuffers(buffer, {}, file<float>("a", {1, 2}), file<float>("b", {1})));
}

} // namespace
