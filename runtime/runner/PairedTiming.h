// SPDX-License-Identifier: Apache-2.0
// Times two modules side by side, in random order within each pair, until more samples could change
// nothing or the budget is spent. The judge decides what the samples mean.
#pragma once

#include "runtime/runner/BufferSet.h"

#include <string>
#include <utility>
#include <vector>

namespace kopt::runtime {

struct TimingPlan {
  std::uint64_t inputSeed = 1;
  std::uint32_t minSamples = 10, maxSamples = 1000;
  double budgetSeconds = 2;    ///< of sampling; after minSamples, no pair begins past it
  double deadlineSeconds = 60; ///< past 0.8 of it no pair begins, even before minSamples
  bool coldCache = true;
  /// Files for the contents of the buffers after one randomly chosen timed launch of each module,
  /// as BufferSet::collect() takes them. Empty: timed outputs are not kept. A modelled device may
  /// answer a timed launch from memory; there, an untimed launch of the second module alone takes
  /// its place.
  std::vector<std::string> outputsA, outputsB;
  Checks checks;
};

struct TimingResult {
  bool modelled = false, cold = false;
  std::uint32_t batch = 1;
  std::vector<std::pair<double, double>> samples; ///< seconds of the first and the second module
  /// Of the second module, on a modelled device, which counts while it times.
  Counters counters;
  std::vector<LineCost> lines;
  double smClockMHz = 0;
  std::vector<std::string> throttled; ///< reasons; such times are not evidence
};

/// In-place buffers that both launches leave as they were, if they are not too large to look at,
/// are not restored between timed launches: a program that launches the kernel again does not copy
/// them either, and a copy changes what L2 holds. If one has changed at the end, all pairs are
/// taken again, with copies.
///
/// Times launch `a` of the first module and launch `b` of the second. If the status concerns one
/// module, its detail begins with "first module" or "second module".
Status timePairs(RunContext context, const LaunchSpec &a, const LaunchSpec &b,
                 const TimingPlan &plan, const SecondsClock &clock, TimingResult &out);

/// True if more pairs could not change what a judge concludes: the 99 % order-statistic interval of
/// the median of log(a/b) is within 0.2 %, or within a tenth of the median's distance from no
/// difference. Needs 30 pairs; 10 are enough if the second launch took 10 % longer in each of them,
/// which happens to equal launches once in 2^10 times at most.
bool isTight(const std::vector<std::pair<double, double>> &samples);

} // namespace kopt::runtime
