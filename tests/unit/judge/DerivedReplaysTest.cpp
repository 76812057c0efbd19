// SPDX-License-Identifier: Apache-2.0
// What is checked on launches of a program that was observed.
#include "driver/judge/replays/DerivedReplays.h"

#include "driver/workload/DeclaredFill.h"
#include "driver/workload/ScalarArguments.h"
#include "unit/judge/JudgeFixture.h"

#include "fakes/StoredContents.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

using namespace kopt;
using namespace kopt::fakes;

namespace {

class CapturedJudge : public JudgeFixture {
protected:
  /// scale(in, out, factor, n) as it was captured on `blocks` blocks of 64.
  Subject captured(std::uint32_t blocks = 1) {
    Subject subject = scaleSubject();
    const LaunchSite &site = subject.kernel.launches[0];
    Launch &launch = subject.workload.launches[0];
    launch.name = "captured";
    launch.grid = {blocks, 1, 1};
    launch.block = {64, 1, 1};
    launch.geometry = {site.grid, site.block, "0"};
    const std::int32_t n = std::int32_t(blocks) * 64 - 3;
    launch.bindings = {{"n", n}};
    launch.arguments.push_back(ValueArg{bytesOf(2.f)});
    launch.arguments.push_back(ValueArg{bytesOf(n)});
    std::uint64_t address = 1 << 20;
    for (Buffer &buffer : launch.buffers) {
      buffer.bytes = std::uint64_t(blocks) * 64 * 4;
      buffer.fill.kind = FillKind::Captured;
      buffer.fill.path = store(std::vector<float>(blocks * 64, 0));
      buffer.address = address;
      address += 1 << 20;
    }
    return subject;
  }
  std::string store(const std::vector<float> &values) {
    return storeValues(trace_.path().string(), values);
  }
  TemporaryDirectory trace_ = std::move(*TemporaryDirectory::create("trace"));
};

TEST_F(CapturedJudge, EveryKindOfDerivedLaunchIsTried) {
  makeRunner(false);
  LocalJudge local = make(captured(), {});
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  const Trial trial = judge(local, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Faster) << trial.reason;
  for (const CheckId check : {CheckId::Outputs, CheckId::Fresh, CheckId::Scalars, CheckId::Sizes,
                              CheckId::Contents, CheckId::Alignment, CheckId::Repeat}) {
    const CheckRecord *record = recordOf(trial, check);
    ASSERT_TRUE(record) << check;
    EXPECT_EQ(record->state, CheckState::Passed) << check << ": " << record->detail;
  }
}

TEST_F(CapturedJudge, WhereTheCapturedContentsChangeNothingOthersAreDrawn) {
  makeRunner(false);
  Subject subject = captured();
  subject.sliceText += " ADDS";
  LocalJudge local = make(subject, {});
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  EXPECT_TRUE(std::ranges::any_of(baseline->trial.findings, [](const Finding &finding) {
    return finding.message.find("so it has drawn ones") != finding.message.npos;
  }));
  EXPECT_EQ(judge(local, "FAST ADDS").verdict, Verdict::Faster);
  EXPECT_EQ(judge(local, "FAST ADDS WRONG").verdict, Verdict::WrongResult);
  EXPECT_EQ(judge(local, "FAST NOOP").verdict, Verdict::WrongResult);
}

TEST_F(CapturedJudge, WhereTheKernelAsksForInfinitiesTheyComeFirst) {
  for (const bool asks : {true, false}) {
    makeRunner(false);
    Subject subject = captured();
    subject.specialization.testsNonFinite = asks;
    std::vector<float> values(subject.workload.launches[0].buffers[0].bytes / 4);
    std::iota(values.begin(), values.end(), 1.f);
    subject.workload.launches[0].buffers[0].fill.path = store(values);
    JudgeOptions options;
    options.mostDerived = 4; // one of each kind
    bool isTried = false;
    runner_->hangs = [&](const Launch &launch) {
      isTried |= launch.buffers[0].fill.kind == FillKind::Special;
      return false;
    };
    LocalJudge local = make(subject, options);
    ASSERT_TRUE(local.baseline());
    EXPECT_EQ(judge(local, "FAST").verdict, Verdict::Faster);
    EXPECT_EQ(isTried, asks);
  }
}

TEST_F(CapturedJudge, WhatIsWrongOnADerivedLaunchAloneIsRefused) {
  makeRunner(false);
  LocalJudge local = make(captured(), {});
  ASSERT_TRUE(local.baseline());
  for (const CheckId check :
       {CheckId::Scalars, CheckId::Contents, CheckId::Alignment, CheckId::Repeat}) {
    const Trial trial = judge(local, std::string("FAST WRONG_AT_") + toString(check));
    EXPECT_EQ(trial.verdict, Verdict::WrongResult) << check;
    EXPECT_THAT(trial.reason, testing::HasSubstr("captured")) << check;
  }
}

TEST_F(CapturedJudge, AGridThatEndsAtSomeSizeIsJudgedBeyondIt) {
  makeRunner(false);
  LocalJudge local = make(captured(2), {});
  ASSERT_TRUE(local.baseline());
  const auto limited = [](const std::string &grid) {
    Candidate candidate = candidateWith("FAST COVERS " + grid);
    candidate.launch.grid = {grid, "1", "1"};
    return candidate;
  };
  const auto twice = local.judge(limited("min((n + 63) / 64, 3)"), Purpose::Search);
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->verdict, Verdict::WrongResult) << twice->reason;
  const auto once = local.judge(limited("min((n + 63) / 64, 200)"), Purpose::Search);
  ASSERT_TRUE(once);
  EXPECT_EQ(once->verdict, Verdict::Faster) << once->reason;
  const auto confirmed = local.judge(limited("min((n + 63) / 64, 200)"), Purpose::Confirmation);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->verdict, Verdict::WrongResult) << confirmed->reason;
  EXPECT_THAT(confirmed->reason, testing::HasSubstr("stays 200 x 1 x 1 from there on"));
  const auto right = local.judge(limited("(n + 63) / 64"), Purpose::Confirmation);
  ASSERT_TRUE(right);
  EXPECT_EQ(right->verdict, Verdict::Faster) << right->reason;
}

/// The launch site passes the starts of allocations.
Subject alignedAtItsSite(Subject subject) {
  LaunchSite &site = subject.kernel.launches[0];
  site.pointers = {{"d_in", "0", "(n * 4)"}, {"d_out", "0", "(n * 4)"}, {}, {}};
  return subject;
}

TEST_F(JudgeFixture, AnAlignmentThatTheProgramAlwaysHasIsAnAssumption) {
  makeRunner(false);
  LocalJudge local = make(alignedAtItsSite(declaredSubject()), {});
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "FAST WRONG_AT_misaligned");
  EXPECT_EQ(trial.verdict, Verdict::Faster) << trial.reason;
  ASSERT_FALSE(trial.assurance.gaps.empty());
  EXPECT_THAT(inLines(trial.assurance), testing::Contains(testing::HasSubstr(
                                            "every launch site, passes 'in' aligned to 16 bytes")));
  ASSERT_FALSE(trial.assurance.counterexamples.empty());
  EXPECT_EQ(trial.assurance.counterexamples[0].alignments.at("in"), 4u);
  EXPECT_EQ(trial.assurance.counterexamples[0].integers.at("n"), 64);

  LocalJudge unknown = make(declaredSubject(), {});
  ASSERT_TRUE(unknown.baseline());
  EXPECT_EQ(judge(unknown, "FAST WRONG_AT_misaligned").verdict, Verdict::WrongResult)
      << "nothing is known of the site's pointers";
}

TEST_F(JudgeFixture, AnAssumptionIsARefusalUnderStrict) {
  makeRunner(false);
  JudgeOptions options;
  options.assurance = AssurancePolicy::Strict;
  LocalJudge local = make(alignedAtItsSite(declaredSubject()), options);
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "FAST WRONG_AT_misaligned");
  EXPECT_EQ(trial.verdict, Verdict::WrongResult) << trial.reason;
  EXPECT_FALSE(trial.assurance.counterexamples.empty());
}

TEST_F(JudgeFixture, ALaunchOnWhichTheOriginalIsNotDefinedJudgesNobody) {
  makeRunner(false);
  const auto reason = [&](const std::string &whenUnoptimized) {
    toolchain_.whenUnoptimized = whenUnoptimized;
    LocalJudge local = make(declaredSubject(), {});
    EXPECT_TRUE(local.baseline());
    const Trial trial = judge(local, "FAST WRONG_AT_scalars");
    EXPECT_EQ(trial.verdict, Verdict::WrongResult) << "at most one launch in ten goes this way";
    return trial.reason;
  };
  const std::string usual = reason("");
  EXPECT_EQ(reason("WRONG_AT_sizes"), usual);
  EXPECT_EQ(reason("WRONG"), usual) << "it is another kernel on the workload's own launches, too";
  EXPECT_NE(reason("WRONG_AT_scalars"), usual) << "another launch shows it";
}

TEST_F(CapturedJudge, ALaunchOfFewThreadsRunsWholeOnTheEmulatedDevice) {
  hasEmulated_ = true;
  makeRunner(false);
  JudgeOptions options;
  options.depth = Depth::Trial;
  LocalJudge local = make(captured(100), options);
  ASSERT_TRUE(local.baseline());
  const Trial fast = judge(local, "FAST");
  ASSERT_TRUE(recordOf(fast, CheckId::Emulated)) << fast.reason;
  EXPECT_EQ(recordOf(fast, CheckId::Emulated)->detail, "launch 'captured' and others like it");
}

TEST_F(CapturedJudge, ACandidateOfFarMoreThreadsRunsOnASmallerProblemThere) {
  hasEmulated_ = true;
  makeRunner(false);
  JudgeOptions options;
  options.depth = Depth::Trial;
  LocalJudge local = make(captured(64), options);
  ASSERT_TRUE(local.baseline());
  const auto detailOf = [&](const std::string &grid) {
    Candidate candidate = candidateWith("FAST // " + grid);
    candidate.launch.grid = {grid, "1", "1"};
    const auto trial = local.judge(candidate, Purpose::Search);
    EXPECT_TRUE(trial && trial->verdict == Verdict::Faster);
    const CheckRecord *record = recordOf(*trial, CheckId::Emulated);
    EXPECT_TRUE(record);
    return record ? fmt::format("{}: {}", toString(record->state), record->detail) : "";
  };
  const std::string usual = detailOf("(n + 63) / 64"), many = detailOf("(n + 63) / 64 * 64");
  EXPECT_THAT(usual, testing::HasSubstr("launch 'captured' and others"));
  EXPECT_THAT(many, testing::AllOf(testing::HasSubstr("launch 'captured ("),
                                   testing::HasSubstr("and others")));
  EXPECT_THAT(detailOf("n * 10000"), testing::HasSubstr("threads where the original launches"));
}

TEST_F(CapturedJudge, InputsThatDecideWhatIsWrittenAreNotMoved) {
  makeRunner(false);
  Subject subject = captured();
  subject.sliceText = "SKIPS kernel";
  LocalJudge local = make(std::move(subject), {});
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "SKIPS FAST");
  EXPECT_EQ(trial.verdict, Verdict::Faster) << trial.reason;
  ASSERT_TRUE(recordOf(trial, CheckId::Fresh));
  EXPECT_EQ(recordOf(trial, CheckId::Fresh)->state, CheckState::NotRun);
}

TEST_F(CapturedJudge, WaitingForAnotherKoptTakesNoTimeFromTheChecks) {
  makeRunner(false);
  CheckContext bench(*runner_, captured(), 42, {});
  const std::filesystem::path module = folder_.path() / "module";
  ASSERT_TRUE(writeFileAtomically(module, "kernel"));
  bench.baseline().module = runner_->load(module, "scale")->id;
  const OwnTime time(bench);
  runner_->waited = 100;
  ASSERT_TRUE(bench.tryExpect(bench.subject().workload.launches[0], {}));
  EXPECT_LT(time.seconds(), 0);
}

TEST_F(CapturedJudge, WhereTheOriginalIsWrongACandidateMayBeAsWrong) {
  makeRunner(false);
  CheckContext bench(*runner_, captured(), 42, {});
  DerivedReplays replays;
  const Launch &launch = bench.subject().workload.launches[0];
  const std::vector<Slack> slack(2);
  const auto widened = [&] { return *replays.weighing().widened(bench, launch, {}, slack); };
  EXPECT_FALSE(widened()) << "nobody knows how wrong it is";
  replays.weighing().setOwnErrors([](CheckContext &, const Launch &, const Expected &) {
    return Result<std::vector<double>>({0, 1.5e-4});
  });
  ASSERT_TRUE(widened());
  EXPECT_EQ((*widened())[0].absolute, 0);
  EXPECT_DOUBLE_EQ((*widened())[1].absolute, 4.5e-4);
  Subject strict = captured();
  strict.workload.tolerance.policy = TolerancePolicy::Strict;
  CheckContext strictly(*runner_, std::move(strict), 42, {});
  EXPECT_FALSE(*replays.weighing().widened(strictly, launch, {}, slack))
      << "the user has said how far results may differ";
}

TEST_F(CapturedJudge, FarFromWhatWasDeclaredADifferenceIsToldAndNotRefused) {
  makeRunner(false);
  LocalJudge undeclared = make(declaredSubject(), {});
  ASSERT_TRUE(undeclared.baseline());
  EXPECT_EQ(judge(undeclared, "FAST OVERFLOWS").verdict, Verdict::WrongResult);
  Subject subject = declaredSubject();
  subject.declaration->fills["in"] = Fill{FillKind::Uniform, -1, 1};
  const auto workload =
      buildWorkload(subject.kernel, subject.specialization, *subject.declaration, DeviceKind::Cuda);
  ASSERT_TRUE(workload);
  subject.workload = *workload;
  JudgeOptions strictly;
  strictly.assurance = AssurancePolicy::Strict;
  LocalJudge strict = make(subject, strictly);
  ASSERT_TRUE(strict.baseline());
  EXPECT_EQ(judge(strict, "FAST OVERFLOWS").verdict, Verdict::WrongResult);
  LocalJudge declared = make(std::move(subject), {});
  ASSERT_TRUE(declared.baseline());
  const Trial trial = judge(declared, "FAST OVERFLOWS");
  EXPECT_EQ(trial.verdict, Verdict::Faster) << trial.reason;
  EXPECT_TRUE(std::ranges::any_of(trial.assurance.gaps, [](const AssuranceGap &gap) {
    return gap.check == CheckId::Contents && gap.what.find("huge") != std::string::npos;
  }));
}

TEST_F(CapturedJudge, WhereACandidateHasVeryManyThreadsTheEmulatedDeviceDoesNotRunIt) {
  makeRunner(true);
  LocalJudge local = make(declaredSubject(), {});
  ASSERT_TRUE(local.baseline());
  Candidate candidate = candidateWith("FAST");
  candidate.launch.grid = {{"n", "1", "1"}};
  candidate.launch.block = {{"1024", "1", "1"}};
  const auto trial = local.judge(candidate, Purpose::Search);
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->verdict, Verdict::Faster) << trial->reason;
  EXPECT_THAT(recordOf(*trial, CheckId::Sizes)->detail,
              testing::HasSubstr("the candidate launches 71785472 threads for it, and the original "
                                 "70144"));
}

TEST_F(CapturedJudge, ALargeOneIsTriedAtItsSize) {
  makeRunner(false);
  LocalJudge local =
      make(captured(1000), {}); // more elements than declared ones are made smaller to
  const auto baseline = local.baseline();
  ASSERT_TRUE(baseline) << baseline.error().what;
  const Trial trial = judge(local, "FAST");
  EXPECT_EQ(trial.verdict, Verdict::Faster) << trial.reason;
  for (const CheckId check :
       {CheckId::Sizes, CheckId::Contents, CheckId::Alignment, CheckId::Repeat})
    EXPECT_EQ(recordOf(trial, check)->state, CheckState::Passed)
        << check << ": " << recordOf(trial, check)->detail;
}

TEST_F(CapturedJudge, ResultsThatAreNotKeptAreComputedAgain) {
  makeRunner(false);
  CheckContext bench(*runner_, captured(), 42, {});
  loadBaseline(bench);
  bench.baselineSeconds = {1e-3}; // short: there is time for all of them
  Trial baseline;
  DerivedReplays kept,
      computed(kept.replays().max_size(), AssurancePolicy::Standard, /*mostKept=*/0);
  ASSERT_TRUE(kept.learnAll(bench, baseline));
  std::vector<std::string> contents;
  for (const Replay &replay : kept.replays()) {
    EXPECT_TRUE(replay.isKept);
    const auto known = kept.withResults(bench, replay);
    ASSERT_TRUE(known);
    contents.push_back(*readFile((*known)->expected.buffers.at(1)));
  }
  EXPECT_GT(contents.size(), 10u);
  ASSERT_TRUE(computed.learnAll(bench, baseline));
  ASSERT_EQ(computed.replays().size(), contents.size());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    EXPECT_FALSE(computed.replays()[i].isKept);
    const auto known = computed.withResults(bench, computed.replays()[i]);
    ASSERT_TRUE(known);
    EXPECT_EQ(*readFile((*known)->expected.buffers.at(1)), contents[i])
        << computed.replays()[i].derived.title;
  }
}

TEST_F(CapturedJudge, WhereARunTakesLongOthersAreDerivedFromASmallerProblem) {
  makeRunner(false);
  constexpr std::uint32_t kBlocks = 40'000;
  CheckContext bench(*runner_, captured(kBlocks), 42, {});
  loadBaseline(bench);
  const std::vector<Launch> &launches = bench.subject().workload.launches;
  const std::uint64_t bytes = memoryOf(launches[0]);
  Trial baseline;
  bench.baselineSeconds = {2};
  DerivedReplays light;
  ASSERT_TRUE(light.learnAll(bench, baseline));
  ASSERT_TRUE(light.isLight());
  EXPECT_LT(light.baseSeconds(bench), 2);
  EXPECT_GE(light.base(bench).grid.count() * 64, 1u << 15) << "it fills a GPU";
  EXPECT_LT(memoryOf(light.base(bench)), bytes / 2);
  std::set<Derivation> kinds;
  for (const Replay &replay : light.replays()) {
    kinds.insert(replay.derived.kind);
    EXPECT_LT(memoryOf(replay.derived.launch), bytes) << replay.derived.title;
  }
  EXPECT_EQ(kinds.size(), 4u) << "of every kind";
  bench.baselineSeconds = {0.02};
  DerivedReplays both;
  ASSERT_TRUE(both.learnAll(bench, baseline));
  ASSERT_TRUE(both.isLight());
  kinds.clear();
  for (const Replay &replay : both.replays())
    if (memoryOf(replay.derived.launch) >= bytes)
      kinds.insert(replay.derived.kind);
  EXPECT_EQ(kinds.size(), 4u) << "one of each kind has the workload's own size";
  bench.baselineSeconds = {1e-3};
  DerivedReplays whole;
  ASSERT_TRUE(whole.learn(bench));
  EXPECT_FALSE(whole.isLight());
  EXPECT_EQ(&whole.base(bench), &bench.baseline().launches[0]);
}

TEST_F(CapturedJudge, LaunchesAreDerivedOnWhichARequirementHolds) {
  makeRunner(false);
  CheckContext bench(*runner_, captured(4), 42, {});
  loadBaseline(bench);
  bench.baselineSeconds = {1e-3};
  Trial baseline;
  DerivedReplays replays;
  ASSERT_TRUE(replays.learnAll(bench, baseline));
  const auto countOf = [&](std::int32_t divisor) {
    return std::ranges::count_if(replays.replays(), [&](const Replay &replay) {
      const auto n = integersOf(bench.subject().specialization, replay.derived.launch).at("n");
      return replay.derived.kind == Derivation::Sizes && n % divisor == 0 && n > 0;
    });
  };
  const std::size_t before = replays.replays().size();
  const auto had = countOf(11); // of n = 253
  ASSERT_TRUE(replays.learnWhere(bench, {"n % 11 == 0"}));
  EXPECT_GT(replays.replays().size(), before);
  EXPECT_GT(countOf(11), had + 1);
  EXPECT_FALSE(bench.subject().declaration);
  const std::size_t now = replays.replays().size();
  std::set<std::string> names;
  for (const Replay &replay : replays.replays())
    names.insert(replay.derived.launch.name);
  EXPECT_EQ(names.size(), now) << "none is learned twice";
  ASSERT_TRUE(replays.learnWhere(bench, {"n % 11 == 0"}));
  EXPECT_EQ(replays.replays().size(), now);
}

TEST_F(CapturedJudge, WhatHangsOnceIsNotTriedAgain) {
  makeRunner(false);
  CheckContext bench(*runner_, captured(), 42, {});
  loadBaseline(bench);
  bench.baselineSeconds = {1e-3};
  const auto factorOf = [](const Launch &launch) {
    return std::get<ValueArg>(launch.arguments[2]).bytes;
  };
  const std::string factor = factorOf(bench.baseline().launches[0]);
  int hung = 0;
  runner_->hangs = [&](const Launch &launch) {
    const bool hangs = factorOf(launch) != factor;
    hung += hangs;
    return hangs;
  };
  Trial baseline;
  DerivedReplays replays;
  ASSERT_TRUE(replays.learnAll(bench, baseline));
  EXPECT_EQ(hung, 1);
  int missing = 0;
  for (const NotDerived &item : replays.missing())
    if (item.kind == Derivation::Scalars && item.title.starts_with("factor"))
      EXPECT_THAT(item.why, missing++ == 0 ? testing::HasSubstr("still running")
                                           : testing::HasSubstr("hangs on a similar one: factor"));
  EXPECT_GE(missing, 2);
  std::set<Derivation> kinds;
  for (const Replay &replay : replays.replays())
    kinds.insert(replay.derived.kind);
  EXPECT_EQ(kinds, (std::set{Derivation::Sizes, Derivation::Contents, Derivation::Alignment}));
}

TEST_F(CapturedJudge, WhereTheTimeIsUpAndNoneOfAKindWorksOnlyAFewAreTried) {
  using namespace std::chrono_literals;
  std::size_t tried[2] = {};
  for (const bool isSlow : {false, true}) {
    makeRunner(false);
    CheckContext bench(*runner_, captured(), 42, {});
    loadBaseline(bench);
    bench.baselineSeconds = {1e-3};
    std::set<std::string> names;
    runner_->faults = [&](const Launch &launch) {
      if (launch.name.find("contents:") == launch.name.npos)
        return false;
      names.insert(launch.name);
      std::this_thread::sleep_for(isSlow ? 400ms : 0ms); // a search learns for a second
      return true;
    };
    Trial baseline;
    DerivedReplays replays;
    ASSERT_TRUE(replays.learnAll(bench, baseline, isSlow ? 0 : 100));
    EXPECT_FALSE(replays.replays().empty());
    tried[isSlow] = names.size();
  }
  EXPECT_GT(tried[false], 5u);
  EXPECT_LE(tried[true], 3u);
}

TEST_F(CapturedJudge, ARequirementOfTheUsersHolds) {
  makeRunner(false);
  Subject subject = captured(4);
  subject.declaration.emplace().requirements = {"n % 64 == 61"};
  LocalJudge local = make(std::move(subject), {});
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "FAST");
  EXPECT_EQ(recordOf(trial, CheckId::Sizes)->state, CheckState::Passed)
      << recordOf(trial, CheckId::Sizes)->detail;
  Subject none = captured(4);
  none.declaration.emplace().requirements = {"n == 253"};
  LocalJudge strict = make(std::move(none), {});
  ASSERT_TRUE(strict.baseline());
  const Trial other = judge(strict, "FAST other");
  EXPECT_EQ(recordOf(other, CheckId::Sizes)->state, CheckState::NotRun);
  EXPECT_THAT(recordOf(other, CheckId::Sizes)->detail,
              testing::HasSubstr("'require n == 253' does not hold there"));
}

TEST_F(CapturedJudge, WithoutAnythingToDeriveFromItSaysWhy) {
  makeRunner(false);
  Subject subject = captured();
  for (Buffer &buffer : subject.workload.launches[0].buffers)
    buffer.fill.path = "/nowhere";
  subject.specialization.params.resize(2);
  subject.workload.launches[0].arguments.resize(2);
  LocalJudge local = make(std::move(subject), {});
  ASSERT_TRUE(local.baseline());
  const Trial trial = judge(local, "FAST");
  EXPECT_EQ(recordOf(trial, CheckId::Sizes)->state, CheckState::NotRun);
  EXPECT_THAT(recordOf(trial, CheckId::Sizes)->detail, testing::HasSubstr("no integer argument"));
  EXPECT_EQ(recordOf(trial, CheckId::Scalars)->state, CheckState::NotRun);
  EXPECT_EQ(recordOf(trial, CheckId::Alignment)->state, CheckState::Passed);
}

TEST_F(CapturedJudge, TheEmulatedDeviceAndTheSanitizerTakeASmallLaunch) {
  hasEmulated_ = true;
  makeRunner(false);
  LocalJudge local = make(captured(600), {});
  ASSERT_TRUE(local.baseline());
  const Trial first = judge(local, "FAST");
  const auto confirmed = local.judge(first.candidate, Purpose::Confirmation);
  ASSERT_TRUE(confirmed) << confirmed.error().what;
  for (const CheckId check : {CheckId::Emulated, CheckId::Sanitizer}) {
    const CheckRecord *record = recordOf(*confirmed, check);
    EXPECT_EQ(record->state, CheckState::Passed) << check << ": " << record->detail;
    EXPECT_THAT(record->detail, testing::HasSubstr("captured (n = "));
  }
  const Trial racy = judge(local, "RACES FAST");
  const auto refused = local.judge(racy.candidate, Purpose::Confirmation);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->check, CheckId::Emulated);
}

TEST_F(CapturedJudge, WhereNothingMakesItSmallerAPartOfTheGridIsTaken) {
  hasEmulated_ = true;
  makeRunner(false);
  Subject subject = captured(600);
  subject.workload.launches[0].geometry.grid = {"600", "1", "1"};
  LocalJudge local = make(std::move(subject), {});
  ASSERT_TRUE(local.baseline());
  const Trial first = judge(local, "FAST");
  const auto confirmed = local.judge(first.candidate, Purpose::Confirmation);
  ASSERT_TRUE(confirmed) << confirmed.error().what;
  const CheckRecord *record = recordOf(*confirmed, CheckId::Emulated);
  EXPECT_EQ(record->state, CheckState::Passed) << record->detail;
  EXPECT_THAT(record->detail, testing::HasSubstr("the first 128 of 600 blocks of the grid)'"));
}

TEST_F(CapturedJudge, OfAPartOfTheGridOnlyRacesCount) {
  hasEmulated_ = true;
  makeRunner(false);
  Subject subject = captured(6000);
  subject.workload.launches[0].geometry.grid = {"6000", "1", "1"};
  JudgeOptions options;
  options.depth = Depth::Trial;
  LocalJudge local = make(std::move(subject), options);
  ASSERT_TRUE(local.baseline());
  const auto recordFor = [&](const std::string &text) {
    const CheckRecord *record = recordOf(judge(local, text), CheckId::Emulated);
    return record ? *record : CheckRecord();
  };
  const CheckRecord other = recordFor("FAST DIVIDES");
  EXPECT_EQ(other.state, CheckState::Passed) << other.detail;
  EXPECT_THAT(other.detail, testing::HasSubstr("6000 blocks of the grid), only for races'"));
  const CheckRecord further = recordFor("FAST REACHES");
  EXPECT_EQ(further.state, CheckState::Passed) << further.detail << " needs more of the memory";
  EXPECT_EQ(recordFor("FAST MEETS").state, CheckState::Failed);
}

TEST_F(CapturedJudge, WhereThreadsHaveMuchToDoTheEmulatedDeviceTakesFewerBlocks) {
  hasEmulated_ = true;
  makeRunner(false);
  Subject subject = captured(600);
  subject.workload.launches[0].geometry.grid = {"600", "1", "1"};
  subject.sliceText = "LENGTHY kernel";
  LocalJudge local = make(std::move(subject), {});
  ASSERT_TRUE(local.baseline());
  const Trial first = judge(local, "FAST");
  const auto confirmed = local.judge(first.candidate, Purpose::Confirmation);
  ASSERT_TRUE(confirmed) << confirmed.error().what;
  const CheckRecord *record = recordOf(*confirmed, CheckId::Emulated);
  EXPECT_EQ(record->state, CheckState::Passed) << record->detail;
  EXPECT_THAT(record->detail, testing::HasSubstr("only 8 of these'"));
}

} // namespace
