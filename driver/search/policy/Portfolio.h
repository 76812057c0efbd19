// SPDX-License-Identifier: Apache-2.0
// The strategy `auto`: one portfolio of all that could be asked for.
#pragma once

#include "driver/search/Strategy.h"
#include "driver/search/policy/Beliefs.h"

namespace kopt {

struct PortfolioSettings {
  std::vector<std::string> proposers;    ///< that tell what they have left
  std::vector<std::string> followers{};  ///< that are asked when new trials give a reason
  std::vector<double> weights{};         ///< of the workload's launches
  std::map<std::string, Prior> priors{}; ///< by technique
  std::size_t width = 4;    ///< parents beside the baseline, each with other techniques in it
  double explore = 1;       ///< deviations count this many times
  std::size_t open = 6;     ///< candidates on their way at a time
  double minGain = 0.01;    ///< smallest gain that counts, as a fraction
  std::size_t patience = 0; ///< most trials in a row without a better incumbent; 0: no limit
};

/// Asks for what promises most: by the mean and the spread of what each technique gained in this
/// run and before, how likely it is right, and what a trial costs, how far a candidate is expected
/// to exceed the best one, for each second. Parents are the fastest right trials, at most one for
/// each set of techniques.
std::unique_ptr<Strategy> makePortfolio(const PortfolioSettings &settings);

} // namespace kopt
