// SPDX-License-Identifier: Apache-2.0
// From paired samples to a verdict. A speedup is a ratio of baseline time over candidate time.
#pragma once

#include "driver/model/Trial.h"

#include <string>
#include <vector>

namespace kopt {

/// What counts as a gain worth reporting, and how sure one must be.
struct VerdictPolicy {
  double confidence =
      0.99; ///< two-sided, of the interval: false verdicts on identical code stay below 1%
  double minGain = 0.01;         ///< relative: below this, faster is Same
  double regressionGuard = 0.02; ///< a single launch that is surely slower than this forbids Faster
  int candidates = 1; ///< how many may be claimed on fresh samples: the error rate is divided by it
                      ///< (Bonferroni)
};
KOPT_FIELDS(VerdictPolicy, confidence, minGain, regressionGuard, candidates)

double median(std::vector<double> values);

/// Median of the paired log-ratios a/b. Its interval is the wider of two: a circular block
/// bootstrap (block length n^(1/3), because neighbouring samples of one GPU are correlated; 2000
/// resamples, a fixed generator, percentiles) and the order-statistic interval of the median
/// (binomial, exact for independent samples however few). Where too few pairs exist for a finite
/// interval at that confidence it is (0, infinity): a few samples never decide.
Speedup pairedSpeedup(const std::vector<TimingSample> &samples, double confidence, bool modelled);

/// Of pairs from several processes (TimingSample::process), one after the other. Where code and
/// memory lie, and what the clocks do, differ from process to process and stay in one: pairs of one
/// process are no independent witnesses, however many. So each process counts once, by its median
/// of the log-ratios; the estimate is their mean, and the interval mean +- t(1 - alpha/2, n-1) s /
/// sqrt(n) over the n processes (Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time",
/// ISMM 2013; Georges, Buytaert and Eeckhout, "Statistically Rigorous Java Performance Evaluation",
/// OOPSLA 2007), which is exact for normal medians however few. It is never narrower than
/// pairedSpeedup()'s of all pairs: processes may agree by chance, or because the clock is coarse.
/// One process says nothing: (0, infinity).
Speedup blockedSpeedup(const std::vector<TimingSample> &samples, double confidence);

/// Of pairs that are whole runs of two programs, one pair a process: estimate exp(mean of the
/// log-ratios), interval mean +- t(1 - alpha/2, n-1) s / sqrt(n), as blockedSpeedup() has it of
/// processes. Each sample is the sum over all launches of a run, so there are no neighbours that
/// are alike, and few pairs are enough. One pair says nothing: (0, infinity).
Speedup runSpeedup(const std::vector<TimingSample> &runs, double confidence);

/// Workload speedup 1 / sum(weight_i / speedup_i), weights being shares of the baseline's time; the
/// interval combines the launches' ends, which is never too narrow.
Speedup combineSpeedups(const std::vector<Speedup> &launches, const std::vector<double> &weights);

/// The rank k for which [k-th smallest, k-th largest] of `count` independent samples holds their
/// median with the confidence; 0 where so few samples hold it with no finite interval. The count of
/// samples below the median is binomial with p = 1/2. At most count / 2.
std::size_t medianRank(std::size_t count, double confidence);

/// "1.520x [1.498, 1.541] at 95% from 80 pairs in 5 processes", "1.520x (modelled)": in every
/// verdict, patch and line for people.
std::string inWords(const Speedup &speedup);

struct TimingDecision {
  Verdict verdict = Verdict::Ambiguous;
  std::string reason;
};

/// `launches` are guarded one by one. Faster, Same, Slower or Ambiguous, with the figures in words.
TimingDecision decideVerdict(const Speedup &speedup, const std::vector<LaunchTiming> &launches,
                             const VerdictPolicy &policy);

} // namespace kopt
