// SPDX-License-Identifier: Apache-2.0
// What a search expects of each technique: how much a candidate gains over its parent, how likely
// it is to be right, and how long its trial takes. It begins with a prior, and each trial of the
// run counts.
#pragma once

#include "driver/knowledge/Experience.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// Of log(speedup over the parent), and of what a trial costs.
struct Prior {
  double mean = 0, deviation = 0.2;
  double valid = 0.8; ///< share of the candidates that are right
  double seconds = 1; ///< of a trial
  double weight = 2;  ///< trials that it counts for
};

/// The prior after these trials, each of which counts as much as each of its own.
Prior updated(const Prior &prior, const Outcomes &sums);

/// The prior of each technique from what its trials came to before: those elsewhere move what is
/// expected of any, those in this state that, and those on this architecture, too, that again.
std::map<std::string, Prior> priorsFrom(const std::vector<TechniqueOutcomes> &known,
                                        const std::string &state, const std::string &arch);

struct Expectation {
  double mean = 0, deviation = 0; ///< of the log gain of a right candidate
  double valid = 0, seconds = 0;
  std::size_t trials = 0; ///< of the run
};

class Beliefs {
public:
  /// `priors`: by technique; `other`: of those that have none.
  explicit Beliefs(std::map<std::string, Prior> priors = {}, Prior other = {});

  /// A trial of the technique: its log gain over the parent; nothing if the candidate is not right.
  void add(const std::string &technique, std::optional<double> logGain, double seconds);
  Expectation of(const std::string &technique) const;

private:
  std::map<std::string, Prior> priors_;
  Prior other_;
  std::map<std::string, Outcomes> sums_;
};

/// The mean of max(0, x - least) for a normal x.
double expectedExcess(double mean, double deviation, double least);

} // namespace kopt
