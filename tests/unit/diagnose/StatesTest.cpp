// SPDX-License-Identifier: Apache-2.0
// Each state of knowledge/states.json is reached by counters that show it, and missed by counters
// that nearly do.
#include "driver/diagnose/States.h"
#include "driver/device/profile/CounterNames.h"
#include "driver/diagnose/Known.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/KnowledgeMetrics.h"
#include "tests/fakes/Results.h"
#include "tests/fakes/SassCounterNames.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace state_cases { // other tests of the folder have counters of the same names
namespace {

using testing::HasSubstr;

const char *const kSm = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
const char *const kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
const char *const kL2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
const char *const kL1 = "l1tex__throughput.avg.pct_of_peak_sustained_active";
const char *const kWaves = "launch__waves_per_multiprocessor";
const char *const kResident = "sm__warps_active.avg.pct_of_peak_sustained_active";
const char *const kLanes = "smsp__thread_inst_executed_per_inst_executed.ratio";
const char *const kLoaded = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
const char *const kLoadSectors =
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
const char *const kLoadBytes = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio";
const char *const kStoreSectors =
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio";
const char *const kLocalLoaded = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum";
const char *const kWavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
const char *const kConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
const char *const kReductions = "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum";
const char *const kTime = "gpu__time_duration.sum";
const char *const kBuffers = "known__buffer_bytes";

std::string stall(const std::string &state) {
  return "smsp__average_warps_issue_stalled_" + state + "_per_issue_active.ratio";
}

std::string operation(const std::string &name) {
  return "smsp__sass_thread_inst_executed_op_" + name + "_pred_on.sum";
}

/// A kernel in which nothing is busy and nothing else is wrong: it waits for its own results.
Counters waiting() {
  Counters counters{{kSm, 30},
                    {kDram, 30},
                    {kL2, 25},
                    {kL1, 25},
                    {kWaves, 12},
                    {kResident, 80},
                    {kLanes, 31},
                    {kLoaded, 4e6},
                    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 1e6},
                    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1e6},
                    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 2.5e5},
                    {kLoadSectors, 4},
                    {kStoreSectors, 4},
                    {kLoadBytes, 32},
                    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", 32},
                    {"dram__bytes_read.sum", 1.2e8},
                    {"dram__bytes_write.sum", 4e7},
                    {kLocalLoaded, 0},
                    {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", 0},
                    {kWavefronts, 1e6},
                    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 0},
                    {kConflicts, 1e4},
                    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0},
                    {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", 0},
                    {kReductions, 100},
                    {"smsp__inst_executed.sum", 2e7},
                    {kTime, 100000},
                    {kBuffers, 1.6e8},
                    {stall("long_scoreboard"), 1},
                    {stall("short_scoreboard"), 0.3},
                    {stall("mio_throttle"), 0.2},
                    {stall("barrier"), 0.2},
                    {stall("math_pipe_throttle"), 0.2},
                    {"sass__inst", 200},
                    {"sass__inst_integer", 50},
                    {"sass__inst_special", 2},
                    {"sass__inst_conversion", 2},
                    {"sass__inst_tensor", 0},
                    {"sass__inst_local_indexed", 0}};
  for (const char *kind : {"fadd", "fmul", "dadd", "dmul", "dfma", "hadd", "hmul", "hfma"})
    counters[operation(kind)] = 0;
  counters[operation("ffma")] = 6e7;
  return counters;
}

struct Case {
  std::string state;
  Counters reaches, misses; ///< changes of the waiting kernel's counters
};

const std::vector<Case> &cases() {
  static const std::vector<Case> kCases{
      {"launch-overhead", {{kTime, 1900}}, {{kTime, 2100}}},
      {"small-grid", {{kWaves, 0.4}}, {{kWaves, 0.4}, {kSm, 65}}},
      {"local-arrays",
       {{kLocalLoaded, 3e6}, {"sass__inst_local_indexed", 4}},
       {{kLocalLoaded, 1e6}, {"sass__inst_local_indexed", 4}}},
      {"spills", {{kLocalLoaded, 3e6}}, {{kLocalLoaded, 1e6}}},
      {"atomics", {{kReductions, 5e5}}, {{kReductions, 5e5}, {kDram, 75}}},
      {"uncoalesced", {{kLoadSectors, 32}}, {{kLoadSectors, 16}}},
      {"wasted-sectors",
       {{kLoadSectors, 8}, {kLoadBytes, 8}, {kDram, 75}},
       {{kLoadSectors, 8}, {kLoadBytes, 20}, {kDram, 75}}},
      {"bank-conflicts",
       {{kWavefronts, 1.7e7}, {kConflicts, 1.65e7}},
       {{kWavefronts, 1.7e7}, {kConflicts, 3e6}}},
      {"redundant-traffic", {{kDram, 90}, {kBuffers, 8e7}}, {{kDram, 90}, {kBuffers, 1.2e8}}},
      {"dram-bound", {{kDram, 61}}, {{kDram, 59}}},
      {"divergence", {{kLanes, 9}}, {{kLanes, 17}}},
      {"tensor-pipe", {{kSm, 70}, {"sass__inst_tensor", 4}}, {{kSm, 50}, {"sass__inst_tensor", 4}}},
      {"fp64-pipe", {{kSm, 90}, {operation("dfma"), 3e8}}, {{kSm, 90}, {operation("dfma"), 1e8}}},
      {"special-function",
       {{kSm, 70}, {"sass__inst_special", 20}},
       {{kSm, 70}, {"sass__inst_special", 10}}},
      {"conversion-pipe",
       {{kSm, 70}, {"sass__inst_conversion", 40}},
       {{kSm, 70}, {"sass__inst_conversion", 20}}},
      {"fp16-pipe", {{kSm, 70}, {operation("hfma"), 2e8}}, {{kSm, 70}, {operation("hfma"), 1e8}}},
      {"integer-pipe",
       {{kSm, 70}, {"sass__inst_integer", 120}},
       {{kSm, 70}, {"sass__inst_integer", 90}}},
      {"fp32-pipe", {{kSm, 85}, {operation("ffma"), 4e8}}, {{kSm, 85}, {operation("ffma"), 3e8}}},
      {"instruction-issue", {{kSm, 70}}, {{kSm, 59}}},
      {"shared-bandwidth", {{kL1, 88}, {kWavefronts, 9e6}}, {{kL1, 88}}},
      {"l2-bound", {{kL2, 75}}, {{kL2, 75}, {kDram, 80}}},
      {"l1-bound", {{kL1, 75}}, {{kL1, 59}}},
      {"barrier-wait", {{stall("barrier"), 6}}, {{stall("barrier"), 2}}},
      {"tail-wave", {{kWaves, 1.1}}, {{kWaves, 1.9}}},
      {"low-occupancy", {{kResident, 24}}, {{kResident, 52}}},
      {"memory-latency", {{stall("long_scoreboard"), 8}}, {{stall("long_scoreboard"), 1.8}}},
      {"shared-latency", {{stall("mio_throttle"), 5}}, {{stall("mio_throttle"), 1.5}}},
      {"dependency-latency", {}, {{kSm, 61}}},
  };
  return kCases;
}

Diagnosis stateOf(const Counters &change) {
  Counters counters = waiting();
  for (const auto &[name, value] : change)
    counters[name] = value;
  Diagnosis diagnosis;
  must(States::load()).addTo(diagnosis, counters);
  return diagnosis;
}

TEST(States, EachIsReachedAndNearlyMissed) {
  for (const Case &c : cases()) {
    const Diagnosis reached = stateOf(c.reaches);
    EXPECT_EQ(reached.state, c.state);
    EXPECT_TRUE(reached.unjudged.empty()) << c.state << ": " << reached.unjudged.front();
    EXPECT_NE(stateOf(c.misses).state, c.state);
  }
}

TEST(States, ThereAreAtLeastSixteenAndEachHasACase) {
  const States states = must(States::load());
  std::vector<std::string> ids;
  for (const States::State &state : states.all())
    ids.push_back(state.id);
  EXPECT_GE(ids.size(), 16u);
  std::vector<std::string> tested;
  for (const Case &c : cases())
    tested.push_back(c.state);
  EXPECT_EQ(ids, tested);
}

TEST(States, BlameClassesOfInstructions) {
  std::vector<std::string> classes;
  for (int i = 0; i < kSassClasses; ++i)
    classes.push_back(toString(SassClass(i)));
  const States states = must(States::load());
  for (const States::State &state : states.all())
    EXPECT_THAT(state.blames, testing::Each(testing::AnyOfArray(classes))) << state.id;
}

TEST(States, ReadOnlyWhatThereIs) {
  std::vector<std::string> known = hardwareCounters();
  for (const auto &more : {launchCounters(), fakes::sassCounterNames()})
    known.insert(known.end(), more.begin(), more.end());
  DeviceInfo device;
  device.l2Bytes = 1;
  for (const Counters &more :
       {knownOf(Launch(), Specialization(), ParameterUses()), knownOf(device, {1, 1, 1, 1, "", 1})})
    for (const auto &[name, value] : more)
      known.push_back(name);
  // Other names of a counter that kopt asks for.
  known.insert(known.end(), {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                             "l1tex__throughput.avg.pct_of_peak_sustained_elapsed"});
  for (const std::string &metric : fakes::metricsOfStates())
    if (!metric.starts_with("emulated__"))
      EXPECT_TRUE(std::ranges::count(known, metric)) << metric;
}

// Nsight Compute 2025.3 on an H200, examples/transpose with 4096 x 4096 floats: as it is, and with
// a shared tile without padding.
TEST(States, ExplainWhatWasMeasuredOnAnH200) {
  Counters naive{{kDram, 10.39},
                 {kSm, 7.66},
                 {kLoaded, 2097152},
                 {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 16777216},
                 {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 524288},
                 {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 524288},
                 {"dram__bytes_read.sum", 77839616},
                 {"dram__bytes_write.sum", 58943232},
                 {kWaves, 15.52},
                 {kWavefronts, 0},
                 {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 0},
                 {kConflicts, 0},
                 {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0},
                 {"smsp__inst_executed.sum", 10092544},
                 {"known__buffer_bytes", 2 * 4096 * 4096 * 4.0}};
  const States states = must(States::load());
  Diagnosis diagnosis;
  states.addTo(diagnosis, naive);
  EXPECT_EQ(diagnosis.state, "uncoalesced");
  EXPECT_THAT(diagnosis.finding, HasSubstr("89% of the global sectors"));
  EXPECT_EQ(diagnosis.bound.kind, BoundKind::Latency);
  EXPECT_EQ(diagnosis.bound.resource, "DRAM");
  EXPECT_NEAR(diagnosis.headroom, 9.8, 0.1); // a copy is that much faster
  Counters staged = naive;
  staged[kDram] = 21.41;
  staged[kSm] = 23.1;
  staged["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] = 2097152;
  staged[kConflicts] = 16515412;
  staged[kWavefronts] = 17039700;
  staged["smsp__inst_executed.sum"] = 20185088;
  diagnosis = {};
  states.addTo(diagnosis, staged);
  EXPECT_EQ(diagnosis.state, "bank-conflicts");
}

/// planted-h200.json: the counters that conditions read, of kernels with one cause of slowness
/// each.
TEST(States, NameWhatWasPlantedOnAnH200) {
  const auto recorded = nlohmann::json::parse(
      must(readFile(KOPT_SOURCE_DIR "/tests/unit/diagnose/planted-h200.json")));
  const States states = must(States::load());
  for (const auto &kernel : recorded["kernels"]) {
    const auto name = kernel["kernel"].get<std::string>();
    ASSERT_EQ(kernel["values"].size(), recorded["counters"].size()) << name;
    Counters counters;
    for (std::size_t i = 0; i < kernel["values"].size(); ++i)
      if (!kernel["values"][i].is_null())
        counters[recorded["counters"][i].get<std::string>()] = kernel["values"][i].get<double>();
    Diagnosis diagnosis;
    states.addTo(diagnosis, counters);
    EXPECT_EQ(diagnosis.state, kernel["state"].get<std::string>())
        << name << ": " << diagnosis.finding;
    EXPECT_NEAR(diagnosis.headroom, kernel["headroom"].get<double>(), 0.01) << name;
  }
  EXPECT_EQ(recorded["kernels"].size(), 12u);
}

// What DRAM moves passes through the L2 cache, and keeps it a little busier on an H200.
TEST(States, ADramStreamIsOneThoughL2IsBusier) {
  EXPECT_EQ(stateOf({{kDram, 72}, {kL2, 80}}).state, "dram-bound");
  EXPECT_EQ(stateOf({{kDram, 72}, {kL2, 80}, {kBuffers, 8e7}}).state, "redundant-traffic");
  EXPECT_EQ(stateOf({{kDram, 62}, {kL2, 92}}).state, "l2-bound"); // hits keep it busy too
  EXPECT_EQ(stateOf({{kDram, 72}, {kSm, 80}}).state, "instruction-issue");
}

// One float a thread is too little under way for the L2 cache or DRAM to be what is waited for.
TEST(States, AHalfBusyL2CacheWithWaitingWarpsIsLatency) {
  const Counters copy{{kL2, 66}, {kDram, 54}, {stall("long_scoreboard"), 60}};
  EXPECT_EQ(stateOf(copy).state, "memory-latency");
  EXPECT_THAT(stateOf(copy).finding, HasSubstr("the busiest resource is at 66%"));
  Counters full = copy;
  full[kL2] = 82;
  EXPECT_EQ(stateOf(full).state, "l2-bound");
}

TEST(States, TheBoundIsTheBusiestResourceAndHeadroomWhatIsNeededOfIt) {
  const Diagnosis full = stateOf({{kDram, 91}});
  EXPECT_EQ(full.bound.kind, BoundKind::Memory);
  EXPECT_EQ(full.bound.resource, "DRAM");
  EXPECT_NEAR(full.headroom, 100 / 91.0, 1e-9);
  EXPECT_EQ(boundInWords(full), "memory, DRAM at 91% of its peak; at most 1.10x as fast with the "
                                "bytes that it has to move");
  // Half of the traffic is not that of the buffers.
  EXPECT_NEAR(stateOf({{kDram, 91}, {kBuffers, 8e7}}).headroom, 200 / 91.0, 1e-9);
  // What was measured on the GPU is nearer than the peak of its data sheet: 1.6 TB/s of 1.7.
  const Diagnosis measured = stateOf({{kDram, 91}, {"measured__dram_bytes", 1.7e12}});
  EXPECT_NEAR(measured.headroom, 1.7 / 1.6, 1e-3);
  // A copy is slower than reads: of a launch that writes half of its bytes, it is the rate.
  const Diagnosis copied = stateOf({{kDram, 91},
                                    {"dram__bytes_read.sum", 8e7},
                                    {"dram__bytes_write.sum", 8e7},
                                    {"measured__dram_bytes", 1.7e12},
                                    {"measured__dram_copy_bytes", 1.65e12}});
  EXPECT_NEAR(copied.headroom, 1.65 / 1.6, 1e-3);
  // What of the instructions is needed is not known.
  const Diagnosis compute = stateOf({{kSm, 99}, {kDram, 20}});
  EXPECT_EQ(compute.bound.kind, BoundKind::Compute);
  EXPECT_NEAR(compute.headroom, 5, 1e-3);
  // What the launch itself takes no kernel gets rid of.
  EXPECT_NEAR(stateOf({{kTime, 1900}}).headroom, 1.9, 1e-9);
  EXPECT_EQ(stateOf({{kTime, 1900}}).bound.resource, "DRAM");
  EXPECT_EQ(stateOf({}).bound.kind, BoundKind::Latency);
  EXPECT_THAT(boundInWords(stateOf({})), HasSubstr("nothing is busy"));
}

TEST(States, AKernelAtItsRoofIsSoHoweverItAccesses) {
  const Counters scattered{{kLoadSectors, 32}, {kDram, 92}};
  EXPECT_EQ(stateOf(scattered).state, "dram-bound");
  Counters wasteful = scattered;
  wasteful[kBuffers] = 4e7;
  EXPECT_EQ(stateOf(wasteful).state, "uncoalesced");
  Counters unknown = waiting();
  unknown.insert_or_assign(kLoadSectors, 32);
  unknown.insert_or_assign(kDram, 92);
  unknown.erase(kBuffers);
  Diagnosis diagnosis;
  must(States::load()).addTo(diagnosis, unknown);
  EXPECT_EQ(diagnosis.state, "uncoalesced");
}

TEST(States, IssueIsAResourceWhereItsRateIsKnown) {
  const Diagnosis issue = stateOf({{kSm, 80}, {"measured__instructions", 2.1e11}});
  EXPECT_EQ(issue.bound.kind, BoundKind::Issue); // 2e7 in 100 us: 95% of the rate
  EXPECT_EQ(issue.state, "instruction-issue");
}

TEST(States, OfTheEmulatedDeviceComeFromItsModel) {
  Counters counters = waiting();
  for (const auto &[name, value] : waiting())
    if (name.starts_with("smsp__average_warps") || name.starts_with("sass__"))
      counters.erase(name);
  counters[kSm] = 95;
  for (const char *unit : {"fp32", "fp16", "integer", "special", "conversion", "atomics", "issue"})
    counters["emulated__roofline_" + std::string(unit) + "_ns"] = 1000;
  counters["emulated__roofline_fp64_ns"] = 95000;
  Diagnosis diagnosis;
  must(States::load()).addTo(diagnosis, counters);
  EXPECT_EQ(diagnosis.state, "fp64-pipe");
  // Whether arrays are in local memory, and tensor cores, only machine code tells.
  EXPECT_EQ(diagnosis.unjudged.size(), 2u);
}

TEST(States, WithoutCountersThereIsNone) {
  Diagnosis diagnosis;
  must(States::load()).addTo(diagnosis, {});
  EXPECT_EQ(diagnosis.state, "");
  EXPECT_EQ(diagnosis.bound.kind, BoundKind::Unknown);
  EXPECT_EQ(boundInWords(diagnosis), "");
}

TEST(States, CountersOfNoRegionAreNamedByTheirBound) {
  Diagnosis diagnosis;
  must(States::load()).addTo(diagnosis, {{kL1, 90}});
  EXPECT_EQ(diagnosis.state, "other:memory");
  EXPECT_FALSE(diagnosis.unjudged.empty());
}

} // namespace
} // namespace state_cases
} // namespace kopt
