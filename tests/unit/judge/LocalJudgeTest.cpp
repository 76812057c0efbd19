// SPDX-License-Identifier: Apache-2.0
#include "unit/judge/JudgeFixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using LocalJudgeTest = JudgeFixture;

TEST_F(LocalJudgeTest, VerdictsFollowTheFirstLayerThatFails) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const struct {
    const char *text;
    Verdict verdict;
    Stage stage;
  } cases[] = {
      {"REJECT FAST", Verdict::Rejected, Stage::Screen},
      {"NOBUILD", Verdict::BuildFailed, Stage::Build},
      {"WRONG FAST", Verdict::WrongResult, Stage::Verify},
      {"NAN FAST", Verdict::WrongResult, Stage::Verify},
      {"PARTIAL FAST", Verdict::WrongResult, Stage::Verify},
      {"GUARD FAST", Verdict::WrongResult, Stage::Verify},
      {"FLAKY FAST", Verdict::WrongResult, Stage::Verify},
      {"FAULT", Verdict::RunFailed, Stage::Verify},
      {"HANG", Verdict::TimedOut, Stage::Verify},
      {"NOOP FAST", Verdict::WrongResult, Stage::Verify},
      {"SLOW", Verdict::Slower, Stage::Time},
      {"FAST", Verdict::Faster, Stage::Time},
      {"other", Verdict::Same, Stage::Time},
      {"CHEAT FAST", Verdict::WrongResult, Stage::Time},
  };
  for (const auto &test : cases) {
    const Trial trial = judge(local, test.text);
    EXPECT_EQ(trial.verdict, test.verdict) << test.text << ": " << trial.reason;
    EXPECT_EQ(trial.stage, test.stage) << test.text;
    EXPECT_FALSE(trial.reason.empty()) << test.text;
  }
}

TEST_F(LocalJudgeTest, WhatTheEmulatedDeviceCannotRunIsNotCalledWrong) {
  toolchain_.is = ToolchainKind::Emulated;
  LocalJudge local = make("kernel", true);
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "NOBUILD");
  EXPECT_EQ(trial.verdict, Verdict::BuildFailed);
  EXPECT_THAT(trial.reason,
              testing::MatchesRegex("the emulated device cannot run this candidate: .*identifier "
                                    "\"x\" is undefined; judge it on a GPU"));
}

TEST_F(LocalJudgeTest, ALookEndsAfterItsStageAndIsNoTrial) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const auto look = [&](const std::string &text, Stage upTo) {
    return local.judge(candidateWith(text), Purpose::Search, upTo).value();
  };
  const Trial built = look("FAST", Stage::Build);
  EXPECT_EQ(built.verdict, Verdict::Ambiguous);
  EXPECT_EQ(built.stage, Stage::Build);
  EXPECT_FALSE(built.moduleHash.empty());
  EXPECT_EQ(look("NOBUILD", Stage::Build).verdict, Verdict::BuildFailed);
  const Trial wrong = look("WRONG", Stage::Build);
  EXPECT_EQ(wrong.verdict, Verdict::Ambiguous) << "it is not run";
  EXPECT_EQ(look("WRONG", Stage::Verify).verdict, Verdict::WrongResult);
  const Trial verified = look("FAST", Stage::Verify);
  EXPECT_EQ(verified.verdict, Verdict::Ambiguous);
  EXPECT_TRUE(verified.timings.empty());
  EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster) << "a look makes no duplicate of it";
}

TEST_F(LocalJudgeTest, AFailureCostsOnlyItself) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const Trial before = judge(local, "FAST one");
  judge(local, "FAULT");
  judge(local, "HANG");
  const Trial after = judge(local, "FAST two");
  EXPECT_EQ(before.verdict, after.verdict);
  EXPECT_DOUBLE_EQ(before.speedup->estimate, after.speedup->estimate);
}

TEST_F(LocalJudgeTest, AWinHasAnIntervalAndIsMeasured) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "FAST");
  ASSERT_TRUE(trial.speedup);
  EXPECT_FALSE(trial.speedup->modelled);
  EXPECT_GT(trial.speedup->low, 1.9);
  EXPECT_GE(trial.speedup->pairs, 10u);
}

TEST_F(LocalJudgeTest, TwoCandidatesAreTimedAgainstEachOther) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const Trial fast = judge(local, "FAST"), slow = judge(local, "SLOW");
  const auto speedup = local.compare(fast.candidate, slow.candidate);
  ASSERT_TRUE(speedup && *speedup);
  EXPECT_GT((*speedup)->low, 2);
  const Trial broken = judge(local, "NOBUILD");
  const auto none = local.compare(broken.candidate, slow.candidate);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST_F(LocalJudgeTest, AConfirmationIsCorrectedForTheNumberOfClaims) {
  JudgeOptions options;
  options.policy.candidates = 4;
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.baseline());
  const Trial seen = judge(local, "FAST");
  const auto confirmed = local.judge(seen.candidate, Purpose::Confirmation);
  ASSERT_TRUE(confirmed && confirmed->speedup);
  EXPECT_NEAR(confirmed->speedup->confidence, 1 - 0.01 / 4, 1e-9);
  EXPECT_NEAR(seen.speedup->confidence, 0.99, 1e-9) << "a first look claims nothing";
}

TEST_F(LocalJudgeTest, OnAGpuOnlyWhoNeedsCountersPaysForThem) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(runner_->profiles, 1);
  Trial fast = judge(local, "FAST");
  EXPECT_TRUE(fast.counters.empty());
  EXPECT_EQ(runner_->profiles, 1);
  const int builds = toolchain_.builds;
  ASSERT_TRUE(local.addCounters(fast));
  EXPECT_FALSE(fast.counters.empty());
  EXPECT_EQ(fast.counterSource, "fake");
  EXPECT_TRUE(fast.stages.contains("profile/other"));
  EXPECT_EQ(toolchain_.builds, builds); // what was verified is what is profiled
  ASSERT_TRUE(local.addCounters(fast));
  EXPECT_EQ(runner_->profiles, 2);
  Trial wrong = judge(local, "WRONG");
  ASSERT_TRUE(local.addCounters(wrong));
  EXPECT_TRUE(wrong.counters.empty());
}

TEST_F(LocalJudgeTest, CountersOfATrialOfAnEarlierRunNeedABuild) {
  LocalJudge first = make();
  ASSERT_TRUE(first.baseline());
  Trial trial = judge(first, "FAST");
  LocalJudge second = make();
  ASSERT_TRUE(second.baseline());
  second.remember(trial);
  ASSERT_TRUE(second.addCounters(trial));
  EXPECT_FALSE(trial.counters.empty());
}

TEST_F(LocalJudgeTest, BuildingAheadChangesNoVerdict) {
  const std::vector<std::string> texts = {
      "SLOW LONG",  "FAST LONG",        "NOBUILD", "REJECT", "FAST LONG// twin",
      "WRONG LONG", "kernel// comment", "FAULT",   "other"};
  std::vector<Candidate> candidates;
  for (const std::string &text : texts)
    candidates.push_back(candidateWith(text));
  LocalJudge plain = make();
  ASSERT_TRUE(plain.baseline());
  std::vector<Trial> expected;
  for (const Candidate &candidate : candidates)
    expected.push_back(*plain.judge(candidate, Purpose::Search));
  EXPECT_EQ(toolchain_.most, 1);

  LocalJudge ahead = make("kernel", false, 3);
  ASSERT_TRUE(ahead.baseline());
  ahead.begin(candidates);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto trial = ahead.judge(candidates[i], Purpose::Search);
    ASSERT_TRUE(trial) << trial.error().what;
    EXPECT_EQ(trial->verdict, expected[i].verdict) << texts[i];
    EXPECT_EQ(trial->reason, expected[i].reason) << texts[i];
    EXPECT_EQ(trial->stage, expected[i].stage) << texts[i];
    EXPECT_EQ(trial->buildLog, expected[i].buildLog) << texts[i];
    EXPECT_EQ(trial->moduleHash, expected[i].moduleHash) << texts[i];
    EXPECT_TRUE(trial->stages.contains("wait")) << texts[i];
  }
  EXPECT_GT(toolchain_.most, 1);
  EXPECT_LE(toolchain_.most, 3);
}

TEST_F(LocalJudgeTest, AnErrorWhileBuildingAheadIsThatOfItsCandidate) {
  LocalJudge local = make("kernel", false, 2);
  ASSERT_TRUE(local.baseline());
  local.begin({candidateWith("FULLDISK"), candidateWith("FAST")});
  const auto failed = local.judge(candidateWith("FULLDISK"), Purpose::Search);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Environment);
  EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster);
}

TEST_F(LocalJudgeTest, TimesOfAThrottledGpuAreNoEvidence) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "FAST HOT");
  EXPECT_EQ(trial.verdict, Verdict::Ambiguous);
  EXPECT_NE(trial.reason.find("hw-thermal"), std::string::npos) << trial.reason;
}

TEST_F(LocalJudgeTest, TimesOfAGpuThatOthersUseAreNoEvidence) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "FAST OTHERS");
  EXPECT_EQ(trial.verdict, Verdict::Ambiguous);
  EXPECT_NE(trial.reason.find("process 4711"), std::string::npos) << trial.reason;
}

TEST_F(LocalJudgeTest, AWinnerIsTimedInFreshProcessesEachOfWhichCountsOnce) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  judge(local, "FAST");
  EXPECT_EQ(runner_->processes, 0);
  const auto confirmed = local.judge(candidateWith("FAST"), Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Faster);
  EXPECT_EQ(runner_->processes, 5);
  EXPECT_EQ(confirmed->speedup->processes, 5u);
  EXPECT_EQ(confirmed->timings[0].samples.size(), 200u);
  EXPECT_EQ(confirmed->timings[0].samples.back().process, 4u);
  EXPECT_NE(confirmed->reason.find("in 5 processes"), std::string::npos) << confirmed->reason;
}

TEST_F(LocalJudgeTest, WhatOneProcessDoesToTheTimesIsNoWin) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  // In some processes the baseline has bad luck: two percent is more than enough to win in one of
  // those.
  runner_->processEffect = [](int process) { return process % 2 == 0 ? 1.02 : 0.99; };
  EXPECT_EQ(judge(local, "other").verdict, Verdict::Faster);
  const auto confirmed = local.judge(candidateWith("other"), Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Ambiguous) << confirmed->reason;
}

TEST_F(LocalJudgeTest, WhatWasBuiltAheadInVainIsDropped) {
  const int before = toolchain_.builds;
  {
    LocalJudge local = make("kernel", false, 1);
    ASSERT_TRUE(local.baseline());
    std::vector<Candidate> many;
    for (int i = 0; i < 100; ++i)
      many.push_back(candidateWith(fmt::format("LONG {}", i)));
    local.begin(many);
  }
  EXPECT_LT(toolchain_.builds - before, 10);
}

TEST_F(LocalJudgeTest, StagesAddUpToTheTrialsSeconds) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "FAST LONG");
  double sum = 0;
  for (const auto &[name, seconds] : trial.stages) {
    EXPECT_GE(seconds, 0) << name;
    sum += seconds;
  }
  for (const char *name : {"build/screen", "build/compile", "load", "verify/other", "verify/judge",
                           "time/other", "time/judge", "time/statistics"})
    EXPECT_TRUE(trial.stages.contains(name)) << name;
  EXPECT_GE(trial.stages.at("build/compile"), 0.05);
  EXPECT_LE(sum, trial.seconds);
  EXPECT_GT(sum, 0.5 * trial.seconds); // the rest is this process waiting for a processor
}

TEST_F(LocalJudgeTest, ConfirmationLooksAtKnownCodeAgain) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  judge(local, "FAST");
  const int builds = toolchain_.builds;
  const auto confirmed = local.judge(candidateWith("FAST"), Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::Faster);
  EXPECT_DOUBLE_EQ(confirmed->speedup->confidence, 0.99);
  EXPECT_EQ(toolchain_.builds, builds); // the very module that was verified
}

TEST_F(LocalJudgeTest, OnAModelledDeviceTheSpeedupIsLabelled) {
  LocalJudge local = make("kernel", true);
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Faster);
  EXPECT_TRUE(trial.speedup->modelled);
  EXPECT_NE(trial.reason.find("modelled"), std::string::npos);
}

TEST_F(LocalJudgeTest, AGateDecidesAndTheOthersAreOnRecord) {
  LocalJudge local = make();
  ASSERT_TRUE(local.baseline());
  const Trial wrong = judge(local, "WRONG FAST");
  EXPECT_EQ(wrong.check, CheckId::Outputs);
  ASSERT_FALSE(wrong.checks.empty());
  EXPECT_EQ(wrong.checks.back().state, CheckState::Failed);
  const Trial fast = judge(local, "FAST");
  EXPECT_EQ(fast.check, CheckId::None);
  for (const CheckId name : {CheckId::Screen, CheckId::Outputs, CheckId::Fresh, CheckId::Contents,
                             CheckId::Repeat, CheckId::Timed})
    EXPECT_TRUE(std::any_of(fast.checks.begin(), fast.checks.end(), [&](const CheckRecord &record) {
      return record.check == name && record.state == CheckState::Passed;
    })) << name;
  // A launch without a declaration has no other sizes, a GPU no order of threads: that is said,
  // never passed.
  for (const CheckId name : {CheckId::Sizes, CheckId::Schedule, CheckId::Reference})
    EXPECT_TRUE(std::any_of(fast.checks.begin(), fast.checks.end(), [&](const CheckRecord &record) {
      return record.check == name && record.state != CheckState::Passed && !record.detail.empty();
    })) << name;
}

TEST_F(LocalJudgeTest, NothingJudgedWithALayerOffIsAWin) {
  JudgeOptions options;
  options.checks = *CheckSwitches::without({"contents", "roofline"});
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Suspect);
  EXPECT_EQ(trial.reason.rfind("not a verdict: checks off: contents, roofline", 0), 0u)
      << trial.reason;
  EXPECT_EQ(judge(local, "SLOW").verdict, Verdict::Slower);
}

TEST_F(LocalJudgeTest, KeptGoingTheFirstLayerStillDecides) {
  JudgeOptions options;
  options.keepGoing = true;
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "REJECT WRONG FAST");
  EXPECT_EQ(trial.verdict, Verdict::Rejected);
  EXPECT_EQ(trial.check, CheckId::Screen);
  EXPECT_EQ(trial.stage, Stage::Screen);
  std::size_t failed = 0;
  for (const CheckRecord &record : trial.checks)
    failed += record.state == CheckState::Failed;
  EXPECT_GE(failed, 3u);
}

TEST_F(LocalJudgeTest, ALayerThatIsOffIsNotAsked) {
  JudgeOptions options;
  options.checks = *CheckSwitches::without({"screen"});
  LocalJudge local = make("kernel", false, 0, options);
  ASSERT_TRUE(local.baseline());
  EXPECT_EQ(judge(local, "REJECT WRONG").check, CheckId::Outputs);
}

using testing::HasSubstr;

/// Fakes of one kind, each with its thread; or one without.
class Pool {
public:
  Pool(std::size_t count, JudgeOptions options = {}) {
    options.scratch = folder_.path() / "evaluate";
    EXPECT_TRUE(createDirectories(options.scratch));
    JudgeServices services{frontend, toolchain, {}, [this](const std::string &text) {
                             const std::lock_guard lock(mutex_);
                             told.push_back(text);
                           }};
    for (std::size_t i = 0; i < count; ++i) {
      const auto scratch = folder_.path() / std::to_string(i);
      EXPECT_TRUE(createDirectories(scratch));
      runners.push_back(std::make_unique<FakeRunner>(scratch, true));
      threads_.push_back(count > 1 ? std::make_unique<JobQueue>(1) : nullptr);
      const auto profile = [runner = runners.back().get()](ModuleId module,
                                                           const std::filesystem::path &,
                                                           const Launch &launch) {
        return runner->profile(module, launch, {});
      };
      services.devices.push_back(
          {*runners.back(), profile, fmt::format("{} fake", i), threads_.back().get()});
    }
    evaluator = std::make_unique<LocalJudge>(std::move(services), makeSubject(), options);
  }
  ~Pool() { evaluator.reset(); }

  FakeFrontend frontend;
  FakeToolchain toolchain;
  std::vector<std::unique_ptr<FakeRunner>> runners;
  std::unique_ptr<LocalJudge> evaluator;
  std::vector<std::string> told;

private:
  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("pool"));
  std::mutex mutex_;
  std::vector<std::unique_ptr<JobQueue>> threads_;
};

/// The first of twins sleeps, so that the second would be through before it.
const std::vector<std::string> kTexts = {"SLEEP FAST LONG",
                                         "SLOW",
                                         "NOBUILD",
                                         "REJECT",
                                         "SLEEP FAST LONG// twin",
                                         "WRONG",
                                         "kernel// comment",
                                         "FAULT",
                                         "SLEEP other",
                                         "CHEAT FAST",
                                         "SLOW// twin",
                                         "HANG",
                                         "FAST 2",
                                         "GUARD",
                                         "FAST 2// twin",
                                         "SLEEP SLOW 2"};

std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  for (const std::string &text : kTexts)
    all.push_back(candidateWith(text));
  return all;
}

std::string record(const Trial &trial) {
  std::string text =
      fmt::format("{} {} {} '{}' {} {}", trial.candidate.title, toString(trial.verdict),
                  toString(trial.stage), trial.reason, trial.moduleHash, toString(trial.check));
  for (const CheckRecord &check : trial.checks)
    text += fmt::format("; {} {} {}", toString(check.check), toString(check.state), check.detail);
  for (const Finding &finding : trial.findings)
    if (finding.id != "incident")
      text += fmt::format("; {} {}", finding.id, finding.message);
  if (trial.speedup)
    text += "; " + inWords(*trial.speedup);
  return text;
}

std::vector<Trial> judgeAll(LocalJudge &evaluator) {
  evaluator.begin(candidates());
  std::vector<Trial> trials;
  for (const Candidate &candidate : candidates()) {
    auto trial = evaluator.judge(candidate, Purpose::Search);
    EXPECT_TRUE(trial) << trial.error().what;
    if (trial)
      trials.push_back(std::move(*trial));
  }
  return trials;
}

std::vector<std::string> records(const std::vector<Trial> &trials) {
  std::vector<std::string> texts;
  for (const Trial &trial : trials)
    texts.push_back(record(trial));
  return texts;
}

const std::vector<std::string> &expectedRecords() {
  static const std::vector<std::string> expected = [] {
    Pool one(1);
    EXPECT_TRUE(one.evaluator->baseline());
    return records(judgeAll(*one.evaluator));
  }();
  return expected;
}

TEST(LocalJudgePool, ManyDevicesDecideWhatOneDoes) {
  for (const unsigned buildThreads : {0u, 3u}) {
    JudgeOptions options;
    options.buildThreads = buildThreads;
    Pool pool(3, options);
    const auto baseline = pool.evaluator->baseline();
    ASSERT_TRUE(baseline) << baseline.error().what;
    EXPECT_EQ(baseline->trial.gpu, "0 fake");
    const std::vector<Trial> trials = judgeAll(*pool.evaluator);
    EXPECT_EQ(records(trials), expectedRecords());
    std::set<std::string> gpus;
    for (const Trial &trial : trials) {
      const bool ran = trial.verdict != Verdict::Duplicate && trial.verdict != Verdict::Rejected &&
                       trial.verdict != Verdict::BuildFailed;
      EXPECT_EQ(ran, !trial.gpu.empty()) << trial.candidate.title;
      if (ran)
        gpus.insert(trial.gpu);
    }
    EXPECT_GT(gpus.size(), 1u) << "all ran on one";
  }
}

TEST(LocalJudgePool, EachCandidateIsComparedOnTheDeviceItRanOn) {
  Pool pool(2);
  ASSERT_TRUE(pool.evaluator->baseline());
  const int first = pool.runners[0]->runs, second = pool.runners[1]->runs;
  EXPECT_GT(first, 0);
  EXPECT_GT(second, 0) << "every device has its own baseline";
  judgeAll(*pool.evaluator);
  EXPECT_GT(pool.runners[0]->runs, first);
  EXPECT_GT(pool.runners[1]->runs, second);
}

TEST(LocalJudgePool, ALostDeviceLeavesAndItsCandidateIsJudgedOnAnother) {
  Pool pool(3);
  ASSERT_TRUE(pool.evaluator->baseline());
  for (const std::size_t i : {1u, 2u})
    pool.runners[i]->breaksAt = "SL"; // both of them, at the first SLEEP or SLOW
  const std::vector<Trial> trials = judgeAll(*pool.evaluator);
  EXPECT_EQ(records(trials), expectedRecords());
  EXPECT_THAT(pool.told, testing::Each(HasSubstr("fell off the bus")));
  std::size_t incidents = 0;
  for (const Trial &trial : trials)
    for (const Finding &finding : trial.findings)
      if (finding.id == "incident") {
        EXPECT_THAT(finding.message, HasSubstr("left the pool"));
        EXPECT_THAT(trial.candidate.title, HasSubstr("SL"));
        ++incidents;
      }
  EXPECT_EQ(incidents, pool.told.size());
  const auto confirmed = pool.evaluator->judge(candidateWith("FAST 2"), Purpose::Confirmation);
  ASSERT_TRUE(confirmed) << confirmed.error().what;
  EXPECT_EQ(confirmed->gpu, "0 fake");
}

TEST(LocalJudgePool, TheFirstThatIsLeftConfirms) {
  Pool pool(2);
  ASSERT_TRUE(pool.evaluator->baseline());
  ASSERT_EQ(pool.evaluator->judge(candidateWith("FAST 2"), Purpose::Search)->verdict,
            Verdict::Faster);
  pool.runners[0]->breaksAt = "FAST";
  const auto confirmed = pool.evaluator->judge(candidateWith("FAST 2"), Purpose::Confirmation);
  ASSERT_TRUE(confirmed) << confirmed.error().what;
  EXPECT_EQ(confirmed->gpu, "1 fake");
  EXPECT_EQ(pool.told.size(), 1u);
}

TEST(LocalJudgePool, WhereNoneIsLeftTheErrorIsTheLastOnesAndNothingWaitsForever) {
  Pool pool(2);
  ASSERT_TRUE(pool.evaluator->baseline());
  for (const auto &runner : pool.runners)
    runner->breaksAt = "SLEEP";
  pool.evaluator->begin(candidates());
  std::size_t failed = 0;
  for (const Candidate &candidate : candidates())
    if (const auto trial = pool.evaluator->judge(candidate, Purpose::Search); !trial) {
      EXPECT_EQ(trial.error().code, ErrorCode::Environment);
      EXPECT_THAT(trial.error().what, HasSubstr("fell off the bus"));
      ++failed;
    }
  EXPECT_GT(failed, 0u);
  const auto late = pool.evaluator->judge(candidateWith("FAST late"), Purpose::Search);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Environment);
  EXPECT_FALSE(pool.evaluator->judge(candidateWith("FAST late"), Purpose::Confirmation));
}

TEST(LocalJudgePool, ADeviceThatIsLostWhileItLearnsIsNotUsed) {
  for (const std::size_t broken : {0u, 1u}) {
    Pool pool(2);
    pool.runners[broken]->breaksAt = "kernel";
    const auto baseline = pool.evaluator->baseline();
    ASSERT_TRUE(baseline) << baseline.error().what;
    EXPECT_EQ(baseline->trial.gpu, broken == 0 ? "1 fake" : "0 fake");
    EXPECT_EQ(records(judgeAll(*pool.evaluator)), expectedRecords());
  }
}

TEST(LocalJudgePool, ADeviceWithOtherResultsIsNamed) {
  Pool pool(2);
  pool.runners[1]->computesWrong = true;
  const auto baseline = pool.evaluator->baseline();
  ASSERT_FALSE(baseline);
  EXPECT_EQ(baseline.error().code, ErrorCode::BaselineFailed);
  EXPECT_THAT(baseline.error().what, HasSubstr("on 1 fake"));
}

TEST(LocalJudgePool, AnErrorThatIsNoDevicesIsThatOfItsCandidate) {
  Pool pool(2);
  ASSERT_TRUE(pool.evaluator->baseline());
  pool.evaluator->begin({candidateWith("FULLDISK"), candidateWith("FAST")});
  const auto failed = pool.evaluator->judge(candidateWith("FULLDISK"), Purpose::Search);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().what, HasSubstr("disk"));
  EXPECT_EQ(pool.evaluator->judge(candidateWith("FAST"), Purpose::Search)->verdict,
            Verdict::Faster);
  EXPECT_TRUE(pool.told.empty());
}

TEST(LocalJudgePool, WhatWasBegunInVainIsDropped) {
  Pool pool(2);
  ASSERT_TRUE(pool.evaluator->baseline());
  const int before = pool.toolchain.builds;
  std::vector<Candidate> many;
  for (int i = 0; i < 200; ++i)
    many.push_back(candidateWith(fmt::format("SLEEP LONG {}", i)));
  pool.evaluator->begin(many);
  pool.evaluator.reset();
  EXPECT_LT(pool.toolchain.builds - before, 20);
}

TEST(LocalJudgePool, MutantsAreTriedOnceAndCountForAll) {
  JudgeOptions options;
  options.depth = Depth::Trial; // a search tries them for its first winner
  Pool pool(2, options);
  Mutant mutant;
  mutant.op = "comparison";
  mutant.title = mutant.sliceText = "other";
  pool.frontend.mutantSet.mutants = {mutant};
  ASSERT_TRUE(pool.evaluator->baseline());
  EXPECT_FALSE(pool.evaluator->adequacy().unexplained().empty());
  for (const Trial &trial : judgeAll(*pool.evaluator))
    if (trial.verdict == Verdict::Faster)
      EXPECT_TRUE(std::ranges::any_of(trial.assurance.gaps, [](const AssuranceGap &gap) {
        return gap.check == CheckId::Mutants;
      })) << trial.gpu;
}

} // namespace
