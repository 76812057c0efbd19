// SPDX-License-Identifier: Apache-2.0
// The rest of what a harness does is tested on whole harnesses: tests/e2e/harness_test.py.
#include "tests/fakes/cuda/HostRuntime.h"

#include "clang_plugin/output/harness/HarnessComparison.h"

#include <gtest/gtest.h>

namespace kopt_harness {
namespace {

Buffer bufferOf(const std::string &type, std::size_t bytes) {
  Launch launch;
  return addBuffer(launch, "x", bytes, type);
}

TEST(HarnessComparison, InventsNumbersOfEachType) {
  for (const char *type : {"f16", "bf16", "f32", "f64", "u8", "i64"}) {
    const Numbers numbers(bufferOf(type, 80));
    const Bytes bytes = bufferOf(type, 80).initial;
    const bool isFloating = numbers.field(0).isFloating();
    for (std::size_t i = 0; i < numbers.count; ++i) {
      const double value =
          std::strtod(textOf(numbers.field(i), &bytes[numbers.at(i)]).c_str(), nullptr);
      EXPECT_TRUE(value >= (isFloating ? -1 : 0) && value <= (isFloating ? 1 : 15)) << type;
    }
  }
}

TEST(HarnessComparison, CountsMembersOfStructsAndTheLastBytes) {
  const Numbers numbers(bufferOf("struct 8 f32 0 i16 4", 19));
  EXPECT_EQ(numbers.count, 7u);
  EXPECT_EQ(numbers.at(3), 12u);
  EXPECT_EQ(numbers.field(3).kind, 'i');
  EXPECT_EQ(numbers.at(6), 18u);
  EXPECT_EQ(numbers.field(6).size, 1u);
}

TEST(HarnessComparison, MarksWhatDiffersByMoreThanTheTolerance) {
  Buffer buffer = bufferOf("f32", 4 * sizeof(float));
  const float wanted[] = {1, 2, 3, 4}, found[] = {1, 2.1f, 3.000001f, 4};
  const auto bytesOf = [](const float *of) {
    const auto *bytes = reinterpret_cast<const unsigned char *>(of);
    return Bytes(bytes, bytes + 4 * sizeof(float));
  };
  const auto differing = [&](const char *tolerance) {
    return marked(differences(buffer, toleranceOf(tolerance), bytesOf(wanted), bytesOf(found)));
  };
  EXPECT_EQ(differing("default"), 1u);
  EXPECT_EQ(differing("strict"), 2u);
  EXPECT_EQ(differing("relative=0.1 absolute=0"), 0u);
}

} // namespace
} // namespace kopt_harness
