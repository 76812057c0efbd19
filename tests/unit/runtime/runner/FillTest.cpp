// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/Fill.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <set>

namespace {

using namespace kopt::runtime;

BufferSpec spec(const std::string &scalar, FillKind fill = FillKind::Uniform, double low = -1,
                double high = 1) {
  BufferSpec out;
  out.bytes = 1 << 16;
  out.scalar = scalar;
  out.fill = fill;
  out.low = low;
  out.high = high;
  return out;
}

std::vector<std::byte> contents(const BufferSpec &buffer, std::uint64_t seed = 7,
                                std::uint64_t stream = 0) {
  std::vector<std::byte> bytes(buffer.bytes);
  drawContents(buffer, seed, stream, 0, bytes.size(), bytes.data());
  return bytes;
}

template <class T> std::vector<T> values(const BufferSpec &buffer) {
  const std::vector<std::byte> bytes = contents(buffer);
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

double fromHalf(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

double fromBfloat(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

constexpr const char *kScalars[] = {"f16", "bf16", "f32", "f64", "i8",   "u8", "i16",   "u16",
                                    "i32", "u32",  "i64", "u64", "bool", "",   "struct"};

TEST(Fill, MembersOfAStructAreDrawnAsTheirTypes) {
  struct Element {
    float x;
    int tag;
    double y;
    std::uint8_t flag;
    char padding[7];
  };
  BufferSpec buffer = spec("struct 24 f32 0 i32 4 f64 8 bool 16", FillKind::Uniform, -3, 3);
  buffer.bytes = 24 * 5000 + 10; // it may end inside an element
  const std::vector<std::byte> whole = contents(buffer);
  std::set<int> tags;
  double sum = 0;
  for (int i = 0; i < 5000; ++i) {
    Element element;
    std::memcpy(&element, whole.data() + 24 * i, sizeof element);
    ASSERT_LE(std::abs(element.x), 3);
    ASSERT_LE(std::abs(element.y), 3);
    ASSERT_NE(double(element.x), element.y) << "members are drawn by themselves";
    ASSERT_LE(element.flag, 1);
    tags.insert(element.tag);
    sum += element.x;
  }
  EXPECT_EQ(tags, (std::set<int>{-3, -2, -1, 0, 1, 2, 3}));
  EXPECT_NEAR(sum / 5000, 0, 0.15);
  // Any part can be drawn again.
  for (const std::size_t offset :
       {std::size_t(8), std::size_t(24 * 1024 - 16), std::size_t(24 * 3000)}) {
    std::vector<std::byte> part(1000);
    drawContents(buffer, 7, 0, offset, part.size(), part.data());
    EXPECT_EQ(std::memcmp(part.data(), whole.data() + offset, part.size()), 0) << offset;
  }
  buffer.jitter = true;
  const std::vector<std::byte> moved = contents(buffer);
  float before, after;
  std::memcpy(&before, whole.data(), 4), std::memcpy(&after, moved.data(), 4);
  EXPECT_NEAR(before, after, 1e-6);
  EXPECT_NE(whole, moved);
  for (int i = 0; i < 5000; ++i)
    ASSERT_EQ(std::memcmp(whole.data() + 24 * i + 4, moved.data() + 24 * i + 4, 4), 0)
        << "an integer does not move";
}

TEST(StructType, WhatIsMalformedIsNone) {
  EXPECT_TRUE(StructType::parse("struct 8 f32 0 i32 4"));
  for (const char *text : {"", "f32", "struct", "struct 8", "struct 8 f32", "struct 8 f32 6",
                           "struct 8 f33 0", "struct 8 f32 0 i32", "struct -8 f32 0",
                           "struct 8 f32 4294967295", "struct  8 f32 0", "structs 8 f32 0"})
    EXPECT_FALSE(StructType::parse(text)) << text;
}

TEST(Fill, AnyPartIsDrawnAlike) {
  for (const char *scalar : kScalars) {
    const BufferSpec buffer = spec(scalar, FillKind::Uniform, -100, 100);
    const std::vector<std::byte> whole = contents(buffer);
    std::vector<std::byte> part(1001); // ends inside an element
    drawContents(buffer, 7, 0, 4096, part.size(), part.data());
    EXPECT_EQ(std::memcmp(part.data(), whole.data() + 4096, part.size()), 0) << scalar;
  }
}

TEST(Fill, SeedsAndBuffersDiffer) {
  const BufferSpec buffer = spec("f32");
  EXPECT_EQ(contents(buffer, 7, 0), contents(buffer, 7, 0));
  EXPECT_NE(contents(buffer, 7, 0), contents(buffer, 8, 0));
  EXPECT_NE(contents(buffer, 7, 0), contents(buffer, 7, 1));
}

// The bytes are part of what a stored trial means: they must never change.
TEST(Fill, BytesAreFixed) {
  const std::vector<float> drawn = values<float>(spec("f32"));
  EXPECT_EQ(drawn[0], 0.218789056f);
  const std::vector<std::int32_t> whole =
      values<std::int32_t>(spec("i32", FillKind::Uniform, 0, 999));
  EXPECT_EQ(whole[0], 609);
  EXPECT_EQ(whole[1], 409);
}

TEST(Fill, UniformFloatsFillTheirRange) {
  double sum = 0, least = 9, most = -9;
  const std::vector<float> drawn = values<float>(spec("f32", FillKind::Uniform, -1, 3));
  for (const float value : drawn) {
    sum += value;
    least = std::min<double>(least, value);
    most = std::max<double>(most, value);
  }
  EXPECT_GE(least, -1);
  EXPECT_LE(most, 3);
  EXPECT_LT(least, -0.99);
  EXPECT_GT(most, 2.99);
  EXPECT_NEAR(sum / double(drawn.size()), 1, 0.05);
}

TEST(Fill, NarrowFloatsRoundToNearest) {
  const std::vector<std::uint16_t> halves =
      values<std::uint16_t>(spec("f16", FillKind::Uniform, -2, 2));
  const std::vector<std::uint16_t> bfloats =
      values<std::uint16_t>(spec("bf16", FillKind::Uniform, -2, 2));
  const std::vector<double> exact = values<double>(spec("f64", FillKind::Uniform, -2, 2));
  for (std::size_t i = 0; i < exact.size(); ++i) { // the same draw lies behind all three
    EXPECT_NEAR(fromHalf(halves[i]), exact[i], std::fabs(exact[i]) * 0x1p-11 + 0x1p-25);
    EXPECT_NEAR(fromBfloat(bfloats[i]), exact[i], std::fabs(exact[i]) * 0x1p-8 + 1e-30);
  }
}

TEST(Fill, HalfConstantsAreExactAtTheEdges) {
  const auto half = [](double value) {
    return values<std::uint16_t>(spec("f16", FillKind::Constant, value))[0];
  };
  EXPECT_EQ(half(0), 0x0000);
  EXPECT_EQ(half(1), 0x3c00);
  EXPECT_EQ(half(-2), 0xc000);
  EXPECT_EQ(half(65504), 0x7bff);
  EXPECT_EQ(half(1e9), 0x7bff);         // clipped, not infinite
  EXPECT_EQ(half(0x1p-24), 0x0001);     // least subnormal
  EXPECT_EQ(half(0x1p-14), 0x0400);     // least normal
  EXPECT_EQ(half(1 + 0x1p-11), 0x3c00); // a tie goes to even
  EXPECT_EQ(half(1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(half(2 - 0x1p-12), 0x4000); // rounds into the next binade
}

TEST(Fill, NeverNanOrInfinite) {
  for (const double bound : {1.0, 1e300, 1.7e308})
    for (const FillKind kind : {FillKind::Uniform, FillKind::Iota, FillKind::Constant}) {
      for (const float value : values<float>(spec("f32", kind, -bound, bound)))
        ASSERT_TRUE(std::isfinite(value));
      for (const double value : values<double>(spec("f64", kind, -bound, bound)))
        ASSERT_TRUE(std::isfinite(value));
      for (const std::uint16_t value : values<std::uint16_t>(spec("f16", kind, -bound, bound)))
        ASSERT_NE(value & 0x7c00, 0x7c00);
      for (const std::uint16_t value : values<std::uint16_t>(spec("bf16", kind, -bound, bound)))
        ASSERT_NE(value & 0x7f80, 0x7f80);
    }
}

TEST(Fill, DerivedKindsStayInTheirRangeAndDrawPartsAlike) {
  for (const FillKind kind : {FillKind::Integers, FillKind::Sorted, FillKind::Cancelling,
                              FillKind::Permutation, FillKind::Colliding, FillKind::Scattered})
    for (const char *scalar : {"f16", "f32", "f64", "i32", "u8", "i64"}) {
      const BufferSpec buffer = spec(scalar, kind, -3, 90);
      const std::vector<std::byte> whole = contents(buffer);
      std::vector<std::byte> part(1024);
      drawContents(buffer, 7, 0, 8192, part.size(), part.data());
      EXPECT_EQ(std::memcmp(part.data(), whole.data() + 8192, part.size()), 0)
          << scalar << int(kind);
    }
  for (const FillKind kind : {FillKind::Integers, FillKind::Sorted, FillKind::Cancelling,
                              FillKind::Permutation, FillKind::Colliding, FillKind::Scattered}) {
    for (const float value : values<float>(spec("f32", kind, -3, 90)))
      ASSERT_TRUE(value >= -3 && value <= 90) << int(kind);
    for (const std::int32_t value : values<std::int32_t>(spec("i32", kind, -3, 90)))
      ASSERT_TRUE(value >= -3 && value <= 90) << int(kind);
  }
}

TEST(Fill, EachDerivedKindIsWhatItIsFor) {
  for (const float value : values<float>(spec("f32", FillKind::Integers, -15, 15)))
    ASSERT_EQ(value, std::round(value));
  const std::vector<float> sorted = values<float>(spec("f32", FillKind::Sorted, -1, 1));
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  EXPECT_EQ(sorted.front(), -1);
  EXPECT_GT(sorted.back(), 0.99f);
  for (const std::size_t bytes :
       {4u * 1000, 4u * 77}) { // where rows begin: some are empty, one is long
    BufferSpec begins = spec("i32", FillKind::Uneven, 0, 100'000);
    begins.bytes = bytes;
    const std::vector<std::int32_t> rows = values<std::int32_t>(begins);
    ASSERT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    EXPECT_EQ(rows.front(), 0);
    EXPECT_LE(rows.back(), 100'000);
    EXPECT_EQ(rows[20], rows[19]);
  }
  const std::vector<float> pairs = values<float>(spec("f32", FillKind::Cancelling, -8, 8));
  for (std::size_t i = 0; i < pairs.size(); i += 2)
    ASSERT_LE(std::fabs(pairs[i] + pairs[i + 1]), 0.0011f * std::fabs(pairs[i]));
  std::vector<std::int32_t> indices =
      values<std::int32_t>(spec("i32", FillKind::Permutation, 10, 1009));
  EXPECT_FALSE(std::is_sorted(indices.begin(), indices.begin() + 1000));
  std::sort(indices.begin(), indices.begin() + 1000);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(indices[std::size_t(i)], 10 + i);
  std::set<std::int32_t> places;
  for (const std::int32_t value : values<std::int32_t>(spec("i32", FillKind::Colliding, 0, 100)))
    places.insert(value);
  EXPECT_EQ(places, (std::set<std::int32_t>{0, 50, 100}));
  std::map<int, std::size_t> magnitudes;
  std::size_t below = 0;
  const std::vector<float> scattered = values<float>(spec("f32", FillKind::Scattered, -1, 1));
  for (const float value : scattered) {
    ++magnitudes[std::ilogb(value)];
    below += value < 0;
  }
  EXPECT_GE(magnitudes.size(), 30u);
  for (const auto &[magnitude, count] : magnitudes)
    EXPECT_LT(count, scattered.size() / 10) << magnitude;
  EXPECT_GT(below, scattered.size() / 3);
  EXPECT_LT(below, scattered.size() * 2 / 3);
  for (const float value : values<float>(spec("f32", FillKind::Scattered, 2, 4)))
    ASSERT_TRUE(value >= 2 && value <= 4);
  std::size_t nans = 0, infinities = 0;
  const std::vector<float> special = values<float>(spec("f32", FillKind::Special));
  for (const float value : special) {
    nans += std::isnan(value);
    infinities += std::isinf(value);
  }
  EXPECT_GT(nans, special.size() / 256);
  EXPECT_GT(infinities, special.size() / 128);
  EXPECT_LT(nans + infinities, special.size() / 20);
  BufferSpec few = spec("f32", FillKind::Special);
  few.bytes = 20 * sizeof(float);
  std::set<int> kinds; // NaN, infinity of either sign, minus zero, another
  for (const float value : values<float>(few))
    kinds.insert(std::isnan(value) ? 0 : std::isinf(value) ? 1 + (value < 0) : value == 0 ? 3 : 4);
  EXPECT_EQ(kinds.size(), 5u);
  for (const double value : values<double>(spec("f64", FillKind::Tiny)))
    ASSERT_LT(std::fabs(value), std::numeric_limits<double>::min());
  bool negative = false;
  for (const float value : values<float>(spec("f32", FillKind::Tiny, 0, 1)))
    negative |= std::signbit(value);
  EXPECT_FALSE(negative);
}

TEST(Fill, WidenedElementsAreTheNarrowOnes) {
  const std::vector<float> singles = values<float>(spec("f32"));
  BufferSpec wide = spec("f64");
  wide.bytes *= 2;
  wide.drawnAs = "f32";
  const std::vector<double> doubles = values<double>(wide);
  ASSERT_EQ(doubles.size(), singles.size());
  for (std::size_t i = 0; i < doubles.size(); ++i)
    ASSERT_EQ(doubles[i], double(singles[i]));
  for (const auto &[scalar, widen] :
       {std::pair("f16", &fromHalf), std::pair("bf16", &fromBfloat)}) {
    const std::vector<std::uint16_t> narrow =
        values<std::uint16_t>(spec(scalar, FillKind::Uniform, -9, 9));
    BufferSpec four = spec("f64", FillKind::Uniform, -9, 9);
    four.bytes *= 4;
    four.drawnAs = scalar;
    const std::vector<double> whole = values<double>(four);
    ASSERT_EQ(whole.size(), narrow.size());
    for (std::size_t i = 0; i < whole.size(); ++i)
      ASSERT_EQ(whole[i], widen(narrow[i])) << scalar;
    std::vector<std::byte> part(4096);
    drawContents(four, 7, 0, 16384, part.size(), part.data());
    EXPECT_EQ(std::memcmp(part.data(), whole.data() + 2048, part.size()), 0);
  }
}

TEST(Fill, JitterMovesByAtMostOneUnitInTheLastPlace) {
  BufferSpec buffer = spec("f32");
  const std::vector<float> plain = values<float>(buffer);
  buffer.jitter = true;
  const std::vector<float> moved = values<float>(buffer);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    ASSERT_TRUE(moved[i] == plain[i] || moved[i] == std::nextafter(plain[i], 9.f) ||
                moved[i] == std::nextafter(plain[i], -9.f));
    changed += moved[i] != plain[i];
  }
  EXPECT_GT(changed, plain.size() / 2);
  BufferSpec whole = spec("i32", FillKind::Uniform, 0, 9);
  const std::vector<std::int32_t> integers = values<std::int32_t>(whole);
  whole.jitter = true;
  EXPECT_EQ(values<std::int32_t>(whole), integers);
}

TEST(Fill, IntegersIncludeBothEnds) {
  std::array<int, 3> seen{};
  for (const std::int32_t value : values<std::int32_t>(spec("i32", FillKind::Uniform, -1, 1))) {
    ASSERT_GE(value, -1);
    ASSERT_LE(value, 1);
    ++seen[std::size_t(value + 1)];
  }
  for (const int count : seen)
    EXPECT_GT(count, 5000); // of 16384
}

TEST(Fill, IntegersAreClippedToTheirType) {
  for (const std::uint8_t value : values<std::uint8_t>(spec("u8", FillKind::Uniform, -5, 1e9)))
    ASSERT_LE(value, 255);
  EXPECT_EQ(values<std::uint64_t>(spec("u64", FillKind::Constant, 1e30))[0], UINT64_MAX);
  EXPECT_EQ(values<std::int64_t>(spec("i64", FillKind::Constant, -1e30))[0], INT64_MIN);
  EXPECT_EQ(values<std::int8_t>(spec("i8", FillKind::Constant, 1000))[0], 127);
  for (const std::uint8_t value : values<std::uint8_t>(spec("bool", FillKind::Uniform, -9, 9)))
    ASSERT_LE(value, 1);
}

TEST(Fill, IotaCountsAndWrapsWhereItStaysExact) {
  EXPECT_EQ(values<std::int32_t>(spec("i32", FillKind::Iota))[12345], 12345);
  EXPECT_EQ(values<float>(spec("f32", FillKind::Iota))[12345], 12345.0f);
  EXPECT_EQ(fromHalf(values<std::uint16_t>(spec("f16", FillKind::Iota))[2048 + 5]), 5);
  EXPECT_EQ(values<std::int8_t>(spec("i8", FillKind::Iota))[128 + 3], 3);
}

TEST(Fill, PoisonsDifferInEveryBit) {
  std::vector<std::byte> first(999), second(999), part(100);
  drawPoison(3, 1, false, 0, first.size(), first.data());
  drawPoison(3, 1, true, 0, second.size(), second.data());
  for (std::size_t i = 0; i < first.size(); ++i)
    ASSERT_EQ(first[i] ^ second[i], std::byte{0xff});
  drawPoison(3, 1, false, 104, part.size(), part.data());
  EXPECT_EQ(std::memcmp(part.data(), &first[104], part.size()), 0);
  drawPoison(4, 1, false, 0, second.size(), second.data());
  EXPECT_NE(first, second);
}

TEST(Fill, GivenValuesStandAsTheyAreAndZerosFollow) {
  BufferSpec shape = spec("i32", FillKind::Values);
  const std::int32_t given[] = {41, 13, -11};
  shape.values.assign(reinterpret_cast<const char *>(given), sizeof given);
  shape.bytes = 16;
  EXPECT_EQ(values<std::int32_t>(shape), (std::vector<std::int32_t>{41, 13, -11, 0}));
  shape.bytes = 8;
  EXPECT_EQ(values<std::int32_t>(shape), (std::vector<std::int32_t>{41, 13}));
  // Any part of it is the same bytes as that part of the whole.
  std::int32_t last = 0;
  shape.bytes = 16;
  drawContents(shape, 7, 0, 8, sizeof last, reinterpret_cast<std::byte *>(&last));
  EXPECT_EQ(last, -11);
}

TEST(Fill, GivenValuesAreWidenedForTheReference) {
  BufferSpec wide = spec("f64", FillKind::Values);
  const float given[] = {0.5f, -3.0f};
  wide.values.assign(reinterpret_cast<const char *>(given), sizeof given);
  wide.drawnAs = "f32";
  wide.bytes = 16;
  EXPECT_EQ(values<double>(wide), (std::vector<double>{0.5, -3.0}));
}

} // namespace
