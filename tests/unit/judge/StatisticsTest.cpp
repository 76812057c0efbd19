// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/Statistics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace kopt;

namespace {

/// Pairs whose true speedup is `speedup`, with relative noise on each sample and a drift both
/// share.
std::vector<TimingSample> pairs(std::size_t count, double speedup, double noise,
                                std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, noise);
  std::vector<TimingSample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const double drift = 1 + 0.1 * std::sin(double(i) / 20);
    samples.push_back(
        {1e-4 * drift * (1 + normal(random)), 1e-4 / speedup * drift * (1 + normal(random))});
  }
  return samples;
}

Verdict verdictOf(const std::vector<TimingSample> &samples, const VerdictPolicy &policy = {}) {
  const Speedup speedup = pairedSpeedup(samples, policy.confidence, false);
  return decideVerdict(speedup,
                       {LaunchTiming{"launch", speedup, 1e-4, 1e-4, samples, CacheMode::Cold}},
                       policy)
      .verdict;
}

TEST(Statistics, MedianOfEvenCountIsTheMiddleOfTwo) { EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5); }

TEST(Statistics, ATrueGainIsFasterAndItsIntervalHoldsIt) {
  const auto samples = pairs(60, 1.25, 0.01, 1);
  EXPECT_EQ(verdictOf(samples), Verdict::Faster);
  const Speedup speedup = pairedSpeedup(samples, 0.95, false);
  EXPECT_LT(speedup.low, 1.25);
  EXPECT_GT(speedup.high, 1.25);
  EXPECT_EQ(speedup.pairs, 60u);
}

TEST(Statistics, ATrueLossIsSlower) {
  EXPECT_EQ(verdictOf(pairs(60, 0.8, 0.01, 2)), Verdict::Slower);
}

TEST(Statistics, IdenticalKernelsAreNeverFasterOrSlower) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Verdict verdict = verdictOf(pairs(40, 1.0, 0.02, seed));
    EXPECT_TRUE(verdict == Verdict::Same || verdict == Verdict::Ambiguous) << "seed " << seed;
  }
}

TEST(Statistics, QuietIdenticalKernelsAreTheSame) {
  EXPECT_EQ(verdictOf(pairs(60, 1.0, 0.002, 3)), Verdict::Same);
}

TEST(Statistics, AGainInsideTheNoiseIsAmbiguous) {
  EXPECT_EQ(verdictOf(pairs(10, 1.03, 0.1, 4)), Verdict::Ambiguous);
}

TEST(Statistics, FewSamplesNeverDecide) {
  EXPECT_EQ(verdictOf(pairs(4, 3.0, 0.001, 5)), Verdict::Ambiguous);
}

TEST(Statistics, AZeroOrNonFiniteTimeIsNoWin) {
  auto samples = pairs(30, 2.0, 0.01, 6);
  samples[7].b = 0;
  EXPECT_EQ(verdictOf(samples), Verdict::Ambiguous);
  samples[7].b = std::nan("");
  EXPECT_EQ(verdictOf(samples), Verdict::Ambiguous);
  EXPECT_EQ(verdictOf({}), Verdict::Ambiguous);
}

TEST(Statistics, AModelledSpeedupHasNoIntervalAndSaysSo) {
  const Speedup speedup = pairedSpeedup({{2e-5, 1e-5}}, 0.95, true);
  EXPECT_TRUE(speedup.modelled);
  EXPECT_DOUBLE_EQ(speedup.estimate, 2);
  const auto decision = decideVerdict(speedup, {}, {});
  EXPECT_EQ(decision.verdict, Verdict::Faster);
  EXPECT_NE(decision.reason.find("modelled"), std::string::npos);
}

TEST(Statistics, WorkloadSpeedupIsWeightedByTimeNotByRatio) {
  // 90% of the time gets 2x, 10% gets 0.5x: 1 / (0.45 + 0.2).
  const Speedup fast{2, 2, 2, 0.95, 50, false}, slow{0.5, 0.5, 0.5, 0.95, 40, false};
  const Speedup whole = combineSpeedups({fast, slow}, {0.9, 0.1});
  EXPECT_NEAR(whole.estimate, 1 / 0.65, 1e-12);
  EXPECT_EQ(whole.pairs, 40u);
}

/// A launch of 10 us that is made once and has half the time, and one of 1 us that is made ten
/// times.
const std::vector<double> kShares = {0.5, 0.5}, kTimes = {10e-6, 1e-6};

TEST(Statistics, TheWorstCaseIsTheSlowestLaunchBeforeAndAfter) {
  const Speedup slow{2, 1.8, 2.2, 0.99, 50, false}, quick{1, 0.9, 1.1, 0.99, 40, false};
  const Speedup worst = combineSpeedups({slow, quick}, kShares, Objective::Worst, kTimes);
  EXPECT_NEAR(worst.estimate, 2, 1e-9);
  EXPECT_NEAR(worst.low, 1.8, 1e-9);
  EXPECT_NEAR(worst.high, 2.2, 1e-9);
  EXPECT_EQ(worst.pairs, 40u);
  EXPECT_NE(inWords(worst).find("2.000x for the slowest launch [1.800, 2.200]"), std::string::npos);
  // A launch that becomes the slowest one decides: 10 us before, 4 us after, not 0.5 us.
  const Speedup much{20, 20, 20, 0.99, 50, false}, spoilt{0.25, 0.25, 0.25, 0.99, 50, false};
  EXPECT_NEAR(combineSpeedups({much, spoilt}, kShares, Objective::Worst, kTimes).estimate, 2.5,
              1e-9);
}

TEST(Statistics, TheRarestLaunchesAreBeyondThe95thPercentile) {
  const Speedup twice{2, 2, 2, 0.99, 50, false}, same{1, 1, 1, 0.99, 50, false};
  const auto p95 = [&](double count, const Speedup &rare, const Speedup &frequent) {
    // Of `count` launches one takes 10 us; the others take 1 us.
    const double time = 10e-6 + (count - 1) * 1e-6;
    return combineSpeedups({rare, frequent}, {10e-6 / time, (count - 1) * 1e-6 / time},
                           Objective::P95, kTimes)
        .estimate;
  };
  EXPECT_NEAR(p95(11, twice, same), 2, 1e-9) << "one of eleven";
  EXPECT_NEAR(p95(11, same, twice), 1, 1e-9);
  EXPECT_NEAR(p95(20, twice, same), 1, 1e-9) << "nineteen of twenty are 95 %";
  EXPECT_NEAR(p95(20, same, twice), 2, 1e-9);
}

TEST(Statistics, AnObjectiveOfUnknownTimesIsVoid) {
  const Speedup fast{2, 2, 2, 0.99, 50, false}, broken{std::nan(""), 0, 1, 0.99, 50, false};
  for (const Objective objective : {Objective::Mean, Objective::P95, Objective::Worst}) {
    const Speedup whole = combineSpeedups({fast, broken}, kShares, objective, kTimes);
    EXPECT_TRUE(std::isnan(whole.estimate)) << toString(objective);
    EXPECT_EQ(decideVerdict(whole, {}, {}).verdict, Verdict::Ambiguous);
  }
  // A launch without an interval leaves one open end.
  const Speedup open{2, 0, std::numeric_limits<double>::infinity(), 0.99, 2, false};
  const Speedup worst = combineSpeedups({fast, open}, kShares, Objective::Worst, kTimes);
  EXPECT_EQ(worst.low, 0);
  EXPECT_NEAR(worst.high, 2, 1e-9);
}

TEST(Statistics, TheGuardIsTheUsers) {
  const Speedup fast{2, 1.9, 2.1, 0.95, 50, false}, slow{0.9, 0.89, 0.91, 0.95, 50, false};
  const std::vector<LaunchTiming> launches = {{"big", fast, 9, 4.5, {}, CacheMode::Cold},
                                              {"small", slow, 1, 1.1, {}, CacheMode::Cold}};
  const Speedup whole = combineTimings(launches, {0.9, 0.1}, Objective::Worst);
  EXPECT_EQ(whole.of, Objective::Worst);
  const auto with = [&](double guard) {
    return decideVerdict(whole, launches, {.regressionGuard = guard});
  };
  EXPECT_EQ(with(0.08).verdict, Verdict::Slower);
  EXPECT_NE(with(0.08).reason.find("launch 'small' regresses to 0.900x [0.890, 0.910]"),
            std::string::npos);
  EXPECT_NE(with(0.08).reason.find("by more than 8%"), std::string::npos);
  EXPECT_EQ(with(0.095).verdict, Verdict::Faster) << "the interval reaches what is allowed";
}

TEST(Statistics, ARegressionInOneLaunchForbidsFaster) {
  const Speedup fast{2, 1.9, 2.1, 0.95, 50, false}, slow{0.9, 0.89, 0.91, 0.95, 50, false};
  const Speedup whole = combineSpeedups({fast, slow}, {0.9, 0.1});
  const auto decision = decideVerdict(whole,
                                      {LaunchTiming{"big", fast, 1, 1, {}, CacheMode::Cold},
                                       LaunchTiming{"small", slow, 1, 1, {}, CacheMode::Cold}},
                                      {});
  EXPECT_EQ(decision.verdict, Verdict::Slower);
  EXPECT_NE(decision.reason.find("small"), std::string::npos);
}

TEST(Statistics, TheSameSamplesGiveTheSameInterval) {
  const auto samples = pairs(50, 1.1, 0.05, 9);
  EXPECT_EQ(pairedSpeedup(samples, 0.95, false).low, pairedSpeedup(samples, 0.95, false).low);
}

/// Pairs as a GPU gives them: neighbours are alike, some are far off, and the clock drifts over the
/// whole. `spread` is the interquartile range of a single time, `gain` the true speedup.
std::vector<TimingSample> noisyPairs(std::mt19937_64 &random, std::size_t count, double spread,
                                     double gain) {
  std::normal_distribution<double> normal(0, spread / 1.349 / std::sqrt(2.0));
  std::uniform_real_distribution<double> uniform;
  constexpr double kAlike = 0.3, kOutliers = 0.02, kDrift = 0.02;
  std::vector<TimingSample> samples;
  double common = 0, own[2] = {0, 0};
  for (std::size_t i = 0; i < count; ++i) {
    common = kAlike * common + std::sqrt(1 - kAlike * kAlike) * normal(random);
    const double drift = 1 + kDrift * double(i) / double(count);
    double times[2];
    for (int side = 0; side < 2; ++side) {
      own[side] = kAlike * own[side] + std::sqrt(1 - kAlike * kAlike) * normal(random);
      times[side] = 100e-6 * drift * std::exp(common + own[side]);
      if (uniform(random) < kOutliers)
        times[side] *= 1 + 0.5 * uniform(random);
    }
    samples.push_back({times[0] * gain, times[1]});
  }
  return samples;
}

struct Share {
  int faster = 0, slower = 0;
};
Share verdictsUnderNoise(double gain, double spread, int comparisons) {
  std::mt19937_64 random(20260101);
  VerdictPolicy policy;
  policy.minGain = 0.005;
  Share share;
  for (int i = 0; i < comparisons; ++i) {
    const Verdict verdict = verdictOf(noisyPairs(random, 200, spread, gain), policy);
    share.faster += verdict == Verdict::Faster;
    share.slower += verdict == Verdict::Slower;
  }
  return share;
}

// The spreads are what kernels of 20 us (2.8%) and 100 us (0.6%) showed on an H200.
TEST(VerdictsUnderNoise, IdenticalCodeIsHardlyEverADifference) {
  for (const double spread : {0.006, 0.028, 0.1}) {
    const Share share = verdictsUnderNoise(1, spread, 300);
    EXPECT_LE(share.faster + share.slower, 3) << "spread " << spread;
  }
}

TEST(VerdictsUnderNoise, TrueDifferencesAreFound) {
  EXPECT_GE(verdictsUnderNoise(1.02, 0.006, 100).faster, 99);
  EXPECT_GE(verdictsUnderNoise(1.01, 0.006, 100).faster, 99);
  EXPECT_GE(verdictsUnderNoise(1.02, 0.028, 100).faster, 95);
  EXPECT_GE(verdictsUnderNoise(1 / 1.02, 0.028, 100).slower, 95);
}

/// Pairs from processes in each of which the candidate is faster or slower by chance: by a factor
/// with the relative standard deviation `luck` that stays for the whole process.
std::vector<TimingSample> pairsOfProcesses(std::mt19937_64 &random, std::uint32_t processes,
                                           std::size_t count, double luck, double gain) {
  std::normal_distribution<double> normal(0, luck);
  std::vector<TimingSample> samples;
  for (std::uint32_t process = 0; process < processes; ++process)
    for (TimingSample sample : noisyPairs(random, count, 0.006, gain * std::exp(normal(random)))) {
      sample.process = process;
      samples.push_back(sample);
    }
  return samples;
}

Share verdictsOfProcesses(std::uint32_t processes, double luck, double gain, bool isBlocked,
                          int comparisons) {
  std::mt19937_64 random(20261122);
  VerdictPolicy policy;
  policy.minGain = 0; // every interval that misses is a wrong verdict
  Share share;
  for (int i = 0; i < comparisons; ++i) {
    const auto samples = pairsOfProcesses(random, processes, 40, luck, gain);
    const Speedup speedup =
        isBlocked ? blockedSpeedup(samples, 0.99) : pairedSpeedup(samples, 0.99, false);
    const Verdict verdict = decideVerdict(speedup, {}, policy).verdict;
    share.faster += verdict == Verdict::Faster;
    share.slower += verdict == Verdict::Slower;
  }
  return share;
}

TEST(VerdictsOfProcesses, IdenticalCodeThatIsLuckyInSomeIsHardlyEverADifference) {
  constexpr int kComparisons = 300;
  for (const std::uint32_t processes : {3u, 5u})
    for (const double luck : {0.002, 0.01}) {
      const Share share = verdictsOfProcesses(processes, luck, 1, true, kComparisons);
      EXPECT_LE(share.faster, kComparisons / 100) << processes << " processes, " << luck;
      EXPECT_LE(share.slower, kComparisons / 100) << processes << " processes, " << luck;
    }
}

TEST(VerdictsOfProcesses, PairsThatAreTakenForIndependentWouldSayOtherwise) {
  constexpr int kComparisons = 100;
  EXPECT_GE(verdictsOfProcesses(1, 0.01, 1, false, kComparisons).faster, 25);
  EXPECT_GE(verdictsOfProcesses(5, 0.01, 1, false, kComparisons).faster, 10);
}

TEST(VerdictsOfProcesses, TrueDifferencesAreFound) {
  EXPECT_GE(verdictsOfProcesses(5, 0.002, 1.02, true, 100).faster, 99);
  EXPECT_GE(verdictsOfProcesses(5, 0.01, 1.08, true, 100).faster, 99);
  EXPECT_GE(verdictsOfProcesses(5, 0.002, 1 / 1.02, true, 100).slower, 99);
}

TEST(BlockedSpeedup, IsTheTIntervalOverTheProcessesMedians) {
  std::vector<TimingSample> samples;
  for (std::uint32_t process = 0; process < 3; ++process)
    for (int i = 0; i < 30; ++i)
      samples.push_back({std::exp(0.1 + 0.01 * double(process)), 1, process});
  const Speedup speedup = blockedSpeedup(samples, 0.95);
  EXPECT_EQ(speedup.processes, 3u);
  EXPECT_EQ(speedup.pairs, 90u);
  EXPECT_NEAR(std::log(speedup.estimate), 0.11, 1e-12);
  // s = 0.01 and t(0.975, 2) = 4.302653, of any table.
  EXPECT_NEAR(std::log(speedup.high), 0.11 + 4.302653 * 0.01 / std::sqrt(3.0), 1e-7);
  EXPECT_NEAR(std::log(speedup.low), 0.11 - 4.302653 * 0.01 / std::sqrt(3.0), 1e-7);
  EXPECT_NE(inWords(speedup).find("from 90 pairs in 3 processes"), std::string::npos);
}

TEST(BlockedSpeedup, ProcessesThatAgreeByChanceMakeNoCertainty) {
  // Each process has the same median, and single times are all over the place.
  std::vector<TimingSample> samples;
  for (std::uint32_t process = 0; process < 3; ++process)
    for (int i = -10; i <= 10; ++i)
      samples.push_back({std::exp(0.02 * double(i)), 1, process});
  const Speedup all = pairedSpeedup(samples, 0.99, false), speedup = blockedSpeedup(samples, 0.99);
  EXPECT_LT(all.low, 0.98);
  EXPECT_EQ(speedup.low, all.low);
  EXPECT_EQ(speedup.high, all.high);
}

TEST(BlockedSpeedup, OneProcessSaysNothingAndABrokenTimeVoidsAll) {
  std::vector<TimingSample> samples(100, {2, 1, 0});
  const Speedup one = blockedSpeedup(samples, 0.99);
  EXPECT_EQ(one.low, 0);
  EXPECT_TRUE(std::isinf(one.high));
  samples.push_back({2, 0, 1});
  EXPECT_TRUE(std::isnan(blockedSpeedup(samples, 0.99).estimate));
}

TEST(Statistics, TheRankOfTheMediansIntervalHoldsForAnyNumberOfPairs) {
  // The critical values of the two-sided sign test at 5%, plus one.
  EXPECT_EQ(medianRank(5, 0.95), 0u);
  EXPECT_EQ(medianRank(6, 0.95), 1u);
  EXPECT_EQ(medianRank(20, 0.95), 6u);
  EXPECT_EQ(medianRank(50, 0.95), 18u);
  // Far beyond where 0.5^count is 0 in a double: n / 2 - 1.96 sqrt(n) / 2.
  for (const std::size_t count : {1074u, 1075u, 1100u, 5000u})
    EXPECT_NEAR(double(medianRank(count, 0.95)), count / 2.0 - 0.98 * std::sqrt(double(count)), 1.5)
        << count;
}

} // namespace
