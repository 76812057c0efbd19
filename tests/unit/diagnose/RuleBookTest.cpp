// SPDX-License-Identifier: Apache-2.0
// Every rule of knowledge/rules fires on counters that show its problem and not on their healthy
// counterpart.
#include "driver/diagnose/RuleBook.h"
#include "clang_plugin/output/Variants.h"
#include "driver/device/profile/NcuSections.h"
#include "driver/model/Diagnosis.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/KnowledgeMetrics.h"
#include "tests/fakes/Results.h"
#include "tests/fakes/SassCounterNames.h"

#include <algorithm>
#include <filesystem>
#include <fmt/ranges.h>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {
namespace {

const char *const kLoadSectors =
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
const char *const kStoreSectors =
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio";
const char *const kLoadBytes = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio";
const char *const kStoreBytes = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio";
const char *const kSm = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
const char *const kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
const char *const kL1 = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed";
const char *const kWaves = "launch__waves_per_multiprocessor";

std::string stall(const std::string &state) {
  return "smsp__average_warps_issue_stalled_" + state + "_per_issue_active.ratio";
}

/// A kernel with nothing to complain about: busy, coalesced, no rule's roof reached.
Counters healthy() {
  return {{kLoadSectors, 4},
          {kStoreSectors, 4},
          {kLoadBytes, 32},
          {kStoreBytes, 32},
          {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 10},
          {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 1000},
          {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0},
          {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 1000},
          {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", 0},
          {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", 0},
          {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", 0},
          {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", 10},
          {"smsp__inst_executed.sum", 100000},
          {"smsp__thread_inst_executed_per_inst_executed.ratio", 31.5},
          {"sm__warps_active.avg.pct_of_peak_sustained_active", 85},
          {"launch__registers_per_thread", 32},
          {"launch__block_size", 256},
          {"launch__occupancy_limit_registers", 8},
          {"launch__occupancy_limit_shared_mem", 16},
          {"launch__occupancy_limit_warps", 8},
          {"launch__occupancy_limit_blocks", 32},
          {kWaves, 12.5},
          {"dram__bytes_read.sum", 1e6},
          {"dram__bytes_write.sum", 1e6},
          {"gpu__time_duration.sum", 50000},
          {"sass__inst", 200},
          {"sass__inst_integer", 60},
          {"sass__inst_special", 2},
          {"sass__loop_inst", 50},
          {"l1tex__t_sector_hit_rate.pct", 60},
          {"lts__t_sector_hit_rate.pct", 70},
          {stall("long_scoreboard"), 0.5},
          {stall("short_scoreboard"), 0.2},
          {stall("mio_throttle"), 0.2},
          {stall("math_pipe_throttle"), 0.2},
          {stall("barrier"), 0.1},
          {"sass__inst_fp64", 0},
          {"sass__inst_conversion_fp64", 0},
          {"sass__inst_local_indexed", 0},
          {"sass__spill_load_bytes", 0},
          {"sass__spill_store_bytes", 0},
          {kSm, 65},
          {kL1, 50},
          {kDram, 70}};
}

struct Case {
  std::string rule;
  Counters change; ///< of the healthy counters
  std::string says;
};

const std::vector<Case> &cases() {
  static const std::vector<Case> kCases{
      {"uncoalesced-global-loads", {{kLoadSectors, 32}}, "touches 32.0 sectors"},
      {"partial-sectors-global-loads",
       {{kLoadSectors, 8}, {kLoadBytes, 16}},
       "use 16.0 of the 32 bytes"},
      {"uncoalesced-global-stores", {{kStoreSectors, 32}}, "touches 32.0 sectors"},
      {"partial-sectors-global-stores",
       {{kStoreSectors, 8}, {kStoreBytes, 16}},
       "fill 16.0 of the 32 bytes"},
      {"local-memory-spills",
       {{"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", 40000}},
       "moves 40000 sectors"},
      {"dram-bound", {{kDram, 91}}, "DRAM runs at 91%"},
      {"excessive-atomics",
       {{"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", 5000}},
       "5.0% of instructions"},
      {"shared-bank-conflicts-loads",
       {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 968}},
       "97% of the passes of shared-memory loads (968 of 1000)"},
      {"shared-bank-conflicts-stores",
       {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 500}},
       "50% of the passes of shared-memory stores"},
      {"occupancy-limited-by-registers",
       {{"sm__warps_active.avg.pct_of_peak_sustained_active", 24},
        {"launch__occupancy_limit_registers", 2},
        {"launch__registers_per_thread", 120}},
       "120 registers per thread limit an SM to 2 blocks"},
      {"occupancy-limited-by-shared-memory",
       {{"sm__warps_active.avg.pct_of_peak_sustained_active", 24},
        {"launch__occupancy_limit_shared_mem", 2}},
       "shared memory limits an SM to 2 blocks"},
      {"occupancy-limited-by-block-size",
       {{"sm__warps_active.avg.pct_of_peak_sustained_active", 45},
        {"launch__occupancy_limit_warps", 64},
        {"launch__occupancy_limit_registers", 64},
        {"launch__occupancy_limit_shared_mem", 40},
        {"launch__block_size", 32}},
       "at most 32 blocks"},
      {"partial-warps", {{"launch__block_size", 100}}, "leaves 28 lanes"},
      {"small-grid", {{kWaves, 0.25}, {kSm, 12}, {kDram, 8}}, "fills 0.25 of one wave"},
      {"tail-wave", {{kWaves, 1.1}}, "1.10 waves"},
      {"warp-divergence",
       {{"smsp__thread_inst_executed_per_inst_executed.ratio", 16.5}},
       "16.5 of 32 lanes"},
      {"compute-bound", {{kSm, 93}}, "run at 93%"},
      {"launch-overhead", {{"gpu__time_duration.sum", 1600}}, "62% of this launch (1.6 us)"},
      {"latency-bound", {{kSm, 31}, {kDram, 22}}, "compute (31%) nor DRAM (22%)"},
      {"double-in-float-code",
       {{"sass__inst_fp64", 3}, {"sass__inst_conversion_fp64", 4}},
       "3 double instructions and 4 conversions"},
      {"spills-in-code", {{"sass__spill_load_bytes", 140}}, "and loads 140"},
      {"array-in-local-memory", {{"sass__inst_local_indexed", 5}}, "5 instructions access local"},
      {"stall-long-scoreboard", {{stall("long_scoreboard"), 8}}, "wait 8.0 cycles for data"},
      {"stall-short-scoreboard", {{stall("short_scoreboard"), 4}}, "wait 4.0 cycles for shared"},
      {"stall-mio-throttle", {{stall("mio_throttle"), 4}}, "wait 4.0 cycles for a place"},
      {"stall-math-pipe", {{stall("math_pipe_throttle"), 4}}, "wait 4.0 cycles for a pipe"},
      {"stall-barrier", {{stall("barrier"), 6.5}}, "wait 6.5 cycles at barriers"},
      {"index-arithmetic", {{"sass__inst_integer", 120}}, "60% of the instructions"},
      {"special-functions", {{"sass__inst_special", 12}}, "12 of 200 instructions"},
      {"caches-miss",
       {{"l1tex__t_sector_hit_rate.pct", 5},
        {"lts__t_sector_hit_rate.pct", 20},
        {"dram__bytes_read.sum", 3e6}},
       "L1 serves 5% and L2 20%"},
  };
  return kCases;
}

RuleBook book() {
  auto loaded = RuleBook::load();
  EXPECT_TRUE(loaded) << loaded.error().where << ": " << loaded.error().what;
  return std::move(*loaded);
}

Counters problem(const Case &c) {
  Counters counters = healthy();
  for (const auto &[name, value] : c.change)
    counters[name] = value;
  return counters;
}

const RuleHit *findHit(const Diagnosis &diagnosis, const std::string &id) {
  for (const RuleHit &hit : diagnosis.hits)
    if (hit.id == id)
      return &hit;
  return nullptr;
}

/// Rule objects straight from the files.
std::vector<nlohmann::json> ruleObjects() {
  std::vector<nlohmann::json> rules;
  for (const auto &entry :
       std::filesystem::directory_iterator(KOPT_SOURCE_DIR "/knowledge/rules")) {
    std::ifstream in(entry.path());
    nlohmann::json document = nlohmann::json::parse(in);
    for (auto &rule : document["rules"])
      rules.push_back(rule);
  }
  return rules;
}

// Nsight Compute 2025.3 on an H200, examples/transpose with 4096 x 4096 floats: as it is, and with
// STAGED = 1 (a shared tile without padding).
Counters measuredNaive() {
  return {
      {"dram__bytes_read.sum", 77839616},
      {"dram__bytes_write.sum", 58943232},
      {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 10.39},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 4},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", 32},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 0},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 0},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 0},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", 0},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 524288},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", 0},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 524288},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 2097152},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 16777216},
      {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", 0},
      {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", 0},
      {"l1tex__t_set_accesses_pipe_lsu_mem_global_op_atom.sum", 0},
      {"l1tex__t_set_accesses_pipe_lsu_mem_global_op_red.sum", 0},
      {"launch__block_size", 256},
      {"launch__occupancy_limit_blocks", 32},
      {"launch__occupancy_limit_registers", 8},
      {"launch__occupancy_limit_shared_mem", 32},
      {"launch__occupancy_limit_warps", 8},
      {"launch__registers_per_thread", 26},
      {"launch__shared_mem_per_block_dynamic", 0},
      {"launch__shared_mem_per_block_static", 0},
      {"launch__waves_per_multiprocessor", 15.52},
      {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 7.66},
      {"sm__warps_active.avg.pct_of_peak_sustained_active", 84.79},
      {"smsp__inst_executed.sum", 10092544},
      {"smsp__inst_executed_op_local_ld.sum", 0},
      {"smsp__inst_executed_op_local_st.sum", 0},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 100},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 32},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 12.5},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", 4},
      {"smsp__sass_inst_executed_op_global_atom.sum", 0},
      {"smsp__sass_inst_executed_op_global_red.sum", 0},
      {"smsp__thread_inst_executed_per_inst_executed.ratio", 32},
  };
}

Counters measuredStaged() {
  Counters counters = measuredNaive();
  for (const auto &[name, value] :
       Counters{{"dram__bytes_read.sum", 67119616},
                {"dram__bytes_write.sum", 47325184},
                {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 21.41},
                {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", 4},
                {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 16515412},
                {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 15294},
                {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 17039700},
                {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 539582},
                {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 2097152},
                {"launch__occupancy_limit_shared_mem", 20},
                {"launch__registers_per_thread", 32},
                {"launch__shared_mem_per_block_static", 4096},
                {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 23.1},
                {"sm__warps_active.avg.pct_of_peak_sustained_active", 92.99},
                {"smsp__inst_executed.sum", 20185088},
                {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 100},
                {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", 32}})
    counters[name] = value;
  return counters;
}

std::vector<std::string> idsOf(const Diagnosis &diagnosis) {
  std::vector<std::string> ids;
  for (const RuleHit &hit : diagnosis.hits)
    ids.push_back(hit.id);
  return ids;
}

TEST(RuleBook, ExplainsWhatWasMeasuredOnAnH200) {
  EXPECT_EQ(idsOf(book().diagnose(measuredNaive())),
            (std::vector<std::string>{"uncoalesced-global-stores"}));
  EXPECT_EQ(idsOf(book().diagnose(measuredStaged())),
            (std::vector<std::string>{"shared-bank-conflicts-loads"}));
}

TEST(RuleBook, LatencyIsNotBlamedForScatteredAccessesOrABusyL1) {
  Counters counters = healthy();
  counters[kSm] = 20;
  counters[kDram] = 20;
  EXPECT_EQ(idsOf(book().diagnose(counters)), (std::vector<std::string>{"latency-bound"}));
  counters[kL1] = 90;
  EXPECT_TRUE(book().diagnose(counters).hits.empty());
  counters[kL1] = 30;
  counters[kStoreSectors] = 32;
  EXPECT_EQ(idsOf(book().diagnose(counters)),
            (std::vector<std::string>{"uncoalesced-global-stores"}));
}

TEST(RuleBook, TheEmulatedDeviceSaysWhatItAddsForALaunch) {
  Counters counters = healthy();
  counters["gpu__time_duration.sum"] = 2440;
  EXPECT_TRUE(book().diagnose(counters).hits.empty());
  counters["emulated__launch_ns"] = 2000;
  const Diagnosis diagnosis = book().diagnose(counters);
  ASSERT_NE(findHit(diagnosis, "launch-overhead"), nullptr);
  EXPECT_EQ(findHit(diagnosis, "launch-overhead")->finding.substr(0, 30),
            "82% of this launch (2.4 us) is");
}

/// The counters of launches on an H200, with the name of the program.
std::vector<std::pair<std::string, Counters>> recordedOnAnH200() {
  std::vector<std::pair<std::string, Counters>> recorded{{"examples/transpose", measuredNaive()},
                                                         {"examples/transpose", measuredStaged()}};
  const std::filesystem::path tests = KOPT_SOURCE_DIR "/tests";
  const auto planted =
      nlohmann::json::parse(must(readFile(tests / "unit/diagnose/planted-h200.json")));
  for (const auto &kernel : planted["kernels"]) {
    const bool isMultinomial = kernel["kernel"] == "sampleMultinomialOnce";
    Counters &counters =
        recorded.emplace_back(isMultinomial ? "multinomial-cuda" : "planted.cu", Counters()).second;
    for (std::size_t i = 0; i < kernel["values"].size(); ++i)
      if (kernel["values"][i].is_number())
        counters[planted["counters"][i]] = kernel["values"][i];
  }
  for (const auto &file : std::filesystem::directory_iterator(tests / "strategies/recorded")) {
    const auto json = nlohmann::json::parse(must(readFile(file.path())));
    for (const auto &counters : json["counters"])
      recorded.emplace_back(json["program"], counters.get<Counters>());
  }
  return recorded;
}

// The messages are in the words of ncu 2025, shortened.
TEST(RuleBook, NvidiasAdviceIsMarkedWhereAStateOrARuleThatHoldsSaysTheSame) {
  const RuleBook rules = book();
  const Diagnosis diagnosis = rules.diagnose(measuredNaive());
  const auto agreeing = [&](const char *rule, const char *text) {
    NcuReport::Advice advice;
    advice.rule = rule;
    advice.text = text;
    return rules.agreeing(diagnosis, advice);
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(diagnosis.state, "uncoalesced");
  EXPECT_EQ(agreeing("UncoalescedGlobalAccess", "This kernel has uncoalesced global accesses"),
            (Ids{"state uncoalesced", "rule uncoalesced-global-stores"}));
  EXPECT_EQ(agreeing("MemoryCacheAccessPattern",
                     "The memory access pattern for global stores to L1TEX might not be optimal."),
            (Ids{"state uncoalesced", "rule uncoalesced-global-stores"}));
  EXPECT_EQ(agreeing("MemoryCacheAccessPattern",
                     "The memory access pattern for local loads from L1TEX might not be optimal."),
            Ids());
  EXPECT_EQ(agreeing("CPIStall", "stalled waiting for sibling warps at a CTA barrier"), Ids())
      << "the rule of barriers does not fire";
  EXPECT_EQ(agreeing("FPInstructions", "fused and non-fused instructions"), Ids());
}

// Of warps that start anew all the time, most are found at the first lines.
TEST(RuleBook, TheStallsThatTheStateBlamesComeFirst) {
  Diagnosis diagnosis;
  diagnosis.state = "bank-conflicts";
  const auto stall = [](SassClass kind, unsigned line) {
    return StallSlice{.blamed = {"a.cu", line}, .kind = kind};
  };
  const std::vector<StallSlice> found{stall(SassClass::Movement, 28),
                                      stall(SassClass::SharedLoad, 34),
                                      stall(SassClass::SharedStore, 30)};
  const auto linesOf = [](const std::vector<StallSlice> &stalls) {
    std::vector<unsigned> lines;
    for (const StallSlice &one : stalls)
      lines.push_back(one.blamed.line);
    return lines;
  };
  const RuleBook rules = book();
  std::vector<StallSlice> stalls = found;
  rules.putBlamedFirst(diagnosis, stalls);
  EXPECT_EQ(linesOf(stalls), (std::vector<unsigned>{34, 30, 28}));
  diagnosis.state = "small-grid"; // blames no instructions
  stalls = found;
  rules.putBlamedFirst(diagnosis, stalls);
  EXPECT_EQ(linesOf(stalls), (std::vector<unsigned>{28, 34, 30}));
}

// A row that ncu 2025.3.1 printed of a launch on an H200 (tests/unit/device/NcuSectionsTest.cpp),
// beside the counters of a kernel that waits there as well.
TEST(RuleBook, AdviceThatWasRecordedOnAnH200IsThatOfTheRuleOfLatency) {
  const NcuReport report = must(parseNcuDetails(
      R"csv("ID","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"
"0","ComputeWorkloadAnalysis","","","","HighPipeUtilization","OPT","All compute pipelines are under-utilized. Either this workload is very small or it doesn't issue enough warps per scheduler. Check the Launch Statistics and Scheduler Statistics sections for further details.","local","96.11"
)csv"));
  ASSERT_EQ(report.advice.size(), 1u);
  const RuleBook rules = book();
  bool isThere = false;
  for (const auto &[program, counters] : recordedOnAnH200()) {
    const Diagnosis diagnosis = rules.diagnose(counters);
    const bool isLatency = findHit(diagnosis, "latency-bound") != nullptr;
    isThere |= isLatency;
    const auto agreeing = rules.agreeing(diagnosis, report.advice.front());
    EXPECT_EQ(std::ranges::count(agreeing, "rule latency-bound") > 0, isLatency) << program;
  }
  EXPECT_TRUE(isThere);
}

TEST(RuleBook, NamesOnlyRulesThatNsightComputeHas) {
  const std::set<std::string> there{"AchievedOccupancy",       "CPIStall",
                                    "HighPipeUtilization",     "IssueSlotUtilization",
                                    "LaunchConfiguration",     "MemoryCacheAccessPattern",
                                    "SOLBottleneck",           "SharedMemoryConflicts",
                                    "TheoreticalOccupancy",    "ThreadDivergence",
                                    "UncoalescedGlobalAccess", "UncoalescedSharedAccess"};
  const auto states =
      nlohmann::json::parse(must(readFile(KOPT_SOURCE_DIR "/knowledge/states.json")));
  std::size_t named = 0;
  for (const auto &entries : {ruleObjects(), states["states"].get<std::vector<nlohmann::json>>()})
    for (const auto &entry : entries)
      for (const std::string &message : entry.value("ncu", std::vector<std::string>())) {
        ++named;
        EXPECT_TRUE(there.contains(message.substr(0, message.find(": ")))) << message;
      }
  EXPECT_GT(named, 40u);
}

TEST(RuleBook, EveryRuleHasACase) {
  std::set<std::string> written, tested;
  for (const auto &rule : ruleObjects())
    written.insert(rule["id"].get<std::string>());
  for (const Case &c : cases())
    tested.insert(c.rule);
  EXPECT_EQ(written, tested);
}

TEST(RuleBook, AHealthyKernelHasNoFindingAndNothingIsSkipped) {
  Diagnosis diagnosis = book().diagnose(healthy());
  for (const RuleHit &hit : diagnosis.hits)
    ADD_FAILURE() << hit.id << ": " << hit.finding;
  for (const std::string &line : diagnosis.skipped)
    ADD_FAILURE() << line;
}

TEST(RuleBook, EachRuleFiresOnItsProblemAndNamesTheFigures) {
  RuleBook rules = book();
  for (const Case &c : cases()) {
    Diagnosis diagnosis = rules.diagnose(problem(c));
    const RuleHit *hit = findHit(diagnosis, c.rule);
    ASSERT_NE(hit, nullptr) << c.rule;
    EXPECT_NE(hit->finding.find(c.says), std::string::npos) << hit->finding;
    EXPECT_FALSE(hit->evidence.empty()) << c.rule;
    EXPECT_EQ(diagnosis.hits.size(), 1u) << c.rule << " does not fire alone";
  }
}

TEST(RuleBook, ARuleWithoutItsMetricIsSkippedAndNamed) {
  RuleBook rules = book();
  for (const Case &c : cases()) {
    Counters counters = problem(c);
    Diagnosis with = rules.diagnose(counters);
    ASSERT_NE(findHit(with, c.rule), nullptr) << c.rule;
    std::string first = findHit(with, c.rule)->evidence.front().first;
    counters.erase(first);
    Diagnosis without = rules.diagnose(counters);
    EXPECT_EQ(findHit(without, c.rule), nullptr) << c.rule << " fired without " << first;
    bool named =
        std::any_of(without.skipped.begin(), without.skipped.end(), [&](const std::string &line) {
          return line == c.rule + ": metric " + first + " is missing";
        });
    EXPECT_TRUE(named) << c.rule << " without " << first;
  }
}

TEST(RuleBook, NoCountersSkipEveryRule) {
  Diagnosis diagnosis = book().diagnose({});
  EXPECT_TRUE(diagnosis.hits.empty());
  EXPECT_EQ(diagnosis.skipped.size(), cases().size());
}

TEST(RuleBook, AnotherSpellingOfAMetricServes) {
  Counters counters{{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 3200},
                    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 100}};
  Diagnosis diagnosis = book().diagnose(counters);
  ASSERT_NE(findHit(diagnosis, "uncoalesced-global-stores"), nullptr);
  EXPECT_EQ(findHit(diagnosis, "uncoalesced-global-stores")->evidence.size(), 2u);
}

TEST(RuleBook, FindingsAreOrderedBySeverity) {
  Counters counters = healthy();
  counters[kWaves] = 1.1;                                                     // low
  counters["launch__block_size"] = 100;                                       // medium
  counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] = 900; // high
  Diagnosis diagnosis = book().diagnose(counters);
  ASSERT_EQ(diagnosis.hits.size(), 3u);
  EXPECT_EQ(diagnosis.hits[0].severity, "high");
  EXPECT_EQ(diagnosis.hits[1].severity, "medium");
  EXPECT_EQ(diagnosis.hits[2].severity, "low");
  EXPECT_EQ(diagnosis.hits[0].techniques, (std::vector<std::string>{"shared-padding"}));
}

TEST(RuleBook, TheMemoryRoofOffersNothing) {
  Counters counters = healthy();
  counters[kDram] = 95;
  Diagnosis diagnosis = book().diagnose(counters);
  ASSERT_NE(findHit(diagnosis, "dram-bound"), nullptr);
  EXPECT_TRUE(findHit(diagnosis, "dram-bound")->techniques.empty());
  EXPECT_NE(findHit(diagnosis, "dram-bound")->finding.find("only moving fewer bytes"),
            std::string::npos);
}

TEST(RuleBook, AKernelThatIsDoubleThroughoutIsNoAccident) {
  Counters counters = healthy();
  counters["sass__inst_fp64"] = 40;
  EXPECT_TRUE(book().diagnose(counters).hits.empty());
}

TEST(RuleBook, ReadsOnlyCountersOfTheCodeThatThereAre) {
  const std::vector<std::string> known = fakes::sassCounterNames();
  for (const std::string &metric : fakes::metricsOfRules())
    if (metric.starts_with("sass__"))
      EXPECT_TRUE(std::count(known.begin(), known.end(), metric)) << metric;
}

TEST(RuleBook, EveryThresholdHasASource) {
  for (const auto &rule : ruleObjects())
    EXPECT_GT(rule.value("source", "").size(), 5u) << rule["id"];
}

TEST(RuleBook, TechniquesAreTransformsThatExist) {
  const std::set<std::string> kTransforms(std::begin(kRewriteIds), std::end(kRewriteIds));
  for (const auto &rule : ruleObjects())
    for (const auto &technique : rule.value("techniques", nlohmann::json::array()))
      EXPECT_TRUE(kTransforms.count(technique.get<std::string>()))
          << rule["id"] << ": " << technique;
}

TEST(RuleBook, ListsTheMetricsToCollect) {
  std::vector<std::string> metrics = fakes::metricsOfRules();
  EXPECT_TRUE(std::count(metrics.begin(), metrics.end(), kLoadSectors));
  EXPECT_TRUE(std::count(metrics.begin(), metrics.end(), "launch__shared_mem_per_block_static"));
  EXPECT_FALSE(std::count(metrics.begin(), metrics.end(), "load_sectors"))
      << "a rule's own value is no metric";
}

TEST(Skills, EveryDocumentHasItsFourSectionsAndARuleOrAStateNamesIt) {
  std::set<std::string> used;
  for (const auto &rule : ruleObjects())
    for (const auto &skill : rule["skills"])
      used.insert(skill.get<std::string>());
  const States states = must(States::load());
  for (const States::State &state : states.all())
    used.insert(state.skills.begin(), state.skills.end());
  std::size_t documents = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(KOPT_SOURCE_DIR "/knowledge/skills")) {
    std::string name = entry.path().stem().string();
    ++documents;
    EXPECT_TRUE(used.contains(name)) << name << " is named by no rule and by no state";
    std::string text = RuleBook::skill(name);
    for (const char *heading :
         {"## Signal\n", "## Root causes\n", "## Fixes\n", "## Anti-patterns\n"})
      EXPECT_NE(text.find(heading), std::string::npos) << name << " has no " << heading;
    EXPECT_NE(RuleBook::skillCatalogue().find("- " + name + ": "), std::string::npos);
  }
  EXPECT_EQ(documents, used.size());
}

TEST(Skills, OfTheStateComeBeforeThoseOfRules) {
  Diagnosis diagnosis;
  diagnosis.state = "memory-latency";
  EXPECT_EQ(book().skillsFor(diagnosis), (std::vector<std::string>{"async-copy"}));
  Counters counters = healthy();
  counters[stall("long_scoreboard")] = 8;
  diagnosis.hits = book().diagnose(counters).hits;
  EXPECT_EQ(book().skillsFor(diagnosis),
            (std::vector<std::string>{"async-copy", "memory-parallelism"}));
}

// "shown_by" in knowledge/ is what recordings on a GPU reach. If this fails after a recording was
// added or a condition was changed, say there what is true now.
TEST(RuleBook, UnprovenIsWhatNoRecordingReaches) {
  const RuleBook rules = book();
  std::map<std::string, std::set<std::string>> programs; ///< by what they reach
  for (const auto &[program, counters] : recordedOnAnH200()) {
    const Diagnosis diagnosis = rules.diagnose(counters);
    programs["state " + diagnosis.state].insert(program);
    for (const RuleHit &hit : diagnosis.hits)
      programs["rule " + hit.id].insert(program);
    for (const std::string &skill : rules.skillsFor(diagnosis))
      programs["skill " + skill].insert(program);
  }
  for (const Proof &proof : rules.proofs()) {
    const std::set<std::string> &reaching = programs[proof.kind + " " + proof.id];
    const auto isNamed = [&](const std::string &program) {
      return proof.shownBy.find(program) != std::string::npos;
    };
    EXPECT_EQ(proof.isProven(), !reaching.empty()) << proof.kind << " " << proof.id;
    EXPECT_TRUE(proof.kind == "skill" || reaching.empty() || std::ranges::any_of(reaching, isNamed))
        << proof.kind << " " << proof.id << " is shown by "
        << fmt::to_string(fmt::join(reaching, ", ")) << ", not by " << proof.shownBy;
  }
}

TEST(Skills, AnUnknownNameIsEmpty) { EXPECT_EQ(RuleBook::skill("no-such-skill"), ""); }

} // namespace
} // namespace kopt
