// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/CapturedNumbers.h"
#include "unit/workload/CapturedLaunchesFixture.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::test;

namespace {

using CapturedNumbersTest = CapturedLaunchesFixture;

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
  const DerivationSource source{kernel_, specialization_, &declaration_};
  const auto larger = CapturedNumbers(source, launch_).larger({{"n", 4 * kN}});
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
  const DerivationSource source{kernel_, specialization_, &declaration_};
  const CapturedNumbers numbers(source, launch_);
  EXPECT_EQ(numbers.larger({{"ld", 200}})->buffers[0].bytes, 4u * (kN - 200 + 1));
  EXPECT_EQ(numbers.larger({{"n", 3 * kN}})->buffers[0].bytes, 4u * (3 * kN - ld + 1));
  EXPECT_GE(numbers.larger({{"ld", 400}})->buffers[0].bytes, launch_.buffers[0].bytes);
}

TEST_F(CapturedNumbersTest, ANumberThatTheLaunchSiteComputesFollowsTheOthers) {
  launch_.buffers[3].holdsPointers = false;
  kernel_.launches[0].values.assign(10, "");
  kernel_.launches[0].values[7] = "(((n + 63) / 64) * 64)";
  const DerivationSource source{kernel_, specialization_, &declaration_};
  const CapturedNumbers numbers(source, launch_);
  EXPECT_EQ(numbers.allowed({{"n", 900}, {"ld", 900}}),
            (CapturedNumbers::Values{{"n", 900}, {"ld", 960}}));
  // All launches that change n keep the row distance that the site computes.
  for (const DerivedLaunch &derived : derive(Derivation::Sizes)) {
    const std::int64_t n = integer(derived.launch, 6);
    EXPECT_EQ(integer(derived.launch, 7), (n + 63) / 64 * 64) << derived.title;
  }
  kernel_.launches[0].values[7] = "(n * 2)"; // which it did not pass at the captured launch
  EXPECT_EQ(CapturedNumbers(source, launch_).allowed({{"n", 900}, {"ld", 900}}),
            (CapturedNumbers::Values{{"n", 900}, {"ld", 900}}));
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
