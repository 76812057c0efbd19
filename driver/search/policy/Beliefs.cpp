// SPDX-License-Identifier: Apache-2.0
#include "driver/search/policy/Beliefs.h"

#include "driver/search/Proposer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace kopt {
namespace {

/// Trials elsewhere that count as much as what is expected of any technique.
constexpr double kTrialsOfAny = 8;
/// The mean log gain of what gains, before any has; it counts for one.
constexpr double kFirstSize = 0.15;
/// Of the tunables that the user declared, which are there to be tried.
constexpr Prior kDeclared = {.chance = 0.5, .weight = 4};

} // namespace

std::map<std::string, Prior> priorsFrom(const std::vector<TechniqueOutcomes> &known,
                                        const std::string &state, const std::string &arch,
                                        const std::map<Recipe, Outcomes> &ofAKind,
                                        std::map<std::string, Prior> priors) {
  std::map<std::string, std::array<Outcomes, 4>> nearer;
  for (const TechniqueOutcomes &each : known)
    nearer[each.technique][each.state != state ? 0 : each.arch != arch ? 1 : 2] += each.sums;
  for (const auto &[recipe, sums] : ofAKind)
    nearer[recipe.first].back() += sums;
  for (const auto &[technique, sums] : nearer)
    for (const Outcomes &each : sums) {
      double &chance = priors[technique].chance;
      chance = (kTrialsOfAny * chance + double(each.gained)) / (kTrialsOfAny + double(each.trials));
    }
  return priors;
}

double Expectation::excess(double least, double deviations) const {
  return (chance + deviations * deviation) * size * std::exp(-std::max(0.0, least) / size);
}

void Beliefs::add(const std::string &technique, std::optional<double> logGain, bool isRecommended) {
  Sums &sums = sums_[{technique, isRecommended}];
  ++sums.trials;
  if (logGain && *logGain >= kLeastLogGain) {
    ++sums.gained;
    sums.size += std::min(*logGain, kMostLogGain);
  }
}

// The chance has a beta distribution.
Expectation Beliefs::of(const std::string &technique, bool isRecommended, double odds,
                        std::size_t coming) const {
  const auto known = priors_.find(technique);
  const auto found = sums_.find({technique, isRecommended});
  const Prior prior = known != priors_.end()      ? known->second
                      : technique == kNumbersRole ? kDeclared
                                                  : Prior();
  const Sums sums = found == sums_.end() ? Sums() : found->second;
  const double factor = isRecommended ? odds : 1;
  const double first = prior.chance * factor / (1 - prior.chance + prior.chance * factor);
  const double gained = prior.weight * first + double(sums.gained);
  const double all = prior.weight + double(sums.trials + coming);
  return {.chance = gained / all,
          .deviation = std::sqrt(gained * (all - gained) / (all * all * (all + 1))),
          .size = (kFirstSize + sums.size) / (1 + double(sums.gained)),
          .trials = sums.trials};
}

} // namespace kopt
