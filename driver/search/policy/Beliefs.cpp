// SPDX-License-Identifier: Apache-2.0
#include "driver/search/policy/Beliefs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace kopt {
// The mean, and the variance around it, of the prior's trials and these together.
Prior updated(const Prior &prior, const Outcomes &sums) {
  const double weight = prior.weight + double(sums.right), all = prior.weight + double(sums.trials);
  Prior next{.weight = prior.weight};
  next.mean = (prior.weight * prior.mean + sums.gain) / weight;
  const double square =
      prior.weight * (prior.deviation * prior.deviation + prior.mean * prior.mean) + sums.square;
  next.deviation = std::sqrt(std::max(0.0, square / weight - next.mean * next.mean));
  next.valid = (prior.weight * prior.valid + double(sums.right)) / all;
  next.seconds = (prior.weight * prior.seconds + sums.seconds) / all;
  return next;
}

std::map<std::string, Prior> priorsFrom(const std::vector<TechniqueOutcomes> &known,
                                        const std::string &state, const std::string &arch) {
  std::map<std::string, std::array<Outcomes, 3>> nearer; // each trial is in one of them
  for (const TechniqueOutcomes &each : known)
    nearer[each.technique][each.state != state ? 0 : each.arch != arch ? 1 : 2] += each.sums;
  std::map<std::string, Prior> priors;
  for (const auto &[technique, sums] : nearer)
    priors[technique] = std::accumulate(sums.begin(), sums.end(), Prior(), updated);
  return priors;
}

Beliefs::Beliefs(std::map<std::string, Prior> priors, Prior other)
    : priors_(std::move(priors)), other_(other) {}

void Beliefs::add(const std::string &technique, std::optional<double> logGain, double seconds) {
  sums_[technique].add(logGain, seconds);
}

Expectation Beliefs::of(const std::string &technique) const {
  const auto known = priors_.find(technique);
  const auto found = sums_.find(technique);
  const Outcomes sums = found == sums_.end() ? Outcomes() : found->second;
  const Prior now = updated(known == priors_.end() ? other_ : known->second, sums);
  return {now.mean, now.deviation, now.valid, now.seconds, std::size_t(sums.trials)};
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
