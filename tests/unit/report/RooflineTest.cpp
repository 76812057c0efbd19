// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/Roofline.h"

#include "unit/report/SampleHistories.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Roofline, StandsWhereTheCountersSay) {
  const RunHistory history = syntheticRun(40);
  const Roofline roofline = rooflineOf(history);
  EXPECT_TRUE(roofline.missing.empty());
  EXPECT_EQ(roofline.unit, "warp instructions");
  ASSERT_EQ(roofline.points.size(), 2U);
  EXPECT_DOUBLE_EQ(roofline.points[0].intensity, 12.1e6 / 134.3e6);
  EXPECT_DOUBLE_EQ(roofline.points[0].rate, 12.1e6 / 84e-6);
  ASSERT_TRUE(roofline.memory && roofline.compute);
  EXPECT_DOUBLE_EQ(roofline.memory->perSecond, 4.9e12);
  EXPECT_DOUBLE_EQ(roofline.compute->perSecond, 3.34e13 / 128 * 4);
}

TEST(Roofline, SaysWhatIsMissing) {
  RunHistory history = syntheticRun(40);
  history.run.deviceJson = R"j({"kind":"cuda","name":"old record"})j";
  history.trials[0].counters.erase("dram__bytes_write.sum");
  const Roofline roofline = rooflineOf(history);
  ASSERT_EQ(roofline.points.size(), 1U);
  EXPECT_THAT(roofline.missing, Contains(HasSubstr("of the baseline: dram__bytes_read.sum or")));
  EXPECT_THAT(roofline.missing, Contains(HasSubstr("bandwidth of the DRAM is not recorded")));
  EXPECT_THAT(roofline.missing, Contains(HasSubstr("issues instructions is not recorded")));
  history.trials[0].counters.clear();
  EXPECT_THAT(rooflineOf(history).missing, Contains(HasSubstr("no counters of it were read")));
  EXPECT_THAT(rooflineOf({}).missing, Contains("the baseline was not measured"));
}

TEST(Roofline, TakesTheBandwidthFromTheShareOfThePeak) {
  RunHistory history = syntheticRun(40);
  history.run.deviceJson = R"j({"kind":"cuda","name":"old record"})j";
  const Roofline roofline = rooflineOf(history);
  ASSERT_TRUE(roofline.memory);
  EXPECT_NEAR(roofline.memory->perSecond, 134.3e6 / 84e-6 / 0.332, 1e6);
  history.trials[0].counters["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = 1;
  EXPECT_FALSE(rooflineOf(history).memory); // of so small a share it would be a guess
}

/// The synthetic run on a device that was measured.
RunHistory measuredRun(const std::string &measured) {
  RunHistory history = syntheticRun(40);
  history.run.deviceJson =
      R"j({"kind":"cuda","dram_bytes_per_second":4.9e12,"store_bytes_per_second":3.34e13,)j"
      R"j("measured":)j" +
      measured + "}";
  return history;
}

TEST(Roofline, TakesWhatWasMeasuredForItsCeilings) {
  const Roofline roofline = rooflineOf(measuredRun(
      R"j({"dram_bytes":4.41e12,"fp32":5e13,"fp64":0,"instructions":1e12,"missing":""})j"));
  EXPECT_TRUE(roofline.missing.empty());
  EXPECT_EQ(roofline.unit, "warp instructions"); // no floating-point operations were counted
  ASSERT_TRUE(roofline.memory && roofline.compute);
  EXPECT_DOUBLE_EQ(roofline.memory->perSecond, 4.41e12);
  EXPECT_THAT(roofline.memory->source, HasSubstr("measured on this GPU: "));
  EXPECT_THAT(roofline.memory->source, HasSubstr("90% of what width and clock"));
  EXPECT_DOUBLE_EQ(roofline.compute->perSecond, 1e12);
  EXPECT_THAT(roofline.compute->source, HasSubstr("measured on this GPU: "));
}

TEST(Roofline, WhatAKernelExceedsIsNoCeiling) {
  const Roofline roofline = rooflineOf(measuredRun(
      R"j({"dram_bytes":1e12,"fp32":0,"fp64":0,"instructions":1e11,"missing":"fp32: why"})j"));
  ASSERT_TRUE(roofline.memory && roofline.compute);
  EXPECT_DOUBLE_EQ(roofline.memory->perSecond, 4.9e12); // the baseline had 1.6e12 bytes a second
  EXPECT_THAT(roofline.memory->source, HasSubstr("as the driver reports them"));
  EXPECT_DOUBLE_EQ(roofline.compute->perSecond, 3.34e13 / 128 * 4);
  EXPECT_THAT(roofline.missing, Contains("not measured on this GPU: fp32: why"));
}

TEST(Roofline, TakesTheMeasuredRateOfThePrecisionThatIsUsedMost) {
  RunHistory history = withoutWin(measuredRun(
      R"j({"dram_bytes":4.4e12,"fp32":5e13,"fp64":2.5e13,"instructions":1e12,"missing":""})j"));
  Counters &counters = history.trials[0].counters;
  for (const char *precision : {"f", "d", "h"})
    for (const char *operation : {"add", "mul", "fma"})
      counters[fmt::format("smsp__sass_thread_inst_executed_op_{}{}_pred_on.sum", precision,
                           operation)] = 0;
  double &fp16 = counters["smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"];
  counters["smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"] = 1e8;
  counters["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"] = 1e8;
  Roofline roofline = rooflineOf(history);
  EXPECT_EQ(roofline.unit, "floating-point operations");
  ASSERT_TRUE(roofline.compute);
  EXPECT_DOUBLE_EQ(roofline.compute->perSecond, 2.5e13);
  EXPECT_THAT(roofline.compute->source, HasSubstr("fp64"));
  fp16 = 1e9; // nothing is measured of it
  EXPECT_EQ(rooflineOf(history).unit, "warp instructions");
  fp16 = 0;
  counters["sass__inst_tensor"] = 4; // whose operations are not counted
  EXPECT_EQ(rooflineOf(history).unit, "warp instructions");
}

TEST(Roofline, CountsFloatingPointWhereItsCeilingIsKnown) {
  RunHistory history = withoutWin(syntheticRun(40));
  Counters &counters = history.trials[0].counters;
  for (const char *precision : {"f", "d", "h"})
    for (const char *operation : {"add", "mul", "fma"})
      counters[fmt::format("smsp__sass_thread_inst_executed_op_{}{}_pred_on.sum", precision,
                           operation)] = 0;
  counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] = 1e9;
  counters["emulated__roofline_fp32_ns"] = 40000;
  const Roofline roofline = rooflineOf(history);
  EXPECT_EQ(roofline.unit, "floating-point operations");
  ASSERT_TRUE(roofline.compute);
  EXPECT_DOUBLE_EQ(roofline.compute->perSecond, 2e9 / 40e-6);
  ASSERT_EQ(roofline.points.size(), 1U);
  counters["emulated__busy_multiprocessors.pct"] = 25; // the ceiling is the whole GPU's
  EXPECT_DOUBLE_EQ(rooflineOf(history).compute->perSecond, 4 * 2e9 / 40e-6);
  EXPECT_DOUBLE_EQ(roofline.points[0].rate, 2e9 / 84e-6);
}

TEST(Roofline, KeepsUnknownUtilisationUnknown) {
  const RunHistory history = syntheticRun(40);
  Trial after = *history.winner();
  after.counters.erase("lts__throughput.avg.pct_of_peak_sustained_elapsed");
  const auto rows = utilisationOf(*history.baseline(), &after);
  const auto cache =
      std::ranges::find_if(rows, [](const PartUse &row) { return row.part == "L2 cache"; });
  ASSERT_NE(cache, rows.end());
  EXPECT_TRUE(cache->before);
  EXPECT_FALSE(cache->after);
  EXPECT_TRUE(resourceTimesOf(*history.baseline(), &after).empty()); // of the emulated device only
}

} // namespace
} // namespace kopt
