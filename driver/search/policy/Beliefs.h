// SPDX-License-Identifier: Apache-2.0
// What a search expects of each technique: how likely a candidate is to gain over its parent, and
// how much if it does. It begins with a prior, and each trial of the run counts.
#pragma once

#include "driver/knowledge/Kind.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct Prior {
  double chance = 0.2; ///< that a candidate gains over its parent by kLeastLogGain
  /// Trials that it counts for. Candidates of one technique fare alike on one kernel: the first one
  /// says more than all other kernels do (measured on recorded trials, tests/strategies).
  double weight = 0.5;
};

/// The prior of each technique from what its trials came to before: those elsewhere move what is
/// expected of any, those in this state that, those on this architecture, too, that again, and last
/// those of kernels of the same kind, which are among the others.
/// `priors`: what they begin with, such as those of the seed.
std::map<std::string, Prior> priorsFrom(const std::vector<TechniqueOutcomes> &known,
                                        const std::string &state, const std::string &arch,
                                        const std::map<Recipe, Outcomes> &ofAKind = {},
                                        std::map<std::string, Prior> priors = {});

struct Expectation {
  double chance = 0, deviation = 0; ///< that it gains, and how well that is known
  double size = 0;                  ///< the mean log gain of those that do
  std::size_t trials = 0;           ///< of the run

  /// The mean log gain over `least`, which lies that far above the parent, with the chance that
  /// many deviations higher: what gains does so by an exponential distribution.
  double excess(double least, double deviations) const;
};

class Beliefs {
public:
  explicit Beliefs(std::map<std::string, Prior> priors = {}) : priors_(std::move(priors)) {}

  /// A trial of the technique: its log gain over the parent; nothing if the candidate is not right.
  /// Trials where a rule recommended it say nothing of those where none does, nor the reverse.
  void add(const std::string &technique, std::optional<double> logGain, bool isRecommended = false);
  /// `odds` multiplies those of the prior where it is recommended; `coming` candidates that are not
  /// judged yet count as if they gained nothing, so that others are tried beside them.
  Expectation of(const std::string &technique, bool isRecommended = false, double odds = 1,
                 std::size_t coming = 0) const;

private:
  struct Sums {
    std::size_t trials = 0, gained = 0;
    double size = 0; ///< sum of the log gains
  };
  std::map<std::string, Prior> priors_;
  std::map<std::pair<std::string, bool>, Sums> sums_; ///< by technique, and whether recommended
};

} // namespace kopt
