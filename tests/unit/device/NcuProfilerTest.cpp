// SPDX-License-Identifier: Apache-2.0
#include "driver/device/profile/NcuProfiler.h"
#include "driver/support/FileSystem.h"
#include "fakes/FakeProcessRunner.h"
#include "tests/fakes/Results.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::HasSubstr;

using namespace kopt;
using kopt::fakes::FakeProcessRunner;

constexpr const char *kTable = R"csv(==PROF== Connected to process 4711 (/usr/bin/kopt-runner)
==PROF== Profiling "transpose" - 0: 0%....50%....100% - 3 passes
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","launch__registers_per_thread","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","lts__t_sector_hit_rate.pct","sm__cycles_active.avg.per_second","dram__bytes_read.sum.per_second","smsp__odd.sum"
"","","","","","","","","","","","Mbyte","%","us","register/thread","sector","%","cycle/nsecond","Gbyte/s","Gwidget"
"0","4711","kopt-runner","host","transpose(float *, ""const"" float *, int)","1","13","(32, 8, 1)","(64, 64, 1)","0","9.0","16.78","41.25","12.50","22","1,048,576","n/a","1.98","1,340.5","4"
"1","4711","kopt-runner","host","transpose","1","13","(32, 8, 1)","(64, 64, 1)","0","9.0","99","99","99","99","99","99","99","99","99"
)csv";

TEST(NcuCsv, KernelsInOrderInBaseUnits) {
  const auto kernels = must(parseNcuCsv(kTable));
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels.at(0).name, "transpose(float *, \"const\" float *, int)");
  EXPECT_EQ(kernels.at(1).name, "transpose");
  EXPECT_DOUBLE_EQ(kernels.at(1).counters.at("dram__bytes_read.sum"), 99e6);
  const Counters *counters = &kernels.at(0).counters;
  EXPECT_DOUBLE_EQ(counters->at("dram__bytes_read.sum"), 16.78e6);
  EXPECT_DOUBLE_EQ(counters->at("dram__throughput.avg.pct_of_peak_sustained_elapsed"), 41.25);
  EXPECT_DOUBLE_EQ(counters->at("gpu__time_duration.sum"), 12500);
  EXPECT_DOUBLE_EQ(counters->at("launch__registers_per_thread"), 22);
  EXPECT_DOUBLE_EQ(counters->at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 1048576);
  EXPECT_DOUBLE_EQ(counters->at("sm__cycles_active.avg.per_second"), 1.98e9);
  EXPECT_DOUBLE_EQ(counters->at("dram__bytes_read.sum.per_second"), 1340.5e9);
}

TEST(NcuCsv, WhatIsUnknownIsAbsent) {
  const auto kernels = must(parseNcuCsv(kTable));
  const Counters *counters = &kernels.at(0).counters;
  EXPECT_EQ(counters->count("lts__t_sector_hit_rate.pct"), 0u); // n/a
  EXPECT_EQ(counters->count("smsp__odd.sum"), 0u);              // in units of giga-what?
  EXPECT_EQ(counters->count("Context"), 0u);
}

TEST(NcuCsv, BaseUnitsStayAsTheyAre) {
  const auto kernels =
      must(parseNcuCsv("\"ID\",\"gpu__time_duration.sum\",\"dram__bytes_write.sum\"\n"
                       "\"\",\"ns\",\"byte\"\n\"0\",\"812\",\"4096\"\n"));
  const Counters *counters = &kernels.at(0).counters;
  EXPECT_DOUBLE_EQ(counters->at("gpu__time_duration.sum"), 812);
  EXPECT_DOUBLE_EQ(counters->at("dram__bytes_write.sum"), 4096);
}

TEST(NcuCsv, NoTableAndTornTablesAreErrors) {
  EXPECT_FALSE(parseNcuCsv(""));
  EXPECT_FALSE(parseNcuCsv("==WARNING== No kernels were profiled.\n"));
  EXPECT_FALSE(parseNcuCsv("\"ID\",\"a__b\"\n\"\",\"ns\"\n"));
  EXPECT_FALSE(parseNcuCsv("\"ID\",\"a__b\"\n\"\",\"ns\"\n\"0\"\n"));
}

class NcuProfilerTest : public testing::Test {
protected:
  NcuProfilerTest() : folder(std::move(*TemporaryDirectory::create("kopt-ncu"))) {
    request.runner = {"/bin/kopt-runner", "--device", "cuda", "--ordinal", "1"};
    request.script = "load path=x\nrun a.module=1\n";
    request.folder = folder.path() / "ncu";
  }
  FakeProcessRunner processes;
  TemporaryDirectory folder;
  WatchRequest request;
};

TEST_F(NcuProfilerTest, StartsTheRunnerUnderNcu) {
  processes.on({"ncu"}, 0, kTable);
  NcuProfiler profiler(processes, "/opt/ncu");
  const auto outcome = must(profiler.profile(request));
  EXPECT_EQ(outcome.source, "ncu");
  EXPECT_GT(outcome.counters.size(), 5u);
  const std::vector<std::string> &argv = processes.calls.at(0).argv;
  EXPECT_EQ(argv[0], "/opt/ncu");
  const auto after = [&](const char *flag) {
    const auto found = std::find(argv.begin(), argv.end(), flag);
    return found == argv.end() || found + 1 == argv.end() ? std::string() : found[1];
  };
  EXPECT_EQ(after("--clock-control"), "none");
  EXPECT_EQ(after("--launch-count"), "1");
  EXPECT_EQ(after("--ordinal"), "1");
  EXPECT_EQ(*readFile(after("--script")), request.script);
}

TEST_F(NcuProfilerTest, DeniedCountersAreReportedOnce) {
  processes.on({"ncu"}, 1, "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n");
  NcuProfiler profiler(processes, "/opt/ncu");
  const auto first = must(profiler.profile(request));
  EXPECT_TRUE(first.counters.empty());
  EXPECT_THAT(first.detail, HasSubstr("NVreg_RestrictProfilingToAdminUsers"));
  const auto second = must(profiler.profile(request));
  EXPECT_EQ(second.detail, "");
  EXPECT_EQ(processes.calls.size(), 1u);
}

TEST_F(NcuProfilerTest, MetricsThatNcuDoesNotKnowAreLeftOut) {
  processes.on({"ncu"}, [](const ProcessSpec &spec) -> Result<ProcessResult> {
    ProcessResult result;
    const std::string bad = "smsp__inst_executed_op_local_ld.sum";
    const bool asked =
        std::any_of(spec.argv.begin(), spec.argv.end(),
                    [&](const std::string &word) { return word.find(bad) != word.npos; });
    result.exitCode = asked ? 1 : 0;
    result.out = asked ? "==ERROR== Failed to find metric " + bad + "\n" : kTable;
    return result;
  });
  NcuProfiler profiler(processes, "/opt/ncu");
  EXPECT_GT(profiler.profile(request)->counters.size(), 5u);
  EXPECT_EQ(processes.calls.size(), 2u);
  EXPECT_GT(profiler.profile(request)->counters.size(), 5u);
  EXPECT_EQ(processes.calls.size(), 3u); // it remembers
}

TEST_F(NcuProfilerTest, OtherFailuresKeepTheirWords) {
  processes.on({"ncu"}, 9, "==ERROR== The application returned an error code (6).\n");
  NcuProfiler profiler(processes, "/opt/ncu");
  const auto outcome = must(profiler.profile(request));
  EXPECT_TRUE(outcome.counters.empty());
  EXPECT_THAT(outcome.detail, HasSubstr("error code (6)"));
}

} // namespace
