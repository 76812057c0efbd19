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
  fakeNvml().processes = {1, 2, 3};
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

TEST_F(NvmlTest, ListsWhoUsesTheGpuAndWhoComputed) {
  const Nvml nvml("0000:00:00.0");
  fakeNvml().processes.clear();
  for (unsigned pid = 100; pid < 140; ++pid) // more than there is room for at first
    fakeNvml().processes.push_back(pid);
  fakeNvml().instance = 7;
  const auto processes = nvml.computeProcesses();
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 40u);
  EXPECT_EQ(processes->back().pid, 139u);
  EXPECT_EQ(processes->back().instance, 7u);
  fakeNvml().processes.clear();
  ASSERT_TRUE(nvml.computeProcesses());
  EXPECT_THAT(*nvml.computeProcesses(), IsEmpty());
  fakeNvml().knowsProcesses = false;
  EXPECT_FALSE(nvml.computeProcesses());

  ASSERT_TRUE(nvml.loads());
  EXPECT_THAT(*nvml.loads(), IsEmpty()) << "no sample is an answer";
  fakeNvml().loads = {{4711, 1000, 30}, {4712, 2000, 0}};
  const auto loads = nvml.loads();
  ASSERT_TRUE(loads);
  ASSERT_EQ(loads->size(), 2u);
  EXPECT_EQ(loads->front().pid, 4711u);
  EXPECT_EQ(loads->front().microseconds, 1000u);
  EXPECT_EQ(loads->front().percent, 30u);
  fakeNvml().knowsLoads = false;
  EXPECT_FALSE(nvml.loads());
}

TEST_F(NvmlTest, WithoutNvmlNothingIsKnown) {
  fakeNvml().initResult = 9;
  const Nvml nvml("0000:00:00.0");
  EXPECT_EQ(nvml.smClockMHz(), 0u);
  EXPECT_THAT(nvml.facts(), IsEmpty());
  EXPECT_THAT(nvml.throttleReasons(), IsEmpty());
  EXPECT_FALSE(nvml.computeProcesses());
  EXPECT_FALSE(nvml.loads());
}

} // namespace
