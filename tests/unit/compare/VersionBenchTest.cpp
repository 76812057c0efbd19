// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/versions/VersionBench.h"

#include "driver/judge/Statistics.h"

#include <cmath>
#include <cstdlib>
#include <gmock/gmock.h>
#include <random>

namespace {

using namespace kopt;
using testing::HasSubstr;

Trial timed(double speedup, Verdict verdict, CheckId check = CheckId::None) {
  Trial trial;
  trial.verdict = verdict;
  trial.check = check;
  trial.reason = "the judge's words";
  LaunchTiming timing;
  timing.launch = "one";
  timing.speedup = {speedup, speedup * 0.999, speedup * 1.001, 0.99, 40, false, 5};
  timing.baselineSeconds = speedup;
  timing.candidateSeconds = 1;
  trial.timings = {timing};
  trial.speedup = timing.speedup;
  return trial;
}

GateKernel taken(const Trial &trial) {
  GateKernel kernel;
  takeTrial(trial, VerdictPolicy{}, kernel);
  return kernel;
}

TEST(TakeTrial, TimesDecide) {
  const GateKernel slower = taken(timed(0.9, Verdict::Slower));
  EXPECT_EQ(slower.verdict, GateVerdict::Slower);
  EXPECT_TRUE(slower.measured && !slower.broken);
  EXPECT_EQ(slower.reason, "the judge's words");
  ASSERT_EQ(slower.launches.size(), 1u);
  EXPECT_EQ(slower.launches[0].headSeconds, 1);
  // Throttled clocks and other load make it ambiguous, whatever the times say.
  EXPECT_EQ(taken(timed(0.9, Verdict::Ambiguous)).verdict, GateVerdict::Ambiguous);
}

TEST(TakeTrial, AnAuthorMayChangeResultsAndNeedsNoProof) {
  const GateKernel other = taken(timed(0.9, Verdict::WrongResult, CheckId::Outputs));
  EXPECT_EQ(other.verdict, GateVerdict::Slower);
  EXPECT_FALSE(other.broken);
  ASSERT_EQ(other.notes.size(), 1u);
  EXPECT_THAT(other.notes[0], HasSubstr("its results are not the base's"));
  EXPECT_EQ(taken(timed(1.5, Verdict::Suspect, CheckId::Mutants)).verdict, GateVerdict::Faster);
}

TEST(TakeTrial, AFailureIsAnAlarm) {
  Trial fault;
  fault.verdict = Verdict::RunFailed;
  fault.reason = "out of bounds";
  const GateKernel broken = taken(fault);
  EXPECT_EQ(broken.verdict, GateVerdict::NotMeasured);
  EXPECT_TRUE(broken.isAlarm() && !broken.measured);
  EXPECT_THAT(broken.reason, HasSubstr("out of bounds"));
  EXPECT_TRUE(taken(timed(1, Verdict::RunFailed, CheckId::Races)).broken);
  EXPECT_TRUE(taken(timed(1, Verdict::WrongResult, CheckId::Guards)).broken);
  Trial hangs;
  hangs.verdict = Verdict::TimedOut;
  EXPECT_EQ(taken(hangs).verdict, GateVerdict::Slower);
}

/// Pairs of a GPU: a process suits one of the two by chance, single times differ by `spread` (the
/// standard deviation), and some are far off.
void addPairs(std::mt19937_64 &random, std::uint32_t process, double gain, double luck,
              double spread, std::vector<TimingSample> &samples) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const double own = gain * std::exp(luck * normal(random));
  for (int i = 0; i < 120; ++i) {
    double times[2];
    for (double &time : times)
      time = 20e-6 * std::exp(spread * normal(random)) *
             (uniform(random) < 0.02 ? 1 + 0.5 * uniform(random) : 1);
    samples.push_back({times[0] * own, times[1], process});
  }
}

/// As kopt ci decides: a first look in one process; unless that is sure that nothing changed, fresh
/// ones decide.
int alarms(double gain, int comparisons) {
  constexpr double kLuck = 0.003, kSpread = 0.02;
  std::mt19937_64 random(20261124);
  VerdictPolicy policy;
  policy.minGain = 0.01;
  int count = 0;
  for (int i = 0; i < comparisons; ++i) {
    std::vector<TimingSample> first, second;
    addPairs(random, 0, gain, kLuck, kSpread, first);
    if (decideVerdict(pairedSpeedup(first, 0.99, false), {}, policy).verdict == Verdict::Same)
      continue;
    for (std::uint32_t process = 0; process < kGateProcesses; ++process)
      addPairs(random, process, gain, kLuck, kSpread, second);
    count += decideVerdict(blockedSpeedup(second, 0.99), {}, policy).verdict == Verdict::Slower;
  }
  return count;
}

TEST(AlarmsUnderNoise, EqualCodeRaisesNoneAndALossDoes) {
  const char *asked = std::getenv("KOPT_GATE_COMPARISONS");
  EXPECT_EQ(alarms(1, asked ? std::atoi(asked) : 20), 0);
  EXPECT_GE(alarms(1 / 1.02, 40), 38);
}

} // namespace
