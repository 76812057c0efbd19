// SPDX-License-Identifier: Apache-2.0
// Synthetic runs for pages and explanations: no device made these figures.
#pragma once

#include "driver/diagnose/RuleBook.h"
#include "driver/report/facts/RunHistory.h"
#include "unit/store/SampleRun.h"

#include <cmath>
#include <fmt/format.h>

namespace kopt {

/// Text that would break a page that does not escape everything.
inline const char *kHostile =
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\" onload='x' & ]]> \x01\xff "
    "\xE2\x80\xAE";

/// Figures that look drawn and are always the same.
inline double wave(std::size_t i, double period, double phase) {
  return 0.5 + 0.5 * std::sin(double(i) / period + phase);
}

/// Diagnoses all trials by their counters.
inline void diagnose(RunHistory &history) {
  const RuleBook rules = RuleBook::load().value();
  for (Trial &trial : history.trials)
    trial.diagnosis = rules.diagnose(trial.counters);
}

/// A measured search of `count` trials on a GPU, all verdicts among them, with counters, a
/// confirmation and a program in which it held. No run: it is labelled as synthetic.
inline RunHistory syntheticRun(std::size_t count) {
  RunHistory history;
  history.run = sampleRun();
  history.run.id = 1;
  history.run.name = "transpose-synthetic";
  history.run.kernel = "transpose (synthetic data)";
  history.run.deviceJson =
      R"j({"kind":"cuda","name":"synthetic GPU","arch":"sm_90","driver":"none","uuid":"",)j"
      R"j("modelled":false,"l2_bytes":52428800,"toolchain":"nvcc 13.0.88",)j"
      R"j("dram_bytes_per_second":4.9e12,"store_bytes_per_second":3.34e13})j";
  history.run.configJson =
      R"j({"directory":"/home/you/app","files":["src/transpose.cu"],"build_directory":"build",)j"
      R"j("flags":[],"kernels":["transpose"],"program":"./app --size 4096","device":"cuda",)j"
      R"j("gpus":[0],"model_gpu":"H200","arch":"","proposers":["params","transform","llm"],)j"
      R"j("model":"exec:model","max_tokens":500000,"rounds":60,"trials":200,)j"
      R"j("budget_seconds":1800.0,"patience":40,"min_gain":0.02,"batch":6,"seed":1})j";
  Trial baseline = sampleBaseline();
  baseline.speedup = Speedup{1, 0.998, 1.002, 0.99, 80, false, 5};
  baseline.stage = Stage::Time;
  baseline.gpu = "0 GPU-synthetic";
  baseline.seconds = 12;
  baseline.counterSource = "cupti";
  baseline.hotLines.lines[0].file = baseline.hotLines.lines[1].file =
      "/home/you/app/src/transpose.cu";
  baseline.counters = {{"gpu__time_duration.sum", 84000},
                       {"dram__bytes_read.sum", 67.2e6},
                       {"dram__bytes_write.sum", 67.1e6},
                       {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 33.2},
                       {"lts__throughput.avg.pct_of_peak_sustained_elapsed", 71.9},
                       {"l1tex__throughput.avg.pct_of_peak_sustained_active", 64.1},
                       {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 21.4},
                       {"sm__warps_active.avg.pct_of_peak_sustained_active", 88.3},
                       {"smsp__inst_executed.sum", 12.1e6},
                       {"launch__block_size", 256},
                       {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", 32},
                       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 1966080}};
  baseline.timings = {
      {"4096x4096", {1, 0.998, 1.002, 0.99, 80, false, 5}, 8.4e-5, 8.4e-5, {}, CacheMode::Cold},
      {"1000x1048", {1, 0.997, 1.003, 0.99, 80, false, 5}, 9.1e-6, 9.1e-6, {}, CacheMode::Cold}};
  history.trials = {baseline};
  history.events = {{1, 0, Note{"baseline", "baseline measured"}}};
  const char *const kRoles[] = {"params", "transform", "llm"};
  std::string parent = baseline.candidateHash;
  double best = 1;
  int round = 0, ask = 0;
  std::size_t bestIndex = 0;
  const auto decide = [&](auto what, std::vector<Evidence> evidence = {}) {
    history.events.push_back(
        {std::int64_t(history.events.size()) + 1, round, std::move(what), std::move(evidence)});
  };
  while (history.trials.size() < count - 1) {
    const std::string role = kRoles[round % 3];
    decide(Ask{++ask, role, {parent}, "", 6},
           {{"round", "", double(round)}, {"speedup", parent, best}});
    const std::size_t offered = std::min<std::size_t>(6, count - 1 - history.trials.size());
    decide(Offered{ask, role, std::vector<Candidate>(offered)});
    ++round;
    double roundBest = best;
    std::size_t roundIndex = 0;
    for (std::size_t k = 0; k < offered; ++k) {
      const std::size_t i = history.trials.size();
      Trial trial = baseline;
      trial.hotLines = {};
      trial.candidateHash = fmt::format("{:032x}", 0xABC0000 + i * 7919);
      trial.candidate.proposer = role;
      trial.candidate.parents = {parent};
      trial.candidate.technique = role == "params" ? "params" : role == "llm" ? "" : "unroll";
      trial.candidate.title = fmt::format("synthetic candidate {} of {}", i, role);
      trial.candidate.rationale =
          role == "transform" ? "uncoalesced-global-stores: 32 sectors" : "";
      trial.seconds = 1.2 + 3 * wave(i, 3, 1);
      trial.counters.clear();
      const std::size_t kind = (i * 7) % 20;
      if (kind < 12) {
        const double limit = 2.4 - 1.4 * std::exp(-double(round) / 12);
        const double value = 0.75 + (limit - 0.75) * (0.55 + 0.45 * wave(i, 1.7, 0.3));
        trial.speedup = Speedup{value, value * 0.987, value * 1.012, 0.99, 80, false, 5};
        trial.verdict = trial.speedup->low > 1.02    ? Verdict::Faster
                        : trial.speedup->high < 0.98 ? Verdict::Slower
                                                     : Verdict::Same;
        trial.reason = fmt::format("{:.3f}x [{:.3f}, {:.3f}] at 99% from 80 pairs in 5 processes",
                                   value, trial.speedup->low, trial.speedup->high);
        for (LaunchTiming &timing : trial.timings) {
          timing.speedup = *trial.speedup;
          timing.candidateSeconds = timing.baselineSeconds / value;
        }
        if (trial.verdict == Verdict::Faster && trial.speedup->low > roundBest * 1.02) {
          roundBest = value;
          roundIndex = i;
        }
      } else {
        trial.speedup.reset();
        trial.timings.clear();
        trial.stage = Stage::Verify;
        trial.verdict = Verdict::WrongResult;
        trial.check = CheckId::Fresh;
        trial.reason = "out[17] is 0 instead of 0.5: the tail of the last row is never written";
        if (kind > 13) {
          trial.stage = Stage::Build;
          trial.check = CheckId::None;
          trial.verdict = kind < 17 ? Verdict::Duplicate : Verdict::BuildFailed;
          trial.reason = kind < 17 ? "the same machine code and launch as an earlier trial"
                                   : "error: identifier \"tiel\" is undefined";
        } else if (kind == 13) {
          trial.stage = Stage::Screen;
          trial.verdict = Verdict::Rejected;
          trial.check = CheckId::Screen;
          trial.reason = "reads a clock";
        }
      }
      history.trials.push_back(trial);
      decide(Judged{ask, trial.candidateHash});
    }
    if (roundIndex != 0) {
      best = roundBest;
      bestIndex = roundIndex;
      parent = history.trials[roundIndex].candidateHash;
      decide(Accept{parent, history.trials[roundIndex].candidate.title, best,
                    history.trials[roundIndex].speedup->low},
             {{"speedup low", parent, history.trials[roundIndex].speedup->low}});
    }
  }
  decide(Stop{StopReason::Trials, double(count)}, {{"trials", "", double(count)}});
  history.run.state = RunState::Finished;
  history.run.finishedUtc = "2026-01-31T12:14:09Z";
  history.run.stop = StopReason::Trials;
  history.run.stopText = fmt::format("{} trials are done", count);
  if (bestIndex == 0)
    return history;
  Trial &winner = history.trials[bestIndex];
  winner.sliceText = kSampleBetterSlice;
  winner.counters = baseline.counters;
  winner.counters["gpu__time_duration.sum"] = 84000 / best;
  winner.counters["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = 33.2 * best;
  winner.counters["lts__throughput.avg.pct_of_peak_sustained_elapsed"] = 48.2;
  winner.counters["l1tex__throughput.avg.pct_of_peak_sustained_active"] = 39.5;
  winner.counters["sm__throughput.avg.pct_of_peak_sustained_elapsed"] = 44.7;
  winner.counters["smsp__inst_executed.sum"] = 9.7e6;
  winner.counters["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"] = 4;
  winner.counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] = 0;
  history.run.winnerHash = winner.candidateHash;
  diagnose(history);
  Trial confirmed = winner;
  confirmed.purpose = Purpose::Confirmation;
  confirmed.counters.clear();
  confirmed.hotLines = baseline.hotLines;
  confirmed.hotLines.lines[0].line = 5;
  confirmed.speedup = Speedup{best * 0.993, best * 0.979, best * 1.006, 0.9967, 120, false, 6};
  for (LaunchTiming &timing : confirmed.timings)
    timing.speedup = *confirmed.speedup;
  confirmed.timings.back().speedup = Speedup{1.21, 1.17, 1.26, 0.9967, 120, false, 6};
  confirmed.timings.back().candidateSeconds = 7.5e-6;
  confirmed.reason = fmt::format("{:.3f}x", confirmed.speedup->estimate);
  confirmed.checks = {
      {CheckId::Screen, CheckState::Passed, ""},
      {CheckId::Outputs, CheckState::Passed, "2 launches on two poisons"},
      {CheckId::Fresh, CheckState::Passed, "2 launches"},
      {CheckId::Sanitizer, CheckState::NotRun, "compute-sanitizer is not installed"},
      {CheckId::Emulated, CheckState::NotApplicable, "no atomics"},
      {CheckId::Mutants, CheckState::Passed, "22 of 24 wrong versions are noticed"}};
  confirmed.assurance.level = AssuranceLevel::Partial;
  confirmed.assurance.gaps = {
      {CheckId::Sanitizer,
       "no sanitizer looked at the candidate: compute-sanitizer is not installed"}};
  history.trials.push_back(confirmed);
  decide(Confirm{winner.candidateHash, winner.candidate.title, true, confirmed.reason},
         {{"speedup low", winner.candidateHash, confirmed.speedup->low}});
  decide(Checked{CheckId::None, true, "every element of every output of 2 launches compared"});
  decide(Spent{{{"baseline", 12}, {"search", 540}, {"confirm", 21}}, {{"extract", 3.1}}, 1800});
  history.run.patchText =
      "From 0\nSubject: [PATCH] synthetic\n\n---\ndiff --git a/src/transpose.cu "
      "b/src/transpose.cu\n--- a/src/transpose.cu\n+++ b/src/transpose.cu\n@@ -1,5 +1,6 @@\n "
      "constexpr int TILE = 16;\n __global__ void transpose(float *out, const float *in, int n) "
      "{\n-  __shared__ float tile[TILE][TILE];\n+  __shared__ float tile[TILE][TILE + 1];\n+  "
      "#pragma unroll 4\n   out[0] = in[0] * tile[0][0];\n }\n-- \nkopt\n";
  SessionRecord session;
  session.name = "session-synthetic";
  session.root = "/home/you/app";
  session.startedUtc = history.run.startedUtc;
  session.finishedUtc = history.run.finishedUtc;
  SessionWin win;
  win.run = history.run.id;
  win.runName = history.run.name;
  win.kernel = history.run.kernel;
  win.place = "src/transpose.cu:2";
  win.title = winner.candidate.title;
  win.state = WinState::Confirmed;
  win.reason = "it is faster in the program, too";
  win.isolated = *confirmed.speedup;
  win.program.emplace();
  win.program->oldLaunches = win.program->newLaunches = 1200;
  win.program->oldSeconds = 0.101;
  win.program->newSeconds = 0.101 / (best * 0.94);
  win.program->speedup = {best * 0.94, best * 0.90, best * 0.98, 0.95, 8, false, 8};
  win.program->proof = "its machine code was 11 and is 22";
  session.wins = {win};
  session.confirmation.done = true;
  session.confirmation.program = "./app --size 4096";
  session.confirmation.buildWay = "ninja -C build app";
  session.confirmation.pairs = 8;
  session.confirmation.oldSeconds = 1.31;
  session.confirmation.newSeconds = 1.25;
  session.confirmation.rounds = 1;
  session.confirmation.output = "the same in 3 lines";
  session.confirmed = {{"src/transpose.cu", "1", "2", {{{"src/transpose.cu", 0, 1}, "x"}}}};
  session.confirmedPatch = history.run.patchText;
  history.session = session;
  return history;
}

/// The same search where nothing held.
inline RunHistory withoutWin(RunHistory history) {
  const std::string winner = history.run.winnerHash;
  history.run.name += "-lost";
  history.run.winnerHash.clear();
  history.run.patchText.clear();
  history.session.reset();
  std::erase_if(history.trials,
                [](const Trial &trial) { return trial.purpose != Purpose::Search; });
  std::erase_if(history.events, [](const Event &event) {
    return std::holds_alternative<Accept>(event.what) ||
           std::holds_alternative<Confirm>(event.what);
  });
  for (Trial &trial : history.trials)
    if (trial.verdict == Verdict::Faster) {
      trial.verdict = Verdict::Same;
      const double value = 0.96 + 0.02 * trial.speedup->estimate;
      trial.speedup = Speedup{value, value * 0.99, value * 1.011, 0.99, 80, false, 5};
      trial.reason = fmt::format("{:.3f}x: within 2.0% of the baseline", value);
      for (LaunchTiming &timing : trial.timings)
        timing.speedup = *trial.speedup;
    }
  return history;
}

/// As a killed run leaves it: in the middle of a round, without an end.
inline RunHistory interrupted(RunHistory history) {
  history = withoutWin(std::move(history));
  history.run.name += "-interrupted";
  history.run.state = RunState::Running;
  history.run.finishedUtc.clear();
  history.run.stop.reset();
  history.run.stopText.clear();
  history.trials.resize(std::min<std::size_t>(history.trials.size(), 9));
  std::erase_if(history.events, [&](const Event &event) {
    const auto *judged = std::get_if<Judged>(&event.what);
    return event.round > 2 || (judged && !history.indexOf(judged->candidate)) ||
           !(judged || std::holds_alternative<Ask>(event.what) ||
             std::holds_alternative<Offered>(event.what) ||
             std::holds_alternative<Note>(event.what));
  });
  return history;
}

/// Every text that comes from outside is hostile.
inline RunHistory hostileRun() {
  RunHistory history = syntheticRun(20);
  history.run.kernel = history.run.file = history.run.name = history.run.stopText = kHostile;
  history.run.sliceText = std::string(kHostile) + "\n";
  history.run.patchText = std::string("diff --git a/") + kHostile + " b/" + kHostile +
                          "\n@@ -1,1 +1,1 @@\n-" + kHostile + "\n+" + kHostile + "2\n";
  for (Trial &trial : history.trials) {
    trial.candidate.title = trial.candidate.rationale = trial.reason = trial.buildLog = kHostile;
    trial.candidate.technique = trial.gpu = trial.counterSource = kHostile;
    if (&trial != history.trials.data())
      trial.candidate.proposer = kHostile;
    trial.hotLines.launch = trial.hotLines.missing = kHostile;
    for (HotLine &line : trial.hotLines.lines)
      line.file = line.text = kHostile;
    trial.findings = {{kHostile, Severity::Warning, kHostile, kHostile}};
    for (LaunchTiming &timing : trial.timings)
      timing.launch = kHostile;
    for (CheckRecord &check : trial.checks)
      check.detail = kHostile;
    for (AssuranceGap &gap : trial.assurance.gaps)
      gap.what = kHostile;
  }
  for (Event &event : history.events)
    if (auto *ask = std::get_if<Ask>(&event.what))
      ask->role = kHostile;
    else if (auto *offer = std::get_if<Offered>(&event.what))
      offer->role = kHostile;
  history.modelCalls = {{"h", kHostile, kHostile, "q", "a", 1, 2, 3, 1.0}};
  SessionRecord &session = *history.session;
  session.name = session.root = session.confirmation.program = session.confirmation.output =
      kHostile;
  session.wins[0].kernel = session.wins[0].title = session.wins[0].reason =
      session.wins[0].runName = session.wins[0].place = session.wins[0].program->proof = kHostile;
  session.confirmedPatch = history.run.patchText;
  return history;
}

} // namespace kopt
