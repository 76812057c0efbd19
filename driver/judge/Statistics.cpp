// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/Statistics.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <random>

namespace kopt {
namespace {

/// Logarithms of a/b. Empty if one is undefined: a zero or non-finite time is a broken measurement,
/// never a win.
std::vector<double> logRatios(const std::vector<TimingSample> &samples) {
  std::vector<double> ratios;
  for (const TimingSample &sample : samples) {
    if (!(sample.a > 0 && sample.b > 0 && std::isfinite(sample.a) && std::isfinite(sample.b)))
      return {};
    ratios.push_back(std::log(sample.a / sample.b));
  }
  return ratios;
}

constexpr int kResamples = 2000;

/// The median of as many values as `sorted` has, where each is there `times` times.
double medianOf(const std::vector<double> &sorted, const std::vector<std::uint32_t> &times) {
  const std::size_t middle = sorted.size() / 2;
  std::size_t at = 0, up = 0;
  const auto next = [&](std::size_t rank) {
    while (up <= rank)
      up += times[at++];
    return sorted[at - 1];
  };
  const double lower = sorted.size() % 2 == 0 ? next(middle - 1) : 0;
  const double upper = next(middle);
  return sorted.size() % 2 == 0 ? (lower + upper) / 2 : upper;
}

/// mean +- t s / sqrt(n) of at least two values.
std::pair<double, double> meanInterval(const std::vector<double> &values, double confidence) {
  const double count = double(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  const boost::math::students_t distribution(count - 1);
  const double t =
      boost::math::quantile(boost::math::complement(distribution, (1 - confidence) / 2));
  const double half = t * std::sqrt(squares / (count - 1) / count);
  return {mean - half, mean + half};
}

/// Rounds so that the interval has at least the confidence.
using Conservative = boost::math::policies::policy<
    boost::math::policies::discrete_quantile<boost::math::policies::integer_round_up>>;

} // namespace

std::size_t medianRank(std::size_t count, double confidence) {
  const boost::math::binomial_distribution<double, Conservative> below(double(count), 0.5);
  return std::min(count / 2, std::size_t(quantile(below, (1 - confidence) / 2)));
}

std::string inWords(const Speedup &speedup) {
  const std::string of = speedup.of ? " for " + inWords(*speedup.of) : "";
  if (speedup.modelled)
    return fmt::format("{:.3f}x{} (modelled)", speedup.estimate, of);
  return fmt::format("{:.3f}x{} [{:.3f}, {:.3f}] at {:.4g}% from {} pairs{}", speedup.estimate, of,
                     speedup.low, speedup.high, speedup.confidence * 100, speedup.pairs,
                     speedup.processes > 1 ? fmt::format(" in {} processes", speedup.processes)
                                           : "");
}

double median(std::vector<double> values) {
  if (values.empty())
    return std::numeric_limits<double>::quiet_NaN();
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1)
    return upper;
  return (*std::max_element(values.begin(), values.begin() + middle) + upper) / 2;
}

Speedup pairedSpeedup(const std::vector<TimingSample> &samples, double confidence, bool modelled) {
  Speedup result;
  result.confidence = confidence;
  result.modelled = modelled;
  result.low = 0;
  result.high = std::numeric_limits<double>::infinity();

  std::vector<double> ratios = logRatios(samples);
  if (ratios.empty()) {
    result.estimate = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  result.pairs = ratios.size();
  result.estimate = std::exp(median(ratios));
  if (modelled) { // the model has no noise
    result.low = result.high = result.estimate;
    return result;
  }
  const std::size_t count = ratios.size();
  const std::size_t rank = medianRank(count, confidence);
  if (rank == 0)
    return result;

  // A resample is how often it has each value of the sorted ratios: its median then needs no
  // sorting.
  std::vector<std::size_t> order(count), place(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return ratios[a] < ratios[b]; });
  for (std::size_t i = 0; i < count; ++i)
    place[order[i]] = i;
  std::sort(ratios.begin(), ratios.end());

  const std::size_t block = std::max<std::size_t>(1, std::size_t(std::cbrt(double(count))));
  std::mt19937_64 random(0x6b6f7074); // fixed: the same samples give the same interval
  std::vector<double> medians;
  medians.reserve(kResamples);
  std::vector<std::uint32_t> times(count);
  for (int i = 0; i < kResamples; ++i) {
    std::fill(times.begin(), times.end(), 0);
    for (std::size_t taken = 0; taken < count;) {
      std::size_t at = random() % count;
      for (std::size_t j = 0; j < block && taken < count; ++j, ++taken) {
        ++times[place[at]];
        at = at + 1 < count ? at + 1 : 0;
      }
    }
    medians.push_back(medianOf(ratios, times));
  }
  std::sort(medians.begin(), medians.end());
  const double tail = (1 - confidence) / 2;
  const auto at = [&](double quantile) {
    const double position = quantile * (kResamples - 1);
    return medians[std::size_t(std::clamp(position, 0.0, double(kResamples - 1)))];
  };
  // The bootstrap of a median is too narrow for few samples, the order statistics for correlated
  // ones: take the wider one.
  result.low = std::exp(std::min(at(tail), ratios[rank - 1]));
  result.high = std::exp(std::max(at(1 - tail), ratios[count - rank]));
  return result;
}

Speedup blockedSpeedup(const std::vector<TimingSample> &samples, double confidence) {
  Speedup result = pairedSpeedup(samples, confidence, false);
  if (!std::isfinite(result.estimate))
    return result; // the measurement is void
  std::map<std::uint32_t, std::vector<double>> ratios;
  for (const TimingSample &sample : samples)
    ratios[sample.process].push_back(std::log(sample.a / sample.b));
  const double count = double(ratios.size());
  result.processes = ratios.size();
  std::vector<double> medians;
  for (auto &[process, own] : ratios)
    medians.push_back(median(std::move(own)));
  const double mean = std::accumulate(medians.begin(), medians.end(), 0.0) / count;
  result.estimate = std::exp(mean);
  if (ratios.size() < 2) {
    result.low = 0;
    result.high = std::numeric_limits<double>::infinity();
    return result;
  }
  const auto [low, high] = meanInterval(medians, confidence);
  result.low = std::min(result.low, std::exp(low));
  result.high = std::max(result.high, std::exp(high));
  return result;
}

Speedup runSpeedup(const std::vector<TimingSample> &runs, double confidence) {
  Speedup result;
  result.confidence = confidence;
  result.low = 0;
  result.high = std::numeric_limits<double>::infinity();
  result.pairs = result.processes = runs.size();
  std::vector<double> ratios = logRatios(runs);
  if (ratios.empty()) {
    result.estimate = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  result.estimate =
      std::exp(std::accumulate(ratios.begin(), ratios.end(), 0.0) / double(ratios.size()));
  if (ratios.size() < 2)
    return result;
  const auto [low, high] = meanInterval(ratios, confidence);
  result.low = std::exp(low);
  result.high = std::exp(high);
  return result;
}

Speedup combineSpeedups(const std::vector<Speedup> &launches, const std::vector<double> &weights,
                        Objective objective, const std::vector<double> &seconds) {
  Speedup result;
  result.pairs = launches.empty() ? 0 : std::numeric_limits<std::size_t>::max();
  for (const Speedup &launch : launches) {
    result.modelled |= launch.modelled;
    result.confidence = launch.confidence;
    result.pairs = std::min(result.pairs, launch.pairs);
    result.processes = launch.processes; // all launches are timed in the same processes
  }
  const auto together = [&](double Speedup::*end) {
    std::vector<double> ends;
    for (const Speedup &launch : launches)
      ends.push_back(launch.*end);
    return objectiveSpeedup(objective, weights, seconds, ends);
  };
  result.estimate = together(&Speedup::estimate);
  result.low = together(&Speedup::low);
  result.high = together(&Speedup::high);
  if (objective != Objective::Mean)
    result.of = objective;
  return result;
}

Speedup combineTimings(const std::vector<LaunchTiming> &timings, const std::vector<double> &weights,
                       Objective objective) {
  std::vector<Speedup> speedups;
  std::vector<double> seconds;
  for (const LaunchTiming &timing : timings) {
    speedups.push_back(timing.speedup);
    seconds.push_back(timing.baselineSeconds);
  }
  return combineSpeedups(speedups, weights, objective, seconds);
}

TimingDecision decideVerdict(const Speedup &speedup, const std::vector<LaunchTiming> &launches,
                             const VerdictPolicy &policy) {
  const std::string words = inWords(speedup);
  if (!std::isfinite(speedup.estimate) || speedup.estimate <= 0)
    return {Verdict::Ambiguous, "a time was zero or not a number; the measurement is void"};
  const double gain = 1 + policy.minGain, loss = 1 / (1 + policy.minGain);
  for (const LaunchTiming &launch : launches)
    if (launches.size() > 1 && launch.speedup.high < 1 - policy.regressionGuard)
      return {Verdict::Slower,
              fmt::format("launch '{}' regresses to {}, by more than {:.4g}%; the workload as a "
                          "whole is at {}",
                          launch.launch, inWords(launch.speedup), policy.regressionGuard * 100,
                          words)};
  if (speedup.low > gain)
    return {Verdict::Faster, words};
  if (speedup.high < loss)
    return {Verdict::Slower, words};
  if (speedup.low >= loss && speedup.high <= gain)
    return {Verdict::Same,
            fmt::format("{}; within {:.1f}% of the baseline", words, policy.minGain * 100)};
  if (speedup.low > 1)
    return {Verdict::Ambiguous, fmt::format("{}; a gain, but not certainly above {:.1f}%", words,
                                            policy.minGain * 100)};
  return {Verdict::Ambiguous, fmt::format("{}; the interval does not decide", words)};
}

} // namespace kopt
