// SPDX-License-Identifier: Apache-2.0
// Times two modules next to each other, in random order within each pair, until the evidence or the
// budget suffices. What the samples mean is the judge's to say; the stopping rule here only avoids
// samples that could change nothing.
#pragma once

#include "runtime/runner/BufferSet.h"

#include <string>
#include <utility>
#include <vector>

namespace kopt::runtime {

struct TimingPlan {
  std::uint64_t inputSeed = 1;
  std::uint32_t minSamples = 10, maxSamples = 1000;
  double budgetSeconds = 2;    ///< of sampling: after minSamples no pair begins past it
  double deadlineSeconds = 60; ///< fewer than minSamples rather than past 0.8 of it
  bool coldCache = true;
  /// Files for the buffers after one randomly chosen timed launch of each module, as
  /// BufferSet::collect() takes them. Empty: timed outputs are not kept. On a modelled device,
  /// which may answer a timed launch from memory, a launch right after it takes its place, of the
  /// second module alone.
  std::vector<std::string> outputsA, outputsB;
  Checks checks;
};

struct TimingResult {
  bool modelled = false, cold = false;
  std::uint32_t batch = 1;
  std::vector<std::pair<double, double>> samples; ///< seconds of the first and the second module
  Counters counters; ///< of the second module, on a modelled device, which counts while it times
  double smClockMHz = 0;
  std::vector<std::string> throttled; ///< reasons; such times are not evidence
};

/// Both launches on one device. A status that is not Ok begins with which module it is about.
Status timePairs(RunContext context, const LaunchSpec &a, const LaunchSpec &b,
                 const TimingPlan &plan, const SecondsClock &clock, TimingResult &out);

/// True where more pairs could not change what a judge concludes: the 99 % order-statistic interval
/// of the median of log(a/b) is within 0.2 %, or within a tenth of the median's distance from no
/// difference. Needs 30 pairs.
bool isTight(const std::vector<std::pair<double, double>> &samples);

} // namespace kopt::runtime
