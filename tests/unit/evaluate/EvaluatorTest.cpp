// SPDX-License-Identifier: Apache-2.0
#include "fakes/FakeBench.h"

#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

class EvaluatorTest : public testing::Test {
protected:
  Evaluator make(const std::string &kernel = "kernel", bool modelled = false, unsigned buildThreads = 0,
                 EvaluatorOptions options = {}) {
    runner_ = std::make_unique<FakeRunner>(folder_.path(), modelled);
    options.scratch = folder_.path() / "evaluate";
    options.buildThreads = buildThreads;
    EXPECT_TRUE(createDirectories(options.scratch));
    const auto profile = [this](ModuleId module, const std::filesystem::path &, const Launch &launch) {
      return runner_->profile(module, launch, {});
    };
    EvaluatorServices services{frontend_, toolchain_, {{*runner_, profile, "0 fake"}}, {}};
    if (hasEmulated_)
      services.emulate = [this]() -> Result<EmulatedDevice> {
        ++opened_;
        return EmulatedDevice{std::make_unique<FakeToolchain>(), std::make_unique<FakeRunner>(emulated_.path(), true)};
      };
    return Evaluator(std::move(services), makeSubject(kernel), options);
  }
  Trial judge(Evaluator &evaluator, const std::string &text) {
    auto trial = evaluator.evaluate(candidateWith(text));
    EXPECT_TRUE(trial) << (trial ? "" : trial.error().what);
    return *trial;
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("evaluator"));
  FakeFrontend frontend_;
  FakeToolchain toolchain_;
  std::unique_ptr<FakeRunner> runner_;
  TemporaryDirectory emulated_ = std::move(*TemporaryDirectory::create("emulated"));
  bool hasEmulated_ = false;
  int opened_ = 0;
};

const GateRecord *recordOf(const Trial &trial, const std::string &gate) {
  for (const GateRecord &record : trial.gates)
    if (record.gate == gate)
      return &record;
  return nullptr;
}

TEST_F(EvaluatorTest, TheBaselineIsMeasuredAndItsPureOutputFound) {
  Evaluator evaluator = make();
  const auto baseline = evaluator.measureBaseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  EXPECT_EQ(baseline->verdict, Verdict::Same);
  ASSERT_EQ(baseline->timings.size(), 1u);
  EXPECT_NEAR(baseline->timings[0].baselineSeconds, 1e-4, 1e-6);
  EXPECT_TRUE(evaluator.subject().workload.launches[0].buffers[1].output);
}

TEST_F(EvaluatorTest, EachLaunchOfTheBaselineIsProfiledOnceOnAModelledDevice) {
  Evaluator evaluator = make("kernel", true);
  ASSERT_TRUE(evaluator.measureBaseline());
  EXPECT_EQ(runner_->profiles, 1);
}

TEST_F(EvaluatorTest, VerdictsFollowTheFirstLayerThatFails) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  const struct {
    const char *text;
    Verdict verdict;
    Layer layer;
  } cases[] = {
      {"REJECT FAST", Verdict::Rejected, Layer::Screen},   {"NOBUILD", Verdict::BuildFailed, Layer::Build},
      {"WRONG FAST", Verdict::WrongResult, Layer::Verify}, {"NAN FAST", Verdict::WrongResult, Layer::Verify},
      {"PARTIAL FAST", Verdict::WrongResult, Layer::Verify}, {"GUARD FAST", Verdict::WrongResult, Layer::Verify},
      {"FLAKY FAST", Verdict::WrongResult, Layer::Verify}, {"FAULT", Verdict::RunFailed, Layer::Verify},
      {"HANG", Verdict::TimedOut, Layer::Verify},          {"NOOP FAST", Verdict::WrongResult, Layer::Verify},
      {"SLOW", Verdict::Slower, Layer::Time},              {"FAST", Verdict::Faster, Layer::Time},
      {"other", Verdict::Same, Layer::Time},               {"CHEAT FAST", Verdict::WrongResult, Layer::Time},
  };
  for (const auto &test : cases) {
    const Trial trial = judge(evaluator, test.text);
    EXPECT_EQ(trial.verdict, test.verdict) << test.text << ": " << trial.reason;
    EXPECT_EQ(trial.layer, test.layer) << test.text;
    EXPECT_FALSE(trial.reason.empty()) << test.text;
  }
}

TEST_F(EvaluatorTest, AFailureCostsOnlyItself) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  const Trial before = judge(evaluator, "FAST one");
  judge(evaluator, "FAULT");
  judge(evaluator, "HANG");
  const Trial after = judge(evaluator, "FAST two");
  EXPECT_EQ(before.verdict, after.verdict);
  EXPECT_DOUBLE_EQ(before.speedup->estimate, after.speedup->estimate);
}

TEST_F(EvaluatorTest, AWinHasAnIntervalAndIsMeasured) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  const Trial trial = judge(evaluator, "FAST");
  ASSERT_TRUE(trial.speedup);
  EXPECT_FALSE(trial.speedup->modelled);
  EXPECT_GT(trial.speedup->low, 1.9);
  EXPECT_GE(trial.speedup->pairs, 10u);
}

TEST_F(EvaluatorTest, OnAGpuOnlyWhoNeedsCountersPaysForThem) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  EXPECT_EQ(runner_->profiles, 1);
  Trial fast = judge(evaluator, "FAST");
  EXPECT_TRUE(fast.counters.empty());
  EXPECT_EQ(runner_->profiles, 1);
  const int builds = toolchain_.builds;
  ASSERT_TRUE(evaluator.addCounters(fast));
  EXPECT_FALSE(fast.counters.empty());
  EXPECT_EQ(fast.counterSource, "fake");
  EXPECT_TRUE(fast.stages.contains("profile/other"));
  EXPECT_EQ(toolchain_.builds, builds); // what was verified is what is profiled
  ASSERT_TRUE(evaluator.addCounters(fast));
  EXPECT_EQ(runner_->profiles, 2);
  Trial wrong = judge(evaluator, "WRONG");
  ASSERT_TRUE(evaluator.addCounters(wrong));
  EXPECT_TRUE(wrong.counters.empty());
}

TEST_F(EvaluatorTest, CountersOfATrialOfAnEarlierRunNeedABuild) {
  Evaluator first = make();
  ASSERT_TRUE(first.measureBaseline());
  Trial trial = judge(first, "FAST");
  Evaluator second = make();
  ASSERT_TRUE(second.measureBaseline());
  second.remember(trial);
  ASSERT_TRUE(second.addCounters(trial));
  EXPECT_FALSE(trial.counters.empty());
}

TEST_F(EvaluatorTest, BuildingAheadChangesNoVerdict) {
  const std::vector<std::string> texts = {"SLOW LONG", "FAST LONG", "NOBUILD", "REJECT", "FAST LONG// twin",
                                          "WRONG LONG", "kernel// comment", "FAULT", "other"};
  std::vector<Candidate> candidates;
  for (const std::string &text : texts)
    candidates.push_back(candidateWith(text));
  Evaluator plain = make();
  ASSERT_TRUE(plain.measureBaseline());
  std::vector<Trial> expected;
  for (const Candidate &candidate : candidates)
    expected.push_back(*plain.evaluate(candidate));
  EXPECT_EQ(toolchain_.most, 1);

  Evaluator ahead = make("kernel", false, 3);
  ASSERT_TRUE(ahead.measureBaseline());
  ahead.begin(candidates);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto trial = ahead.evaluate(candidates[i]);
    ASSERT_TRUE(trial) << trial.error().what;
    EXPECT_EQ(trial->verdict, expected[i].verdict) << texts[i];
    EXPECT_EQ(trial->reason, expected[i].reason) << texts[i];
    EXPECT_EQ(trial->layer, expected[i].layer) << texts[i];
    EXPECT_EQ(trial->buildLog, expected[i].buildLog) << texts[i];
    EXPECT_EQ(trial->moduleHash, expected[i].moduleHash) << texts[i];
    EXPECT_TRUE(trial->stages.contains("wait")) << texts[i];
  }
  EXPECT_GT(toolchain_.most, 1);
  EXPECT_LE(toolchain_.most, 3);
}

TEST_F(EvaluatorTest, AnErrorWhileBuildingAheadIsThatOfItsCandidate) {
  Evaluator evaluator = make("kernel", false, 2);
  ASSERT_TRUE(evaluator.measureBaseline());
  evaluator.begin({candidateWith("FULLDISK"), candidateWith("FAST")});
  const auto failed = evaluator.evaluate(candidateWith("FULLDISK"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Environment);
  EXPECT_EQ(judge(evaluator, "FAST").verdict, Verdict::Faster);
}

TEST_F(EvaluatorTest, TimesOfAThrottledGpuAreNoEvidence) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  const Trial trial = judge(evaluator, "FAST HOT");
  EXPECT_EQ(trial.verdict, Verdict::Ambiguous);
  EXPECT_NE(trial.reason.find("hw-thermal"), std::string::npos) << trial.reason;
}

TEST_F(EvaluatorTest, TimesOfAGpuThatOthersUseAreNoEvidence) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  const Trial trial = judge(evaluator, "FAST OTHERS");
  EXPECT_EQ(trial.verdict, Verdict::Ambiguous);
  EXPECT_NE(trial.reason.find("process 4711"), std::string::npos) << trial.reason;
}

TEST_F(EvaluatorTest, AWinnerIsTimedInFreshProcessesEachOfWhichCountsOnce) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  judge(evaluator, "FAST");
  EXPECT_EQ(runner_->processes, 0);
  const auto confirmed = evaluator.confirm(candidateWith("FAST"));
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Faster);
  EXPECT_EQ(runner_->processes, 5);
  EXPECT_EQ(confirmed->speedup->processes, 5u);
  EXPECT_EQ(confirmed->timings[0].samples.size(), 200u);
  EXPECT_EQ(confirmed->timings[0].samples.back().process, 4u);
  EXPECT_NE(confirmed->reason.find("in 5 processes"), std::string::npos) << confirmed->reason;
}

TEST_F(EvaluatorTest, WhatOneProcessDoesToTheTimesIsNoWin) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  // In some processes the baseline has bad luck: two percent is more than enough to win in one of those.
  runner_->processEffect = [](int process) { return process % 2 == 0 ? 1.02 : 0.99; };
  EXPECT_EQ(judge(evaluator, "other").verdict, Verdict::Faster);
  const auto confirmed = evaluator.confirm(candidateWith("other"));
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Ambiguous) << confirmed->reason;
}

TEST_F(EvaluatorTest, WhatWasBuiltAheadInVainIsDropped) {
  const int before = toolchain_.builds;
  {
    Evaluator evaluator = make("kernel", false, 1);
    ASSERT_TRUE(evaluator.measureBaseline());
    std::vector<Candidate> many;
    for (int i = 0; i < 100; ++i)
      many.push_back(candidateWith(fmt::format("LONG {}", i)));
    evaluator.begin(many);
  }
  EXPECT_LT(toolchain_.builds - before, 10);
}

TEST_F(EvaluatorTest, StagesAddUpToTheTrialsSeconds) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  const Trial trial = judge(evaluator, "FAST LONG");
  double sum = 0;
  for (const auto &[name, seconds] : trial.stages) {
    EXPECT_GE(seconds, 0) << name;
    sum += seconds;
  }
  for (const char *name : {"build/screen", "build/compile", "load", "verify/other", "verify/judge", "time/other",
                           "time/judge", "time/statistics"})
    EXPECT_TRUE(trial.stages.contains(name)) << name;
  EXPECT_GE(trial.stages.at("build/compile"), 0.05);
  EXPECT_LE(sum, trial.seconds);
  EXPECT_GT(sum, 0.5 * trial.seconds); // the rest is this process waiting for a processor
}

TEST_F(EvaluatorTest, TheSameMachineCodeIsADuplicateOfTheBaselineOrOfATrial) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  const Trial comment = judge(evaluator, "kernel// only a comment changed");
  EXPECT_EQ(comment.verdict, Verdict::Duplicate);
  EXPECT_NE(comment.reason.find("baseline"), std::string::npos);
  judge(evaluator, "FAST");
  EXPECT_EQ(judge(evaluator, "FAST// again").verdict, Verdict::Duplicate);
}

TEST_F(EvaluatorTest, ConfirmationLooksAtKnownCodeAgain) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  judge(evaluator, "FAST");
  const int builds = toolchain_.builds;
  const auto confirmed = evaluator.confirm(candidateWith("FAST"));
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Faster);
  EXPECT_DOUBLE_EQ(confirmed->speedup->confidence, 0.99);
  EXPECT_EQ(toolchain_.builds, builds); // the very module that was verified
}

TEST_F(EvaluatorTest, CodeOfAnEarlierRunIsRemembered) {
  Evaluator first = make();
  ASSERT_TRUE(first.measureBaseline());
  const Trial trial = judge(first, "FAST");
  Evaluator second = make();
  ASSERT_TRUE(second.measureBaseline());
  second.remember(trial);
  EXPECT_EQ(judge(second, "FAST// again").verdict, Verdict::Duplicate);
}

TEST_F(EvaluatorTest, OnAModelledDeviceTheSpeedupIsLabelled) {
  Evaluator evaluator = make("kernel", true);
  ASSERT_TRUE(evaluator.measureBaseline());
  const Trial trial = judge(evaluator, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Faster);
  EXPECT_TRUE(trial.speedup->modelled);
  EXPECT_NE(trial.reason.find("modelled"), std::string::npos);
}

Mutant mutant(const std::string &text, const std::string &excuse = "") {
  Mutant result;
  result.op = "comparison";
  result.title = text;
  result.mayBeEqual = excuse;
  result.sliceText = text;
  return result;
}

TEST_F(EvaluatorTest, AGateDecidesAndTheOthersAreOnRecord) {
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  const Trial wrong = judge(evaluator, "WRONG FAST");
  EXPECT_EQ(wrong.gate, "outputs");
  ASSERT_FALSE(wrong.gates.empty());
  EXPECT_EQ(wrong.gates.back().state, GateState::Failed);
  const Trial fast = judge(evaluator, "FAST");
  EXPECT_TRUE(fast.gate.empty());
  for (const char *name : {"screen", "outputs", "fresh", "contents", "repeat", "timed"})
    EXPECT_TRUE(std::any_of(fast.gates.begin(), fast.gates.end(), [&](const GateRecord &record) {
      return record.gate == name && record.state == GateState::Passed;
    })) << name;
  // A launch without a declaration has no other sizes, a GPU no order of threads: that is said, never passed.
  for (const char *name : {"sizes", "schedule", "precise"})
    EXPECT_TRUE(std::any_of(fast.gates.begin(), fast.gates.end(), [&](const GateRecord &record) {
      return record.gate == name && record.state == GateState::NotRun && !record.detail.empty();
    })) << name;
}

TEST_F(EvaluatorTest, WhatNoLaunchMakesACandidateDoIsNotVerified) {
  frontend_.reach.variable = "reached";
  frontend_.reach.bytes = 2;
  frontend_.reach.marks = {{0, 3, "`n == 77` is true", {"$2 == 77"}}, {1, 3, "`n == 77` is false", {"!$2 == 77"}}};
  Evaluator evaluator = make("kernel", true);
  ASSERT_TRUE(evaluator.measureBaseline());
  EXPECT_EQ(judge(evaluator, "FAST").verdict, Verdict::Faster);
  const Trial rare = judge(evaluator, "RARE FAST");
  EXPECT_EQ(rare.verdict, Verdict::Suspect);
  EXPECT_EQ(rare.gate, "reached");
  EXPECT_NE(rare.reason.find("`n == 77` is true at slice.cu:3"), std::string::npos) << rare.reason;
  EXPECT_EQ(rare.reason.find("is false"), std::string::npos) << rare.reason;
  // The original's own is no news.
  Evaluator other = make("RARE kernel", true);
  ASSERT_TRUE(other.measureBaseline());
  EXPECT_EQ(judge(other, "RARE FAST").verdict, Verdict::Faster);
}

TEST_F(EvaluatorTest, WhatIsReachedIsAskedOfWinnersOnAGpuAndOfNoMutant) {
  frontend_.reach.variable = "reached";
  frontend_.reach.bytes = 1;
  frontend_.reach.marks = {{0, 3, "`n == 77` is true", {"$2 == 77"}}};
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  EXPECT_EQ(judge(evaluator, "RARE").verdict, Verdict::Same);
}

TEST_F(EvaluatorTest, WhatAGpuDoesNotShowTheEmulatedDeviceDoes) {
  hasEmulated_ = true;
  EvaluatorOptions options;
  options.depth = Depth::Trial;
  Evaluator evaluator = make("kernel", false, 0, options);
  ASSERT_TRUE(evaluator.measureBaseline());
  EXPECT_EQ(opened_, 0) << "it is opened when it is asked";
  const Trial racy = judge(evaluator, "RACES");
  EXPECT_EQ(racy.verdict, Verdict::RunFailed);
  EXPECT_EQ(racy.gate, "emulated");
  EXPECT_EQ(racy.reason.rfind("on the emulated device: ", 0), 0u) << racy.reason;
  const Trial fast = judge(evaluator, "FAST");
  EXPECT_EQ(fast.verdict, Verdict::Faster);
  ASSERT_TRUE(recordOf(fast, "emulated"));
  EXPECT_EQ(recordOf(fast, "emulated")->state, GateState::Passed) << recordOf(fast, "emulated")->detail;
  EXPECT_EQ(opened_, 1);
}

TEST_F(EvaluatorTest, TheEmulatedDeviceIsAskedOfWinners) {
  hasEmulated_ = true;
  Evaluator evaluator = make();
  ASSERT_TRUE(evaluator.measureBaseline());
  EXPECT_EQ(judge(evaluator, "RACES").verdict, Verdict::Same);
  const Trial first = judge(evaluator, "RACES FAST");
  EXPECT_EQ(first.verdict, Verdict::Faster);
  EXPECT_EQ(opened_, 0);
  const auto confirmed = evaluator.confirm(first.candidate);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::RunFailed);
  EXPECT_EQ(confirmed->gate, "emulated");
}

TEST_F(EvaluatorTest, WhereTheOriginalIsNoKernelForTheEmulatedDeviceItSaysNothing) {
  hasEmulated_ = true;
  EvaluatorOptions options;
  options.depth = Depth::Trial;
  Evaluator evaluator = make("RACES kernel", false, 0, options);
  ASSERT_TRUE(evaluator.measureBaseline());
  const Trial fast = judge(evaluator, "RACES FAST");
  EXPECT_EQ(fast.verdict, Verdict::Faster);
  ASSERT_TRUE(recordOf(fast, "emulated"));
  EXPECT_EQ(recordOf(fast, "emulated")->state, GateState::NotRun);
  EXPECT_NE(recordOf(fast, "emulated")->detail.find("the original itself"), std::string::npos);
}

TEST_F(EvaluatorTest, AWrongVersionThatAGpuDoesNotShowIsNoticedByTheEmulatedDevice) {
  Mutant mutant;
  mutant.sliceText = "RACES";
  mutant.title = "a barrier removed";
  frontend_.mutantSet.mutants = {mutant};
  Evaluator alone = make();
  ASSERT_TRUE(alone.measureBaseline());
  EXPECT_EQ(alone.mutations().noticed, 0u);
  hasEmulated_ = true;
  Evaluator beside = make();
  ASSERT_TRUE(beside.measureBaseline());
  EXPECT_EQ(beside.mutations().noticed, 1u);
}

TEST_F(EvaluatorTest, NothingJudgedWithALayerOffIsAWin) {
  EvaluatorOptions options;
  options.layers = *LayerSwitches::without({"contents", "floor"});
  Evaluator evaluator = make("kernel", false, 0, options);
  ASSERT_TRUE(evaluator.measureBaseline());
  const Trial trial = judge(evaluator, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Suspect);
  EXPECT_EQ(trial.reason.rfind("not a verdict: layers off: contents, floor", 0), 0u) << trial.reason;
  EXPECT_EQ(judge(evaluator, "SLOW").verdict, Verdict::Slower);
}

TEST_F(EvaluatorTest, KeptGoingTheFirstLayerStillDecides) {
  EvaluatorOptions options;
  options.keepGoing = true;
  Evaluator evaluator = make("kernel", false, 0, options);
  ASSERT_TRUE(evaluator.measureBaseline());
  const Trial trial = judge(evaluator, "REJECT WRONG FAST");
  EXPECT_EQ(trial.verdict, Verdict::Rejected);
  EXPECT_EQ(trial.gate, "screen");
  EXPECT_EQ(trial.layer, Layer::Screen);
  std::size_t failed = 0;
  for (const GateRecord &record : trial.gates)
    failed += record.state == GateState::Failed;
  EXPECT_GE(failed, 3u);
}

TEST_F(EvaluatorTest, ALayerThatIsOffIsNotAsked) {
  EvaluatorOptions options;
  options.layers = *LayerSwitches::without({"screen"});
  Evaluator evaluator = make("kernel", false, 0, options);
  ASSERT_TRUE(evaluator.measureBaseline());
  EXPECT_EQ(judge(evaluator, "REJECT WRONG").gate, "outputs");
}

TEST_F(EvaluatorTest, AWorkloadThatNoticesWrongKernelsIsStrongEnough) {
  frontend_.mutantSet.mutants = {mutant("WRONG 1"), mutant("NAN 2"), mutant("kernel// the same program"),
                                 mutant("NOBUILD"), mutant("other", "where n is a multiple of 4")};
  Evaluator evaluator = make();
  const auto baseline = evaluator.measureBaseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  EXPECT_EQ(evaluator.mutations().tried, 3u);
  EXPECT_EQ(evaluator.mutations().noticed, 2u);
  EXPECT_FALSE(evaluator.mutations().isTooWeak()); // the one that is left has an excuse
  EXPECT_EQ(judge(evaluator, "FAST").verdict, Verdict::Faster);
}

TEST_F(EvaluatorTest, NoWinIsClaimedOnAWorkloadThatIsTooWeak) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("other")};
  Evaluator evaluator = make();
  const auto baseline = evaluator.measureBaseline();
  ASSERT_TRUE(baseline);
  ASSERT_FALSE(baseline->findings.empty());
  EXPECT_EQ(baseline->findings.back().id, "mutants");
  EXPECT_EQ(baseline->findings.back().severity, "warning");
  const Trial trial = judge(evaluator, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Suspect);
  EXPECT_EQ(trial.gate, "mutants");
  EXPECT_NE(trial.reason.find("other"), std::string::npos) << trial.reason;
  EXPECT_FALSE(evaluator.mutations().remedy().empty());

  EvaluatorOptions options;
  options.acceptWeakWorkload = true;
  Evaluator lenient = make("kernel", false, 0, options);
  ASSERT_TRUE(lenient.measureBaseline());
  EXPECT_EQ(judge(lenient, "FAST").verdict, Verdict::Faster);
}

TEST_F(EvaluatorTest, WhereOnlyManyInputsShowAMistakeAGainIsVerifiedOnMany) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("SELDOM")};
  EvaluatorOptions options;
  options.cache = folder_.path() / "cache";
  for (const char *run : {"judged", "recalled"}) {
    Evaluator evaluator = make("kernel", false, 0, options);
    ASSERT_TRUE(evaluator.measureBaseline());
    EXPECT_FALSE(evaluator.mutations().isTooWeak()) << run;
    EXPECT_EQ(evaluator.mutations().draws, 5) << run;
    const Trial honest = judge(evaluator, "FAST");
    EXPECT_EQ(honest.verdict, Verdict::Faster) << honest.reason;
    EXPECT_TRUE(std::any_of(honest.findings.begin(), honest.findings.end(),
                            [](const Finding &finding) { return finding.id == "escalated"; }));
    EXPECT_EQ(judge(evaluator, "FAST SELDOM").verdict, Verdict::WrongResult) << run;
  }
}

TEST_F(EvaluatorTest, AMutationTestIsKeptFromRunToRun) {
  frontend_.mutantSet.mutants = {mutant("WRONG"), mutant("other")};
  EvaluatorOptions options;
  options.cache = folder_.path() / "cache";
  Evaluator first = make("kernel", false, 0, options);
  ASSERT_TRUE(first.measureBaseline());
  const int builds = toolchain_.builds;
  Evaluator second = make("kernel", false, 0, options);
  ASSERT_TRUE(second.measureBaseline());
  EXPECT_EQ(toolchain_.builds, builds + 1); // the baseline alone
  EXPECT_TRUE(second.mutations().isTooWeak());
  frontend_.mutantSet.mutants.pop_back();
  Evaluator third = make("kernel", false, 0, options);
  ASSERT_TRUE(third.measureBaseline());
  EXPECT_FALSE(third.mutations().isTooWeak());
}

void expectRefused(const Result<Trial> &baseline, const char *word) {
  ASSERT_FALSE(baseline);
  EXPECT_EQ(baseline.error().code, ErrorCode::BaselineFailed);
  EXPECT_NE(baseline.error().what.find(word), std::string::npos) << baseline.error().what;
  EXPECT_EQ(baseline.error().where, "scale.cu:7");
}

TEST_F(EvaluatorTest, ABaselineThatDoesNotBuildIsRefused) { expectRefused(make("NOBUILD").measureBaseline(), "build"); }
TEST_F(EvaluatorTest, ABaselineThatFaultsIsRefused) { expectRefused(make("FAULT").measureBaseline(), "fails"); }
TEST_F(EvaluatorTest, ABaselineThatDoesNotRepeatIsRefused) { expectRefused(make("FLAKY").measureBaseline(), "repeat"); }
TEST_F(EvaluatorTest, ABaselineThatWritesNothingIsRefused) { expectRefused(make("NOOP").measureBaseline(), "writes to none"); }
TEST_F(EvaluatorTest, AWorkloadThatCannotTellWrongFromRightIsRefused) {
  expectRefused(make("CONSTANT").measureBaseline(), "same for different inputs");
}

} // namespace
