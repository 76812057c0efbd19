// SPDX-License-Identifier: Apache-2.0
// Several devices: the same trials in the same order as with one, whatever finishes first and
// whichever is lost.
#include "fakes/FakeBench.h"

#include <gmock/gmock.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

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
                  toString(trial.stage), trial.reason, trial.moduleHash, trial.check);
  for (const CheckRecord &check : trial.checks)
    text += fmt::format("; {} {} {}", check.check, toString(check.state), check.detail);
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
    auto trial = evaluator.evaluate(candidate);
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
    EXPECT_TRUE(one.evaluator->measureBaseline());
    return records(judgeAll(*one.evaluator));
  }();
  return expected;
}

TEST(EvaluatorPool, ManyDevicesDecideWhatOneDoes) {
  for (const unsigned buildThreads : {0u, 3u}) {
    JudgeOptions options;
    options.buildThreads = buildThreads;
    Pool pool(3, options);
    const auto baseline = pool.evaluator->measureBaseline();
    ASSERT_TRUE(baseline) << baseline.error().what;
    EXPECT_EQ(baseline->gpu, "0 fake");
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

TEST(EvaluatorPool, EachCandidateIsComparedOnTheDeviceItRanOn) {
  Pool pool(2);
  ASSERT_TRUE(pool.evaluator->measureBaseline());
  const int first = pool.runners[0]->runs, second = pool.runners[1]->runs;
  EXPECT_GT(first, 0);
  EXPECT_GT(second, 0) << "every device has its own baseline";
  judgeAll(*pool.evaluator);
  EXPECT_GT(pool.runners[0]->runs, first);
  EXPECT_GT(pool.runners[1]->runs, second);
}

TEST(EvaluatorPool, ALostDeviceLeavesAndItsCandidateIsJudgedOnAnother) {
  Pool pool(3);
  ASSERT_TRUE(pool.evaluator->measureBaseline());
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
  const auto confirmed = pool.evaluator->confirm(candidateWith("FAST 2"));
  ASSERT_TRUE(confirmed) << confirmed.error().what;
  EXPECT_EQ(confirmed->gpu, "0 fake");
}

TEST(EvaluatorPool, TheFirstThatIsLeftConfirms) {
  Pool pool(2);
  ASSERT_TRUE(pool.evaluator->measureBaseline());
  ASSERT_EQ(pool.evaluator->evaluate(candidateWith("FAST 2"))->verdict, Verdict::Faster);
  pool.runners[0]->breaksAt = "FAST";
  const auto confirmed = pool.evaluator->confirm(candidateWith("FAST 2"));
  ASSERT_TRUE(confirmed) << confirmed.error().what;
  EXPECT_EQ(confirmed->gpu, "1 fake");
  EXPECT_EQ(pool.told.size(), 1u);
}

TEST(EvaluatorPool, WhereNoneIsLeftTheErrorIsTheLastOnesAndNothingWaitsForever) {
  Pool pool(2);
  ASSERT_TRUE(pool.evaluator->measureBaseline());
  for (const auto &runner : pool.runners)
    runner->breaksAt = "SLEEP";
  pool.evaluator->begin(candidates());
  std::size_t failed = 0;
  for (const Candidate &candidate : candidates())
    if (const auto trial = pool.evaluator->evaluate(candidate); !trial) {
      EXPECT_EQ(trial.error().code, ErrorCode::Environment);
      EXPECT_THAT(trial.error().what, HasSubstr("fell off the bus"));
      ++failed;
    }
  EXPECT_GT(failed, 0u);
  const auto late = pool.evaluator->evaluate(candidateWith("FAST late"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Environment);
  EXPECT_FALSE(pool.evaluator->confirm(candidateWith("FAST late")));
}

TEST(EvaluatorPool, ADeviceThatIsLostWhileItLearnsIsNotUsed) {
  for (const std::size_t broken : {0u, 1u}) {
    Pool pool(2);
    pool.runners[broken]->breaksAt = "kernel";
    const auto baseline = pool.evaluator->measureBaseline();
    ASSERT_TRUE(baseline) << baseline.error().what;
    EXPECT_EQ(baseline->gpu, broken == 0 ? "1 fake" : "0 fake");
    EXPECT_EQ(records(judgeAll(*pool.evaluator)), expectedRecords());
  }
}

TEST(EvaluatorPool, ADeviceWithOtherResultsIsNamed) {
  Pool pool(2);
  pool.runners[1]->computesWrong = true;
  const auto baseline = pool.evaluator->measureBaseline();
  ASSERT_FALSE(baseline);
  EXPECT_EQ(baseline.error().code, ErrorCode::BaselineFailed);
  EXPECT_THAT(baseline.error().what, HasSubstr("on 1 fake"));
}

TEST(EvaluatorPool, AnErrorThatIsNoDevicesIsThatOfItsCandidate) {
  Pool pool(2);
  ASSERT_TRUE(pool.evaluator->measureBaseline());
  pool.evaluator->begin({candidateWith("FULLDISK"), candidateWith("FAST")});
  const auto failed = pool.evaluator->evaluate(candidateWith("FULLDISK"));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().what, HasSubstr("disk"));
  EXPECT_EQ(pool.evaluator->evaluate(candidateWith("FAST"))->verdict, Verdict::Faster);
  EXPECT_TRUE(pool.told.empty());
}

TEST(EvaluatorPool, WhatWasBegunInVainIsDropped) {
  Pool pool(2);
  ASSERT_TRUE(pool.evaluator->measureBaseline());
  const int before = pool.toolchain.builds;
  std::vector<Candidate> many;
  for (int i = 0; i < 200; ++i)
    many.push_back(candidateWith(fmt::format("SLEEP LONG {}", i)));
  pool.evaluator->begin(many);
  pool.evaluator.reset();
  EXPECT_LT(pool.toolchain.builds - before, 20);
}

TEST(EvaluatorPool, MutantsAreTriedOnceAndCountForAll) {
  Pool pool(2);
  Mutant mutant;
  mutant.op = "comparison";
  mutant.title = mutant.sliceText = "other";
  pool.frontend.mutantSet.mutants = {mutant};
  ASSERT_TRUE(pool.evaluator->measureBaseline());
  EXPECT_TRUE(pool.evaluator->mutations().isTooWeak());
  for (const Trial &trial : judgeAll(*pool.evaluator))
    EXPECT_NE(trial.verdict, Verdict::Faster) << trial.gpu;
}

} // namespace
