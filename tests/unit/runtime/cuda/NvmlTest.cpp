// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/Nvml.h"
#include "unit/runtime/cuda/FakeNvml.h"

#include <gmock/gmock.h>

namespace {

using kopt::runtime::cuda::Nvml;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class NvmlTest : public testing::Test {
protected:
  void SetUp() override { fakeNvml() = {}; }
  void TearDown() override { fakeNvml() = {}; }
};

TEST_F(NvmlTest, KnowsTheStateOfTheGpu) {
  const Nvml nvml("0000:00:00.0");
  EXPECT_EQ(nvml.smClockMHz(), 1755u);
  fakeNvml().processes = 3;
  EXPECT_THAT(nvml.facts(),
              ElementsAre(Pair("compute_processes", "3"), Pair("driver_version", "580.1"),
                          Pair("ecc", "on"), Pair("max_sm_clock_mhz", "1980"), Pair("mig", "off"),
                          Pair("persistence", "on"), Pair("power_limit_w", "700"),
                          Pair("temperature_c", "41")));
  fakeNvml().hasMig = false;
  EXPECT_EQ(nvml.facts().count("mig"), 0u) << "what is unknown is absent";
}

TEST_F(NvmlTest, NamesWhatSpoilsAMeasurement) {
  const Nvml nvml("0000:00:00.0");
  EXPECT_THAT(nvml.throttleReasons(), IsEmpty());
  fakeNvml().reasons = 0x01 | 0x04; // idle, and capped by the power limit
  EXPECT_THAT(nvml.throttleReasons(), IsEmpty());
  fakeNvml().reasons = 0x40 | 0x08;
  EXPECT_THAT(nvml.throttleReasons(), ElementsAre("hw-slowdown", "hw-thermal"));
}

TEST_F(NvmlTest, WithoutNvmlNothingIsKnown) {
  fakeNvml().initResult = 9;
  const Nvml nvml("0000:00:00.0");
  EXPECT_EQ(nvml.smClockMHz(), 0u);
  EXPECT_THAT(nvml.facts(), IsEmpty());
  EXPECT_THAT(nvml.throttleReasons(), IsEmpty());
}

} // namespace
