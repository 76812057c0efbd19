// SPDX-License-Identifier: Apache-2.0
// The tables below have the heads that ncu 2022 to 2025 print, as logs of public projects show
// them; the rows are made up, but for those said to be recorded.
#include "driver/device/profile/NcuSections.h"
#include "driver/device/profile/NcuTable.h"
#include "driver/support/FileSystem.h"
#include "fakes/FakeProcessRunner.h"
#include "tests/fakes/Results.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::HasSubstr;

using namespace kopt;
using kopt::fakes::FakeProcessRunner;

constexpr const char *kDetails =
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"
"0","4711","kopt-runner","host","transpose(float *, const float *, int, int)","1","13","(32, 8, 1)","(128, 128, 1)","0","9.0","GPU Speed Of Light Throughput","DRAM Throughput","%","10.39","","","","",""
"0","4711","kopt-runner","host","transpose(float *, const float *, int, int)","1","13","(32, 8, 1)","(128, 128, 1)","0","9.0","GPU Speed Of Light Throughput","Duration","us","1,234.50","","","","",""
"0","4711","kopt-runner","host","transpose(float *, const float *, int, int)","1","13","(32, 8, 1)","(128, 128, 1)","0","9.0","SpeedOfLight","","","","SOLBottleneck","WRN","This workload exhibits low compute throughput, see ""Memory"".
Two lines of advice.","",""
"0","4711","kopt-runner","host","transpose(float *, const float *, int, int)","1","13","(32, 8, 1)","(128, 128, 1)","0","9.0","MemoryWorkloadAnalysis_Tables","","","","MemoryCacheAccessPattern","OPT","Only 4.0 of 32 bytes per sector are utilized.","global","34.6"
"0","4711","kopt-runner","host","transpose(float *, const float *, int, int)","1","13","(32, 8, 1)","(128, 128, 1)","0","9.0","Occupancy"
"1","4711","kopt-runner","host","another()","1","13","(32, 8, 1)","(128, 128, 1)","0","9.0","Occupancy","Achieved Occupancy","%","1","","","","",""
)csv";

// Recorded: four rows of what ncu 2025.3.1 printed of a launch on an H200, 2026-11-22,
// `ncu --import FILE --page details --csv`.
constexpr const char *kRecordedDetails =
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"
"0","678","t","127.0.0.1","turn(const float *, float *, int)","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","GPU Speed Of Light Throughput","DRAM Frequency","Ghz","3.17",
"0","678","t","127.0.0.1","turn(const float *, float *, int)","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","GPU Speed Of Light Throughput","Elapsed Cycles","cycle","9,459",
"0","678","t","127.0.0.1","turn(const float *, float *, int)","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","ComputeWorkloadAnalysis","","","","HighPipeUtilization","OPT","All compute pipelines are under-utilized. Either this workload is very small or it doesn't issue enough warps per scheduler. Check the Launch Statistics and Scheduler Statistics sections for further details.","local","96.11"
"0","678","t","127.0.0.1","turn(const float *, float *, int)","1","7","(256, 1, 1)","(4096, 1, 1)","0","9.0","Launch Statistics","Registers Per Thread","register/thread","16",
)csv";

constexpr const char *kSource = R"csv("Kernel Name","transpose(float *, const float *, int, int)",
"#","Address","Source","Warp Stall Sampling (All Samples)","Warp Stall Sampling (Not-issued Samples)","# Samples","Instructions Executed","Thread Instructions Executed"
"1","0x7f5e2fa00000","LDC R1, c[0x0][0x28]","3","2","3","131,072","4,194,304"
"2","0x7f5e2fa00010","@P0 EXIT","0","0","0","131072","0"
"3","0x7f5e2fa00020","STG.E desc[UR4][R2.64], R5","977","900","977","n/a","4,194,304"
"4","no address","","","","","",""
"Kernel Name","transpose(float *, const float *, int, int)",
"#","Address","Source","Warp Stall Sampling (All Samples)","Warp Stall Sampling (Not-issued Samples)","# Samples","Instructions Executed","Thread Instructions Executed"
"1","0x7f5e2fa00000","LDC R1, c[0x0][0x28]","5000","2","3","5000","4,194,304"
)csv";

TEST(NcuDetails, MetricsAndAdviceOfTheFirstKernel) {
  const auto report = must(parseNcuDetails(std::string("==PROF== Connected\n") + kDetails));
  EXPECT_TRUE(report.ran);
  ASSERT_EQ(report.metrics.size(), 2u);
  EXPECT_EQ(report.metrics[1].section, "GPU Speed Of Light Throughput");
  EXPECT_EQ(report.metrics[1].name, "Duration");
  EXPECT_EQ(report.metrics[1].unit, "us");
  EXPECT_EQ(report.metrics[1].value, "1,234.50");
  ASSERT_EQ(report.advice.size(), 2u);
  EXPECT_EQ(report.advice[0].type, "WRN");
  EXPECT_EQ(report.advice[0].rule, "SOLBottleneck");
  EXPECT_FALSE(report.advice[0].speedupPercent);
  EXPECT_EQ(report.advice[0].text,
            "This workload exhibits low compute throughput, see \"Memory\".\nTwo lines of advice.");
  EXPECT_EQ(report.advice[1].section, "MemoryWorkloadAnalysis_Tables");
  EXPECT_EQ(report.advice[1].type, "OPT");
  ASSERT_TRUE(report.advice[1].speedupPercent);
  EXPECT_DOUBLE_EQ(*report.advice[1].speedupPercent, 34.6);
  EXPECT_EQ(report.advice[1].speedupScope, "global");
}

TEST(NcuDetails, RowsThatEndBeforeTheColumnsOfRules) {
  const auto report = must(parseNcuDetails(kRecordedDetails));
  ASSERT_EQ(report.metrics.size(), 3u);
  EXPECT_EQ(report.metrics[1].name, "Elapsed Cycles");
  EXPECT_EQ(report.metrics[1].value, "9,459");
  EXPECT_EQ(report.metrics[2].section, "Launch Statistics");
  EXPECT_EQ(report.metrics[2].unit, "register/thread");
  ASSERT_EQ(report.advice.size(), 1u);
  EXPECT_EQ(report.advice[0].rule, "HighPipeUtilization");
  EXPECT_EQ(report.advice[0].speedupScope, "local");
}

TEST(NcuDetails, AMessageThatIsGivenAgainIsLeftOut) {
  const std::string head = "\"ID\",\"Section Name\",\"Metric Name\",\"Metric Value\",\"Rule Name\","
                           "\"Rule Type\",\"Rule Description\"\n",
                    stalled = "\"0\",\"WarpStateStats\",\"\",\"\",\"CPIStall\",\"OPT\",",
                    twice = stalled + "\"Warps wait at a barrier.\"\n";
  const auto report =
      must(parseNcuDetails(head + twice + stalled + "\"Warps wait for memory.\"\n" + twice));
  ASSERT_EQ(report.advice.size(), 2u);
  EXPECT_EQ(report.advice[0].text, "Warps wait at a barrier.");
  EXPECT_EQ(report.advice[1].text, "Warps wait for memory.");
}

TEST(NcuDetails, OfAVersionThatEstimatesNoSpeedup) {
  const auto report = must(parseNcuDetails(
      "\"ID\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule "
      "Name\",\"Rule Type\",\"Rule "
      "Description\"\n\"0\",\"SpeedOfLight\",\"\",\"\",\"\",\"SOLBottleneck\",\"INF\",\"Fine."
      "\"\n"));
  ASSERT_EQ(report.advice.size(), 1u);
  EXPECT_EQ(report.advice[0].type, "INF");
  EXPECT_FALSE(report.advice[0].speedupPercent);
}

TEST(NcuDetails, OtherTextIsNoTable) {
  for (const char *text :
       {"", "==ERROR== x\n", "\"ID\",\"Section Name\"\n\"0\",\"a\"\n",
        "\"ID\",\"Section Name\",\"Metric Name\",\"Metric Value\",\"Rule Name\"\n"})
    EXPECT_FALSE(parseNcuDetails(text)) << text;
}

TEST(NcuSource, CountsByOffsetOfTheFirstTable) {
  const auto counts = must(parseNcuSource(kSource));
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts.at(0).executed, 131072);
  EXPECT_EQ(counts.at(0).samples, 3);
  EXPECT_EQ(counts.at(0x10).samples, 0);
  EXPECT_EQ(counts.at(0x20).samples, 977);
  EXPECT_EQ(counts.at(0x20).executed, 0); // n/a: it was sampled all the same
}

TEST(NcuSource, OfOlderVersions) {
  const auto counts = must(parseNcuSource(
      "\"Kernel Name\",\"k(float *)\",\n"
      "\"Address\",\"Source\",\"Warp Stall Sampling (All Cycles)\",\"Instructions Executed\",\n"
      "\"7f00\",\"EXIT\",\"5\",\"64\",\n"));
  EXPECT_EQ(counts.at(0).samples, 5);
  EXPECT_EQ(counts.at(0).executed, 64);
}

TEST(NcuSource, WithoutACountNothingIsKnown) {
  EXPECT_FALSE(parseNcuSource(""));
  EXPECT_FALSE(parseNcuSource(
      "\"Address\",\"Source\",\"Instructions Executed\"\n\"0x10\",\"EXIT\",\"0\"\n"));
  EXPECT_FALSE(
      parseNcuSource("\"Address\",\"Source\",\"Instructions Executed\"\n\"-\",\"EXIT\",\"7\"\n"));
}

TEST(NcuTable, TornRowsAreCountedAndLeftOut) {
  const auto table = must(findNcuTable(
      "noise\n\"a\",\"b\"\n\"1\",\"2\"\n\"3\"\n\"4\",\"5\"\n\n\"6\",\"7\"\n", {"a", "b"}));
  EXPECT_EQ(table.rows, (std::vector<std::vector<std::string>>{{"1", "2"}, {"4", "5"}}));
  EXPECT_EQ(table.torn, 1u);
  EXPECT_FALSE(findNcuTable("\"a\",\"b\"\n", {"a", "c"}));
  EXPECT_FALSE(findNcuTable("\"a", {"b"}));
}

class InspectTest : public testing::Test {
protected:
  InspectTest() : folder(std::move(*TemporaryDirectory::create("kopt-ncu"))) {
    request.runner = {"/bin/kopt-runner", "--device", "cuda"};
    request.script = "load path=x\nrun a.module=1\n";
    request.folder = folder.path() / "ncu";
  }
  /// An ncu that writes a report and prints its pages.
  void ncuWorks(const std::string &source = kSource) {
    processes.on({"--import", "details"}, 0, kDetails);
    processes.on({"--import", "source"}, 0, source);
    processes.on({"--export"}, [this](const ProcessSpec &) -> Result<ProcessResult> {
      std::ofstream(request.folder / "report.ncu-rep") << "binary";
      return ProcessResult{};
    });
  }
  Result<NcuReport> inspect(const std::vector<std::string> &sections = {}) {
    return inspectLaunch(processes, "/opt/ncu", request, sections);
  }
  FakeProcessRunner processes;
  TemporaryDirectory folder;
  WatchRequest request;
};

TEST_F(InspectTest, WatchesOnceAndReadsTwoPages) {
  ncuWorks();
  const auto report = must(inspect());
  EXPECT_TRUE(report.ran);
  EXPECT_EQ(report.advice.size(), 2u);
  EXPECT_EQ(report.instructions.size(), 3u);
  EXPECT_EQ(report.detail, "");
  ASSERT_EQ(processes.calls.size(), 3u);
  const std::vector<std::string> &argv = processes.calls[0].argv;
  const auto at = [&](const char *word) {
    return std::find(argv.begin(), argv.end(), word) - argv.begin();
  };
  EXPECT_EQ(argv[std::size_t(at("--set")) + 1], "detailed");
  EXPECT_EQ(argv[std::size_t(at("--clock-control")) + 1], "none");
  EXPECT_EQ(argv[std::size_t(at("--launch-count")) + 1], "1");
  EXPECT_LT(at("--section"), at("/bin/kopt-runner")); // ncu's options come before the program
  EXPECT_EQ(*readFile(argv[std::size_t(at("--script")) + 1]), request.script);
}

TEST_F(InspectTest, TakesSectionsByName) {
  ncuWorks();
  ASSERT_TRUE(inspect({"Occupancy", "SourceCounters"}));
  const std::vector<std::string> &argv = processes.calls[0].argv;
  EXPECT_EQ(std::count(argv.begin(), argv.end(), "--set"), 0);
  EXPECT_EQ(std::count(argv.begin(), argv.end(), "--section"), 2);
  EXPECT_EQ(std::count(argv.begin(), argv.end(), "SourceCounters"), 1);
}

TEST_F(InspectTest, WithoutCountsByInstructionTheRestStands) {
  ncuWorks("==ERROR== no source\n");
  const auto report = must(inspect());
  EXPECT_TRUE(report.ran);
  EXPECT_TRUE(report.instructions.empty());
  EXPECT_THAT(report.detail, HasSubstr("no table of instructions"));
}

TEST_F(InspectTest, AMissingNcuIsNamed) {
  const auto report = must(inspectLaunch(
      processes, makeError(ErrorCode::Environment, "Nsight Compute (ncu) was not found"), request,
      {}));
  EXPECT_FALSE(report.ran);
  EXPECT_THAT(report.detail, HasSubstr("Nsight Compute (ncu) was not found"));
}

TEST_F(InspectTest, DeniedCountersHaveTheirRemedy) {
  processes.on({"--export"}, 1, "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n");
  const auto report = must(inspect());
  EXPECT_FALSE(report.ran);
  EXPECT_THAT(report.detail, HasSubstr("NVreg_RestrictProfilingToAdminUsers"));
}

TEST_F(InspectTest, AnOldReportIsNotTakenForTheNewOne) {
  ASSERT_TRUE(createDirectories(request.folder));
  std::ofstream(request.folder / "report.ncu-rep") << "of another launch";
  processes.on({"--export"}, 1, "==ERROR== Failed to find section Nonsense\n");
  const auto report = must(inspect({"Nonsense"}));
  EXPECT_FALSE(report.ran);
  EXPECT_THAT(report.detail, HasSubstr("Failed to find section Nonsense"));
  EXPECT_EQ(processes.calls.size(), 1u);
}

} // namespace
