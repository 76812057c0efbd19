// SPDX-License-Identifier: Apache-2.0
#include "driver/search/policy/Beliefs.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kopt {
namespace {

/// A gain counts for at most this, so that one great win or loss does not decide for the rest.
constexpr double kMostLogGain = 2;

} // namespace

Beliefs::Beliefs(std::map<std::string, Prior> priors, Prior other)
    : priors_(std::move(priors)), other_(other) {}

void Beliefs::add(const std::string &technique, std::optional<double> logGain, double seconds) {
  Sums &sums = sums_[technique];
  ++sums.trials;
  sums.seconds += seconds;
  if (!logGain)
    return;
  const double gain = std::clamp(*logGain, -kMostLogGain, kMostLogGain);
  ++sums.right;
  sums.gain += gain;
  sums.square += gain * gain;
}

// The mean, and the variance around it, of the prior's trials and the run's together.
Expectation Beliefs::of(const std::string &technique) const {
  const auto known = priors_.find(technique);
  const Prior &prior = known == priors_.end() ? other_ : known->second;
  const auto found = sums_.find(technique);
  const Sums sums = found == sums_.end() ? Sums() : found->second;
  const double weight = prior.weight + double(sums.right), all = prior.weight + double(sums.trials);
  Expectation expected;
  expected.mean = (prior.weight * prior.mean + sums.gain) / weight;
  const double square =
      prior.weight * (prior.deviation * prior.deviation + prior.mean * prior.mean) + sums.square;
  expected.deviation = std::sqrt(std::max(0.0, square / weight - expected.mean * expected.mean));
  expected.valid = (prior.weight * prior.valid + double(sums.right)) / all;
  expected.seconds = (prior.weight * prior.seconds + sums.seconds) / all;
  expected.trials = sums.trials;
  return expected;
}

// Jones, Schonlau and Welch 1998, "Efficient Global Optimization of Expensive Black-Box
// Functions", equation 15.
double expectedExcess(double mean, double deviation, double least) {
  const double above = mean - least;
  if (deviation <= 0)
    return std::max(0.0, above);
  const double z = above / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi),
               share = std::erfc(-z / std::numbers::sqrt2) / 2;
  return above * share + deviation * density;
}

} // namespace kopt
