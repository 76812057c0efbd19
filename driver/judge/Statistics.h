// SPDX-License-Identifier: Apache-2.0
// Turns paired samples into a verdict. A speedup is the baseline's time divided by the candidate's.
#pragma once

#include "driver/model/Trial.h"

#include <string>
#include <vector>

namespace kopt {

/// Which gains are worth reporting, and how certain they must be.
struct VerdictPolicy {
  double confidence =
      0.99; ///< two-sided, of the interval: false verdicts on identical code stay below 1%
  double minGain = 0.01;         ///< relative; a smaller gain is Same
  double regressionGuard = 0.02; ///< relative; one launch that is slower by more rules out Faster
  int candidates = 1; ///< claims on fresh samples: the error rate is divided by it (Bonferroni)
};
KOPT_FIELDS(VerdictPolicy, confidence, minGain, regressionGuard, candidates)

double median(std::vector<double> values);

/// Median of the paired log-ratios a/b. Its interval is the wider of two: a circular block
/// bootstrap (block length n^(1/3), because neighbouring samples of one GPU are correlated; 2000
/// resamples, a fixed generator, percentiles) and the order-statistic interval of the median
/// (binomial, exact for independent samples however few). With too few pairs for a finite interval
/// at that confidence it is (0, infinity), so a few samples never decide.
Speedup pairedSpeedup(const std::vector<TimingSample> &samples, double confidence, bool modelled);

/// Speedup from pairs of several processes (TimingSample::process), run one after the other. The
/// layout of code and memory and the clocks differ between processes but hardly within one, so the
/// pairs of one process are not independent, however many there are. Each process therefore counts
/// once, by its median of the log-ratios; the estimate is their mean, and the interval mean +- t(1
/// - alpha/2, n-1) s / sqrt(n) over the n processes (Kalibera and Jones, "Rigorous Benchmarking in
/// Reasonable Time", ISMM 2013; Georges, Buytaert and Eeckhout, "Statistically Rigorous Java
/// Performance Evaluation", OOPSLA 2007), which is exact for normally distributed medians, however
/// few. The interval is never narrower than that of pairedSpeedup() over all pairs: processes may
/// agree by chance, or because the clock is coarse. For one process it is (0, infinity).
Speedup blockedSpeedup(const std::vector<TimingSample> &samples, double confidence);

/// Speedup from pairs of whole runs of two programs, one run in each process: the estimate is
/// exp(mean of the log-ratios), the interval mean +- t(1 - alpha/2, n-1) s / sqrt(n), as in
/// blockedSpeedup(). Each sample is the sum over all launches of a run, so neighbouring samples are
/// not correlated and a few pairs are enough. For one pair the interval is (0, infinity).
Speedup runSpeedup(const std::vector<TimingSample> &runs, double confidence);

/// Speedup of the workload by objectiveSpeedup(), for the mean 1 / sum(weight_i / speedup_i), where
/// the weights are shares of the baseline's time and `seconds` are the baseline's. Each objective
/// grows with every launch's time, so the interval combines the ends of the launches' intervals,
/// which is never too narrow.
Speedup combineSpeedups(const std::vector<Speedup> &launches, const std::vector<double> &weights,
                        Objective objective = Objective::Mean,
                        const std::vector<double> &seconds = {});
/// The same of timed launches.
Speedup combineTimings(const std::vector<LaunchTiming> &timings, const std::vector<double> &weights,
                       Objective objective);

/// The rank k for which [k-th smallest, k-th largest] of `count` independent samples contains their
/// median with the given confidence; 0 if there are too few samples for that. The number of samples
/// below the median is binomial with p = 1/2. At most count / 2.
std::size_t medianRank(std::size_t count, double confidence);

/// "1.520x [1.498, 1.541] at 95% from 80 pairs in 5 processes", "1.520x (modelled)": used in every
/// verdict, patch and message.
std::string inWords(const Speedup &speedup);

struct TimingDecision {
  Verdict verdict = Verdict::Ambiguous;
  std::string reason;
};

/// Returns Faster, Same, Slower or Ambiguous, with the figures in words. The regression guard
/// applies to each of `launches`.
TimingDecision decideVerdict(const Speedup &speedup, const std::vector<LaunchTiming> &launches,
                             const VerdictPolicy &policy);

} // namespace kopt
