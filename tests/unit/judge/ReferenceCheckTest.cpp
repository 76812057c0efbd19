// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/Checks.h"
#include "driver/judge/context/ErrorStatistics.h"
#include "driver/support/FileSystem.h"
#include "fakes/FakeBench.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace kopt;

namespace {

class PreciseErrors : public testing::Test {
protected:
  template <class T> std::filesystem::path file(const char *name, const std::vector<T> &values) {
    const auto path = folder_.path() / name;
    EXPECT_TRUE(writeFileAtomically(
        path, {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)}));
    return path;
  }
  /// Of float(value) with each float moved by `places` units in its last place.
  ErrorStatistics moved(double places) {
    std::vector<double> exact;
    std::vector<float> seen;
    for (int i = 0; i < 4000; ++i) {
      exact.push_back(1 + i * 0.00017321);
      seen.push_back(float(exact.back() + places * 0x1p-23 * (i % 2 ? 1 : -1)));
    }
    return *errorStatistics(buffer(), file("seen", seen), file("exact", exact));
  }
  static Buffer buffer(const char *scalar = "f32") {
    Buffer result;
    result.name = "out";
    result.scalar = scalar;
    return result;
  }
  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("reference"));
};

TEST_F(PreciseErrors, OfACheckThatIsGoneNobodyAsks) {
  fakes::FakeRunner runner(folder_.path());
  fakes::FakeFrontend frontend;
  fakes::FakeToolchain toolchain;
  CheckContext context(runner, fakes::makeSubject(), 1, {});
  const auto replays = std::make_shared<DerivedReplays>();
  auto check = makeReferenceCheck(replays, {frontend, toolchain, {}, folder_.path()});
  check.reset(); // a judge without this check makes it, too
  const auto wider =
      replays->weighing().widened(context, context.subject().workload.launches[0], {}, {});
  ASSERT_TRUE(wider);
  EXPECT_FALSE(*wider);
}

TEST_F(PreciseErrors, AreMeasured) {
  const std::vector<double> exact = {1, 2, -4, std::numeric_limits<double>::infinity()};
  const std::vector<float> seen = {1.5f, 2, -4.5f, 7};
  const auto statistics = errorStatistics(buffer(), file("seen", seen), file("exact", exact));
  ASSERT_TRUE(statistics);
  EXPECT_EQ(statistics->count, 3u);
  EXPECT_DOUBLE_EQ(statistics->worst, 0.5);
  EXPECT_DOUBLE_EQ(statistics->rms, std::sqrt(0.5 / 3));
  EXPECT_DOUBLE_EQ(statistics->bias, 0);
  EXPECT_DOUBLE_EQ(statistics->scale, std::sqrt(21.0 / 3));
  EXPECT_FALSE(
      errorStatistics(buffer(), file("short", std::vector<float>{1}), file("exact", exact)));
}

TEST_F(PreciseErrors, OfTheOriginalsKindAreAllowed) {
  const ErrorStatistics original = moved(0);
  EXPECT_FALSE(excessError(buffer(), original, original, 2));
  EXPECT_FALSE(excessError(buffer(), moved(1), original, 2))
      << *excessError(buffer(), moved(1), original, 2);
}

TEST_F(PreciseErrors, WhereTermsCancelTheOriginalsLuckIsNoMeasure) {
  // 0 +- 1e-9 in the original's order, 1e-7 in another one and where nothing cancels.
  const auto around = [&](double exact, double error) {
    std::vector<double> all(4000, exact);
    std::vector<float> seen;
    for (int i = 0; i < 4000; ++i)
      seen.push_back(float(exact + (i % 2 ? error : -error)));
    return *errorStatistics(buffer(), file("seen", seen), file("exact", all));
  };
  const ErrorStatistics lucky = around(1e-6, 1e-9), typical = around(0.5, 1e-7),
                        candidate = around(1e-6, 1.5e-7);
  EXPECT_TRUE(excessError(buffer(), candidate, lucky, 2));
  EXPECT_FALSE(excessError(buffer(), candidate, withErrorsOf(lucky, typical), 2));
  EXPECT_TRUE(excessError(buffer(), around(1e-6, 4e-7), withErrorsOf(lucky, typical), 2));
}

TEST_F(PreciseErrors, SubnormalNumbersHaveStepsToRoundTo) {
  const auto off = [&](int steps) {
    std::vector<double> exact;
    std::vector<float> seen;
    for (int i = 0; i < 1000; ++i) {
      exact.push_back((1000 + i) * 0x1p-149);
      seen.push_back(float((1000 + i + (i % 2 ? steps : -steps)) * 0x1p-149));
    }
    return *errorStatistics(buffer(), file("seen", seen), file("exact", exact));
  };
  EXPECT_FALSE(excessError(buffer(), off(7), off(0), 2));
  EXPECT_TRUE(excessError(buffer(), off(1000), off(0), 2))
      << "nothing is left where they are flushed";
}

TEST_F(PreciseErrors, OfSmallElementsBesideLargeOnesCount) {
  std::vector<double> exact;
  std::vector<float> seen, dropped;
  for (int i = 0; i < 4000; ++i) {
    exact.push_back(std::exp(i * 0.01 - 20));
    seen.push_back(float(exact.back()));
    dropped.push_back(exact.back() < 1e-6 ? 0 : seen.back());
  }
  const auto of = [&](const char *name, const std::vector<float> &values) {
    return *errorStatistics(buffer(), file(name, values), file("exact", exact));
  };
  const ErrorStatistics original = of("seen", seen);
  EXPECT_FALSE(excessError(buffer(), original, original, 2));
  const auto excess = excessError(buffer(), of("dropped", dropped), original, 2);
  ASSERT_TRUE(excess);
  EXPECT_NE(excess->find("of magnitude"), std::string::npos) << *excess;
}

TEST_F(PreciseErrors, OfElementsFarBelowTheLargestOnlyLargeOnesCount) {
  const auto off = [&](double part) { // of the smallest elements
    std::vector<double> exact;
    std::vector<float> seen;
    for (int i = 0; i < 4000; ++i) {
      exact.push_back(i % 2 ? 1 : 1e-29);
      seen.push_back(float(i % 2 ? 1 : 1e-29 * (1 + part)));
    }
    return *errorStatistics(buffer(), file("seen", seen), file("exact", exact));
  };
  EXPECT_FALSE(excessError(buffer(), off(0.004), off(0), 2));
  EXPECT_TRUE(excessError(buffer(), off(-1), off(0), 2)) << "they are dropped";
}

TEST_F(PreciseErrors, FarLargerOnesAreNamed) {
  const ErrorStatistics original = moved(0);
  const auto excess = excessError(buffer(), moved(20), original, 2);
  ASSERT_TRUE(excess);
  EXPECT_NE(excess->find("error of 'out'"), std::string::npos) << *excess;
}

TEST_F(PreciseErrors, AFactorThatIsRoundedOnceIsNoBias) {
  std::vector<double> exact;
  std::vector<float> divided, multiplied, twice;
  const float factor = 1.0f / 0.75f;
  for (int i = 0; i < 100000; ++i) {
    const float x = float(i) * 1e-5f;
    exact.push_back(double(x) / 0.75);
    divided.push_back(x / 0.75f);
    multiplied.push_back(x * factor);
    twice.push_back(x * std::nextafter(std::nextafter(factor, 2.0f), 2.0f));
  }
  const auto of = [&](const char *name, const std::vector<float> &values) {
    return *errorStatistics(buffer(), file(name, values), file("exact", exact));
  };
  const ErrorStatistics original = of("divided", divided);
  EXPECT_NEAR(original.mean, 2.0 / 3, 1e-3);
  EXPECT_FALSE(excessError(buffer(), of("multiplied", multiplied), original, 2));
  EXPECT_TRUE(excessError(buffer(), of("twice", twice), original, 2));
}

TEST_F(PreciseErrors, ASmallErrorThatAlwaysPointsOneWayIsABias) {
  ErrorStatistics original = moved(0), candidate = original;
  original.count = candidate.count = 100'000'000;
  candidate.bias = candidate.rms + 0x1p-24 * original.mean; // one factor may be rounded
  const auto excess = excessError(buffer(), candidate, original, 2);
  ASSERT_TRUE(excess);
  EXPECT_NE(excess->find("bias"), std::string::npos) << *excess;
  original.mean = original.bias = 0;
  candidate.bias = 0x1p-28 * original.scale; // less than any rounding: the data may repeat
  EXPECT_FALSE(excessError(buffer(), candidate, original, 2));
}

/// Errors of rows by columns: a part that each row has in common, one that each column has, one of
/// the element's own, and one of all.
std::vector<double> table(std::size_t rows, std::size_t columns, double ofRow, double ofColumn,
                          double own, double common) {
  std::mt19937 generator(7);
  std::normal_distribution<double> normal;
  std::vector<double> row(rows), column(columns), errors;
  for (double &each : row)
    each = ofRow * normal(generator);
  for (double &each : column)
    each = ofColumn * normal(generator);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c)
      errors.push_back(row[r] + column[c] + own * normal(generator) + common);
  return errors;
}

// Of a type of which it was unknown, no error of the original's own widened what a candidate may be
// off: sums in half precision that were nearer to the exact ones than the original's were refused.
TEST(MostRounding, IsKnownOfEveryTypeOfFloatingPoint) {
  double narrower = 1;
  for (const char *scalar : {"bf16", "f16", "f32", "f64"}) {
    EXPECT_GT(mostRounding(scalar), 0) << scalar;
    EXPECT_LT(mostRounding(scalar), narrower) << scalar;
    narrower = mostRounding(scalar);
  }
  EXPECT_EQ(mostRounding("i32"), 0);
}

TEST(GroupedChance, OfIndependentErrorsThereIsNone) {
  EXPECT_EQ(groupedChance(table(70, 499, 0, 0, 1, 0), {70, 499}), 0);
  EXPECT_EQ(groupedChance(table(70, 499, 0, 0, 1, 0.5), {70, 499}), 0) << "a bias is no dependence";
  EXPECT_EQ(groupedChance(std::vector<double>(100, 0), {10}), 0);
  EXPECT_EQ(groupedChance({1}, {1}), 0);
  EXPECT_EQ(groupedChance({}, {}), 0);
}

TEST(GroupedChance, RowsAndColumnsAreFewerThanElements) {
  // The mean of 40 numbers of standard deviation 1 is 0.16 by chance; four times that, and
  // Student's more, is allowed.
  for (const auto &errors : {table(40, 500, 1, 0, 0.1, 0), table(500, 40, 0, 1, 0.1, 0)}) {
    const double chance = groupedChance(errors, {40, 500});
    EXPECT_GT(chance, 0.16 * 4 * 0.7);
    EXPECT_LT(chance, 0.16 * 4 * 1.6);
  }
  EXPECT_GT(groupedChance(table(40, 500, 1, 0, 0.1, 0), {}), 0.3)
      << "neighbours are tried without knowing the row";
  EXPECT_EQ(groupedChance(table(3, 500, 1, 0, 0.1, 0), {500}),
            groupedChance(table(3, 500, 1, 0, 0.1, 0), {}))
      << "three groups say nothing";
}

TEST(GroupedChance, ABiasOfAllRowsIsMoreThanChance) {
  EXPECT_LT(groupedChance(table(40, 500, 0.1, 0, 0.1, -1), {40, 500}), 0.2);
}

TEST_F(PreciseErrors, ARowsCommonErrorIsNoBias) {
  ErrorStatistics original = moved(0), candidate = original;
  candidate.bias = candidate.rms + 0x1p-24 * original.mean;
  EXPECT_TRUE(excessError(buffer(), candidate, original, 2));
  candidate.groupedChance = 1.01 * candidate.bias;
  EXPECT_FALSE(excessError(buffer(), candidate, original, 2));
}

TEST_F(PreciseErrors, ANumberThatIsNoneIsAnExcess) {
  const ErrorStatistics original = moved(0);
  ErrorStatistics candidate = original;
  --candidate.count;
  EXPECT_TRUE(excessError(buffer(), candidate, original, 2));
  candidate = original;
  candidate.worst = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(excessError(buffer(), candidate, original, 2));
}

} // namespace
