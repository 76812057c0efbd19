// SPDX-License-Identifier: Apache-2.0
// Kernels at the roof of DRAM, and kernels that move as many bytes without need, by counters as an
// H200 has them.
#include "driver/app/tune/KernelRoof.h"

#include "driver/model/Json.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace roof_cases {
namespace {

using testing::HasSubstr;

constexpr double kRate = 4.2e12; // bytes a second that the GPU was measured to reach
constexpr double kMegabytes = 256e6, kSector = 32;

/// A kernel, a launch of it and the counters of that.
struct Case {
  Specialization kernel;
  ParameterUses uses;
  Baseline baseline;
  RunRecord run;
  DeviceInfo device;

  Case() {
    run.deviceJson = nlohmann::json{{"measured", toJson(MeasuredRates{kRate, 0, 0, 0, ""})}}.dump();
    device.l2Bytes = 50'000'000;
    Launch launch;
    launch.name = "launch";
    baseline.workload.launches.push_back(launch);
    baseline.trial.candidateHash = "baseline";
  }

  Buffer &buffer(const std::string &name, const std::string &how, double bytes = kMegabytes) {
    KernelParam param;
    param.name = name;
    kernel.params.push_back(param);
    Launch &launch = baseline.workload.launches.front();
    Buffer made;
    made.name = name;
    made.bytes = std::uint64_t(bytes);
    launch.buffers.push_back(made);
    launch.arguments.push_back(BufferArg{launch.buffers.size() - 1, 0});
    if (how.find('r') != how.npos)
      uses.read.push_back(name);
    if (how.find('w') != how.npos)
      uses.written.push_back(name);
    return launch.buffers.back();
  }

  /// Moves so many bytes at `share` of the rate that DRAM was measured to reach.
  void moves(double read, double written, double share, double bytesOfSectors = kSector) {
    Counters &counters = baseline.trial.counters;
    const double seconds = (read + written) / (share * kRate);
    counters = {{"dram__bytes_read.sum", read},
                {"dram__bytes_write.sum", written},
                {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 88 * share},
                {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 20},
                {"gpu__time_duration.sum", 1e9 * seconds},
                {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", read / kSector},
                {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", written / kSector},
                {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 16},
                {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", 16},
                {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", bytesOfSectors},
                {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", 32}};
    LaunchTiming timing;
    timing.launch = "launch";
    timing.baselineSeconds = seconds;
    timing.cacheMode = CacheMode::Cold;
    baseline.trial.timings = {timing};
  }

  std::optional<AtRoof> reached(bool isReadable = true) {
    const RuleBook rules = must(RuleBook::load());
    const KernelRoof roof(kernel, isReadable ? std::optional(uses) : std::nullopt, device, run);
    baseline.trial.diagnosis =
        rules.diagnose(baseline.trial.counters, roof.known(baseline.workload));
    return roof.reached(baseline, rules);
  }
};

Case copy(double share = 0.98) {
  Case made;
  made.buffer("in", "r").readOnly = true;
  made.buffer("out", "w").output = true;
  made.moves(kMegabytes, kMegabytes - 21e6, share); // the L2 cache still has the rest
  return made;
}

TEST(KernelRoof, ACopyAtTheRateOfTheDeviceIsAtIt) {
  const auto roof = copy().reached();
  ASSERT_TRUE(roof);
  const Stop &stop = std::get<Stop>(roof->stop.what);
  EXPECT_EQ(stop.reason, StopReason::AtRoof);
  EXPECT_NEAR(stop.limit, 1 / 0.98, 1e-6);
  EXPECT_THAT(stop.inWords(), HasSubstr("at most 1.02x is left, and '--roof ignore'"));
  EXPECT_THAT(roof->finding, HasSubstr("DRAM moves 491.0 MB at 98% of the rate"));
  ASSERT_EQ(roof->stop.evidence.size(), 4u);
  EXPECT_EQ(roof->stop.evidence[0].what, "percent_reached");
  EXPECT_NEAR(roof->stop.evidence[0].value, 98, 1e-6);
  EXPECT_EQ(roof->stop.evidence[0].trial, "baseline");
}

TEST(KernelRoof, InPlaceAndReadThroughAPointerToNonConst) {
  Case axpy;
  axpy.buffer("x", "r");
  axpy.buffer("y", "rw");
  axpy.moves(2 * kMegabytes, kMegabytes, 0.97);
  EXPECT_TRUE(axpy.reached());
}

TEST(KernelRoof, AGatherThatTheCachesMakeUpFor) {
  Case sum; // each element is loaded three times, and comes from DRAM once
  sum.buffer("in", "r").readOnly = true;
  sum.buffer("out", "w").output = true;
  sum.moves(kMegabytes, kMegabytes, 0.99);
  sum.baseline.trial.counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] *= 3;
  EXPECT_TRUE(sum.reached());
}

TEST(KernelRoof, WhatIsSlowerIsNot) {
  EXPECT_TRUE(copy(0.96).reached());
  EXPECT_FALSE(copy(0.94).reached()); // 1.06x is left
  Case doubtful = copy();             // the rate that was measured is far from the peak
  doubtful.baseline.trial.counters["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = 70;
  EXPECT_FALSE(doubtful.reached());
}

TEST(KernelRoof, ReadingTwiceIsNotNeeded) {
  Case twice;
  twice.buffer("in", "r"); // not const: it could be written, too
  twice.buffer("out", "w").output = true;
  twice.moves(2 * kMegabytes, kMegabytes, 0.98);
  EXPECT_FALSE(twice.reached());
  EXPECT_NEAR(twice.baseline.trial.diagnosis.headroom, 1.5 / 0.98, 1e-6);
  // Nor is it if only a part of the output is written, which the judge takes for one that is read.
  twice.baseline.workload.launches[0].buffers[1].output = false;
  EXPECT_FALSE(twice.reached());
}

TEST(KernelRoof, SectorsOfWhichAPartIsUsedAreNotNeeded) {
  Case strided;
  strided.buffer("in", "r").readOnly = true;
  strided.buffer("out", "w", kMegabytes / 8).output = true;
  strided.moves(kMegabytes, kMegabytes / 8, 0.98, /*bytesOfSectors=*/4);
  EXPECT_FALSE(strided.reached());
}

TEST(KernelRoof, ATemporaryIsNotNeeded) {
  Case detour; // the caches have the temporary, so DRAM only takes it
  detour.buffer("in", "r").readOnly = true;
  detour.buffer("temporary", "rw").output = true;
  detour.buffer("out", "w").output = true;
  detour.moves(kMegabytes, 2 * kMegabytes, 0.98);
  EXPECT_FALSE(detour.reached());
}

TEST(KernelRoof, APartOfALargeBufferReadSeveralTimesIsNotNeeded) {
  Case table;
  table.buffer("in", "r", 2 * kMegabytes).readOnly = true;
  table.buffer("out", "w", kMegabytes / 8).output = true;
  table.moves(kMegabytes, kMegabytes / 8, 0.98);
  EXPECT_FALSE(table.reached());
}

TEST(KernelRoof, WithoutKnowingWhatIsReadThereIsNone) { EXPECT_FALSE(copy().reached(false)); }

TEST(KernelRoof, WithoutAMeasuredRateThePeakCounts) {
  Case unmeasured = copy();
  unmeasured.run.deviceJson = "{}";
  EXPECT_FALSE(unmeasured.reached()); // 86% of it
  unmeasured.baseline.trial.counters["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = 97;
  EXPECT_TRUE(unmeasured.reached());
}

TEST(KernelRoof, WhatIsTimedHasToBeWhatWasProfiled) {
  Case warm = copy(); // with what it reads in the L2 cache, DRAM is not what it waits for
  warm.baseline.trial.timings[0].baselineSeconds *= 0.8;
  EXPECT_FALSE(warm.reached());
  warm.baseline.trial.timings[0].baselineSeconds *= 1.03 / 0.8; // the events' own time
  EXPECT_TRUE(warm.reached());
}

TEST(KernelRoof, OtherLaunchesHaveToBeAsFast) {
  Case several = copy();
  Launch half = several.baseline.workload.launches[0];
  half.name = "half";
  half.weight = 0.5;
  for (Buffer &buffer : half.buffers)
    buffer.bytes /= 2;
  several.baseline.workload.launches.push_back(half);
  LaunchTiming timing = several.baseline.trial.timings[0];
  timing.launch = "half";
  timing.baselineSeconds *= 0.51;
  several.baseline.trial.timings.push_back(timing);
  EXPECT_TRUE(several.reached());
  several.baseline.trial.timings[1].baselineSeconds *= 1.1;
  EXPECT_FALSE(several.reached());
}

} // namespace
} // namespace roof_cases
} // namespace kopt
