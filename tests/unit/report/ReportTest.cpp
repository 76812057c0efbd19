// SPDX-License-Identifier: Apache-2.0
#include "driver/report/Report.h"

#include "driver/report/RunFolder.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"
#include "unit/store/SampleRun.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// A run as the session leaves it: baseline, a failure, the winner, its confirmation.
RunHistory finishedRun() {
  RunHistory history;
  history.run = sampleRun();
  history.run.state = RunState::Finished;
  history.run.finishedUtc = "2026-01-31T12:03:00Z";
  history.run.stopText = "no proposer has anything more to offer";
  history.run.winnerHash = sampleWinner().candidateHash;
  history.run.patchText = "the patch\n";
  Trial wrong = sampleWinner();
  wrong.candidateHash = "bad";
  wrong.candidate.title = "a | b <float>";
  wrong.candidate.proposer = "llm";
  wrong.verdict = Verdict::WrongResult;
  wrong.stage = Stage::Verify;
  wrong.speedup.reset();
  wrong.timings.clear();
  wrong.sliceText.clear();
  wrong.reason = "out[17] is 0 instead of 0.5";
  Trial confirmed = sampleWinner();
  confirmed.purpose = Purpose::Confirmation;
  confirmed.speedup->estimate = 2.4;
  confirmed.timings[0].speedup = *confirmed.speedup;
  history.trials = {sampleBaseline(), wrong, sampleWinner(), confirmed};
  history.events = {
      {1, 0, Note{"baseline", "baseline measured"}},
      {2, 1, Accept{"abc", "padding", 2.5}},
      {3, 2, Checked{CheckId::None, true, "every element of every output of 1 launch compared"}},
      {4, 2, Checked{CheckId::None, false, "speed on a real GPU: times are modelled"}}};
  history.modelCalls = {{"h", "coder", "exec:replay", "q", "a", 100, 50, 20, 1.0},
                        {"i", "coder", "exec:replay", "q", "a", 10, 5, 2, 1.0}};
  history.modelCalls[1].ask = 2;
  history.modelCalls[1].dollars = 0.0123;
  history.modelCalls.push_back({"j", "coder", "folder:requests", "q", ""}); // waits for its reply
  return history;
}

Diagnosis bankConflicts() {
  Diagnosis diagnosis;
  diagnosis.state = "bank-conflicts";
  diagnosis.finding = "97% of the passes are repeats";
  diagnosis.unjudged = {"spills: metric y is missing"};
  diagnosis.bound = {BoundKind::Latency, "DRAM", 21.4};
  diagnosis.headroom = 4.6;
  diagnosis.hits = {
      {"bank-conflicts", "high", "30 extra wavefronts a request", "pad the tile", {}, {}, {}}};
  diagnosis.skipped = {"latency: metric x is missing"};
  return diagnosis;
}

/// Compares with a file under tests/golden, or writes it where KOPT_UPDATE_GOLDEN is set.
void expectGolden(const std::string &name, const std::string &text) {
  const fs::path file = fs::path(KOPT_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("KOPT_UPDATE_GOLDEN")) {
    ASSERT_TRUE(writeFileAtomically(file, text).has_value());
    return;
  }
  auto golden = must(readFile(file));
  EXPECT_EQ(text, golden) << "run again with KOPT_UPDATE_GOLDEN=1 if the change is meant";
}

TEST(Report, SaysWhereTheTimeWent) {
  RunHistory history = finishedRun();
  EXPECT_THAT(renderMarkdown(history),
              Not(HasSubstr("What the evaluations cost"))); // an older run
  history.trials[0].stages = {{"build/compile", 100}};      // the baseline is no candidate
  history.trials[1].stages = {{"build/compile", 0.5}, {"verify/draw", 0.001}};
  history.trials[1].seconds = 0.6;
  history.trials[2].stages = {{"build/compile", 1.5}, {"time/sample", 0.5}};
  history.trials[2].seconds = 2;
  const std::string text = renderMarkdown(history);
  EXPECT_THAT(text, HasSubstr("2 candidates: median 1.3 s each, longest 2 s"));
  EXPECT_THAT(text, HasSubstr("| build/compile | 2 | 1 s | 1.5 s | 2 s |"));
  EXPECT_THAT(text, HasSubstr("| time/sample | 1 | 500 ms | 500 ms | 500 ms |"));
  EXPECT_THAT(text, Not(HasSubstr("verify/draw"))); // below a hundredth
}

TEST(Report, OfAModelledWin) {
  RunHistory history = finishedRun();
  history.trials[0].diagnosis = bankConflicts();
  expectGolden("report/modelled.md", renderMarkdown(history));
}

TEST(Report, OfAMeasuredWin) {
  RunHistory history = finishedRun();
  history.run.deviceJson =
      R"j({"kind":"cuda","name":"NVIDIA H200","driver":"580.1","modelled":false,"toolchain":"nvcc 13.0.88"})j";
  for (Trial &trial : history.trials) {
    for (LaunchTiming &timing : trial.timings)
      timing.speedup = {1.87, 1.84, 1.905, 0.95, 120, false};
    if (trial.speedup)
      trial.speedup = {1.87, 1.84, 1.905, 0.95, 120, false};
    trial.counterSource = "ncu";
    if (trial.verdict == Verdict::Faster)
      trial.reason = "1.870x, at least 1.840x";
  }
  const std::string text = renderMarkdown(history);
  expectGolden("report/measured.md", text);
  EXPECT_THAT(text, Not(HasSubstr("modelled** for")));
}

TEST(Report, HasTheRemarksOfBothLooksAtTheWinnerEachOnce) {
  RunHistory history = finishedRun();
  const Finding first{"fast-math", Severity::Warning, "uses an intrinsic", "k.cu:7"},
      second{"l2", Severity::Note, "the inputs fit into L2", ""};
  history.trials[2].findings = {first};
  history.trials[3].findings = {first, second};
  const std::string text = renderMarkdown(history);
  EXPECT_THAT(text,
              HasSubstr("- warning: uses an intrinsic (k.cu:7)\n- note: the inputs fit into L2\n"));
}

TEST(Report, ListsWhatWasNotShownOnceAndInALineEach) {
  RunHistory history = finishedRun();
  const std::string varies = "'stamps' is another each time";
  addGap(history.trials[3].assurance, {CheckId::Outputs, varies});
  addGap(history.trials[3].assurance, {CheckId::Coverage, "a branch\n" + std::string(400, 'x')});
  history.events.push_back({5, 0, Checked{CheckId::None, false, varies}});
  Trial heldOut = history.trials[3];
  heldOut.purpose = Purpose::HeldOut;
  history.trials.push_back(heldOut);
  const std::string text = renderMarkdown(history);
  EXPECT_THAT(text, HasSubstr("## What was not shown\n\nAssurance: partial."));
  EXPECT_THAT(text, HasSubstr("\n- outputs: " + varies + "\n- coverage: a branch xxx"));
  EXPECT_EQ(text.find(varies), text.rfind(varies));
  EXPECT_THAT(text, HasSubstr("- speed on a real GPU"));
  EXPECT_THAT(text, HasSubstr("on held-out launches: pad"));
}

TEST(Report, NeverCallsAModelledWinFasterAlone) {
  const std::string text = renderMarkdown(finishedRun());
  for (std::size_t at = 0; (at = text.find("x faster", at)) != std::string::npos; ++at)
    EXPECT_EQ(text.substr(at, 18), "x faster, modelled");
  EXPECT_THAT(text, HasSubstr("2.40x faster, modelled"));
}

TEST(Report, ShowsTheStoredDiagnosis) {
  RunHistory history = finishedRun();
  for (Trial &trial : history.trials)
    trial.diagnosis = bankConflicts();
  EXPECT_THAT(renderMarkdown(history), HasSubstr("fires on the winner"));
}

TEST(Report, KeepsRecalledGainsApart) {
  RunHistory history = finishedRun();
  const auto parts = [&] { return gainParts(history.trials, *history.confirmation()); };
  const double all = history.confirmation()->speedup->estimate;
  EXPECT_EQ(parts().recalled, 1);
  EXPECT_EQ(parts().own, all);
  EXPECT_THAT(renderMarkdown(history), Not(HasSubstr("Recalled")));

  Trial recalled = sampleWinner();
  recalled.candidateHash = "recalled";
  recalled.candidate.proposer = "recall";
  recalled.speedup = Speedup{all / 2, 1, 1};
  Trial between = recalled;
  between.candidateHash = "between";
  between.candidate.proposer = "transform";
  between.candidate.parents = {"recalled"};
  for (Trial &trial : history.trials)
    if (trial.candidateHash == history.run.winnerHash)
      trial.candidate.parents = {"between"};
  history.trials.insert(history.trials.begin() + 1, {recalled, between});
  EXPECT_DOUBLE_EQ(parts().recalled, all / 2);
  EXPECT_DOUBLE_EQ(parts().own, 2);
  EXPECT_THAT(renderMarkdown(history), HasSubstr("this run found 2.000x on top"));
  EXPECT_THAT(renderHtml(history), HasSubstr("this run found 2.000x on top"));
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(renderJson(history))["gain"]["own"], 2);

  for (Trial &trial : history.trials)
    trial.candidate.proposer = "recall";
  EXPECT_EQ(parts().own, 1);
  EXPECT_EQ(parts().recalled, all);
}

TEST(Report, OfARunWithoutAWinner) {
  RunHistory history = finishedRun();
  history.run.winnerHash.clear();
  history.run.patchText.clear();
  const std::string text = renderMarkdown(history);
  EXPECT_THAT(text, HasSubstr("**Nothing to apply**: no candidate was accepted"));
  EXPECT_THAT(text, Not(HasSubstr("How to apply")));
}

TEST(Report, OfARunThatWasKilledBeforeItsBaseline) {
  RunHistory history;
  history.run = sampleRun();
  const std::string text = renderMarkdown(history);
  EXPECT_THAT(text, HasSubstr("**No verdict yet**: the run was interrupted, or still runs"));
  EXPECT_THAT(text, HasSubstr("No verification was recorded"));
}

TEST(Report, SaysWhereTheTimeWentInAllSessions) {
  RunHistory history = finishedRun();
  EXPECT_THAT(renderMarkdown(history), Not(HasSubstr("Where the time went")));
  for (const double search : {10.0, 2.5}) {
    Event event;
    event.what = Spent{{{"baseline", 4}, {"search", search}}, {{"extract", 1.5}}, 40};
    history.events.push_back(event);
  }
  const std::string text = renderMarkdown(history);
  EXPECT_THAT(text, HasSubstr("| extract | 3.0 | all kernels |\n"));
  EXPECT_THAT(text, HasSubstr("| search | 12.5 | this kernel |\n"));
  EXPECT_THAT(text, HasSubstr("40 s of the time budget"));
}

TEST(Report, AMissingCounterIsUnknownNeverZero) {
  RunHistory history = finishedRun();
  history.trials[2].counters.erase("dram__bytes_read.sum");
  EXPECT_THAT(renderMarkdown(history), HasSubstr("| bytes read from DRAM | 16.0 MiB | unknown |"));
}

TEST(Report, ShowsHowTheCodeChangedButNotWhatNeitherHas) {
  RunHistory history = finishedRun();
  history.trials[0].counters.insert(
      {{"sass__inst", 240}, {"sass__inst_fp64", 6}, {"sass__inst_tensor", 0}});
  history.trials[2].counters.insert(
      {{"sass__inst", 180}, {"sass__inst_fp64", 0}, {"sass__inst_tensor", 0}});
  const std::string text = renderMarkdown(history);
  EXPECT_THAT(text, HasSubstr("| instructions in the code | 240 | 180 |"));
  EXPECT_THAT(text, HasSubstr("| double instructions in the code | 6 | 0 |"));
  EXPECT_THAT(text, testing::Not(HasSubstr("tensor instructions")));
}

TEST(RunFolder, HoldsWhatAPersonWantsToSeeAndCanBeWrittenAgain) {
  auto folder = must(TemporaryDirectory::create("kopt-folder"));
  auto store = openStore(folder.path() / "kopt.db");
  ASSERT_TRUE(store.has_value());
  RunHistory history = finishedRun();
  RunRecord run = (*store)->beginRun(history.run).value();
  for (const Trial &trial : history.trials)
    ASSERT_TRUE((*store)->recordTrial(run.id, trial).has_value());
  for (const Event &event : history.events)
    ASSERT_TRUE((*store)->recordEvent(run.id, event).has_value());
  for (const ModelCall &call : history.modelCalls)
    ASSERT_TRUE((*store)->recordModelCall(run.id, call).has_value());

  const fs::path out = folder.path() / "out";
  ASSERT_TRUE(writeRunFolder(**store, run, out).has_value());
  ASSERT_TRUE(writeFileAtomically(out / "trials/009-faster-stale/trial.json", "{}").has_value());
  ASSERT_TRUE(writeRunFolder(**store, run, out).has_value());

  std::vector<std::string> files;
  for (const auto &entry : fs::recursive_directory_iterator(out))
    if (entry.is_regular_file())
      files.push_back(fs::relative(entry.path(), out).string());
  std::sort(files.begin(), files.end());
  EXPECT_THAT(
      files, testing::ElementsAre(
                 "kernel.cu", "report.html", "report.md", "run.json",
                 "trials/000-baseline/candidate.cu", "trials/000-baseline/memo.txt",
                 "trials/000-baseline/trial.json", "trials/001-wrong-result-a-b-float/build.log",
                 "trials/001-wrong-result-a-b-float/memo.txt",
                 "trials/001-wrong-result-a-b-float/trial.json",
                 "trials/002-faster-pad-tile-tile-tile-by-one-column/build.log",
                 "trials/002-faster-pad-tile-tile-tile-by-one-column/candidate.cu",
                 "trials/002-faster-pad-tile-tile-tile-by-one-column/diff.patch",
                 "trials/002-faster-pad-tile-tile-tile-by-one-column/memo.txt",
                 "trials/002-faster-pad-tile-tile-tile-by-one-column/trial.json",
                 "trials/003-confirm-pad-tile-tile-tile-by-one-column/build.log",
                 "trials/003-confirm-pad-tile-tile-tile-by-one-column/candidate.cu",
                 "trials/003-confirm-pad-tile-tile-tile-by-one-column/diff.patch",
                 "trials/003-confirm-pad-tile-tile-tile-by-one-column/memo.txt",
                 "trials/003-confirm-pad-tile-tile-tile-by-one-column/trial.json", "winner.patch"));
  EXPECT_EQ(readFile(out / "report.md").value(), renderMarkdown(history));
  EXPECT_EQ(readFile(out / "report.html").value(), renderHtml(history));
  EXPECT_THAT(
      readFile(out / "trials/002-faster-pad-tile-tile-tile-by-one-column/diff.patch").value(),
      HasSubstr("+  __shared__ float tile[TILE][TILE + 1];"));
  auto document = nlohmann::json::parse(readFile(out / "run.json").value());
  EXPECT_EQ(document["winner"], sampleWinner().candidateHash);
  EXPECT_EQ(document["trials"][2]["timings"][0]["samples"].size(), 2u);
}

TEST(RunFolder, HasOfEachTrialAMemoAndTheDifferenceToItsParent) {
  auto folder = must(TemporaryDirectory::create("kopt-folder"));
  const auto store = must(openStore(folder.path() / "kopt.db"));
  const RunRecord run = must(store->beginRun(sampleRun()));
  Trial padded = sampleWinner(), child = padded;
  padded.counters["sm__warps_active.avg.pct_of_peak_sustained_active"] = 84.79;
  padded.diagnosis.state = "bank-conflicts";
  padded.diagnosis.finding = "97% of the passes are repeats";
  child.candidateHash = "child";
  child.candidate.title = "unroll";
  child.candidate.parents = {padded.candidateHash};
  child.sliceText = padded.sliceText + "// unrolled\n";
  for (const Trial &trial : {sampleBaseline(), padded, child})
    must(store->recordTrial(run.id, trial));
  for (const char *hash : {"h", "i"})
    EXPECT_TRUE(store->recordModelCall(
        run.id, {hash, "coder", "exec:replay", "question", "answer", 1, 1, 0, 1.0}));
  ASSERT_TRUE(writeRunFolder(*store, run, folder.path()));
  const fs::path trials = folder.path() / "trials";
  const auto padding = "001-faster-pad-tile-tile-tile-by-one-column";
  const std::string memo = must(readFile(trials / padding / "memo.txt"));
  EXPECT_THAT(memo, HasSubstr("faster, decided at"));
  EXPECT_THAT(memo, HasSubstr("because: bank conflicts: 30 extra cycles a request\n"));
  EXPECT_THAT(memo, HasSubstr("state bank-conflicts: 97% of the passes are repeats\n"));
  EXPECT_THAT(memo, testing::ContainsRegex("achieved occupancy +84.79%"));
  EXPECT_FALSE(fs::exists(trials / padding / "parent.patch")) << "its parent is the baseline";
  const std::string patch = must(readFile(trials / "002-faster-unroll/parent.patch"));
  EXPECT_THAT(patch, HasSubstr("+// unrolled"));
  EXPECT_THAT(patch, Not(HasSubstr("+  __shared__ float tile[TILE][TILE + 1];")));

  EXPECT_FALSE(fs::exists(folder.path() / "calls")) << "transcripts are in the database alone";
  ASSERT_TRUE(writeTranscripts(must(loadRun(*store, run)), folder.path()));
  EXPECT_EQ(must(readFile(folder.path() / "calls/001-coder.request")), "question");
  EXPECT_EQ(must(readFile(folder.path() / "calls/002-coder.reply")), "answer");
}
TEST(RunFolder, NamesAFileThatCannotBeWritten) {
  auto folder = TemporaryDirectory::create("kopt-folder");
  auto store = openStore(folder->path() / "kopt.db");
  ASSERT_TRUE(store.has_value());
  RunRecord run = (*store)->beginRun(sampleRun()).value();
  Status status = writeRunFolder(**store, run, "/proc/kopt-out");
  EXPECT_THAT(status, fails({.code = ErrorCode::Environment, .what = HasSubstr("/proc/kopt-out")}));
}

} // namespace
} // namespace kopt
