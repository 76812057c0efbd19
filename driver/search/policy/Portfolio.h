// SPDX-License-Identifier: Apache-2.0
// One portfolio of all that could be asked for: the strategies auto, navigator, beam and memory,
// which differ in their settings.
#pragma once

#include "driver/knowledge/Precedents.h"
#include "driver/search/Strategy.h"
#include "driver/search/policy/Beliefs.h"
#include "driver/search/policy/PolicyBook.h"

namespace kopt {

/// Trials of a portfolio, which has no rounds, for each round without a gain that is waited for.
inline constexpr std::size_t kTrialsOfRound = 3;

struct PortfolioSettings {
  PolicySettings policy{};
  std::vector<PolicyGate> gates{};       ///< if the policy has them
  std::vector<std::string> proposers;    ///< that tell what they have left
  std::vector<std::string> followers{};  ///< that are asked when new trials give a reason
  std::vector<std::string> several{};    ///< proposers, such as models, that answer with several
  std::vector<double> weights{};         ///< of the workload's launches
  Objective objective = Objective::Mean; ///< of the workload
  std::map<std::string, Prior> priors{}; ///< by technique
  Precedents precedents{};               ///< by which proposers order what they offer
  double target = 0;                     ///< speedup that the search is to reach; 0: none
  /// Candidates on their way at a time, whatever the number of GPUs, so that it decides nothing.
  /// Each more is chosen with one trial less known.
  std::size_t open = 4;
  double minGain = 0.01;    ///< smallest gain that counts, as a fraction
  std::size_t patience = 0; ///< most trials in a row without a better incumbent; 0: no limit
};

/// Asks for what promises most: by how often each technique gained in this run and before, and
/// whether a rule recommends it for the parent, how far a candidate is expected to exceed the best
/// one. Parents are the baseline and the fastest right trials.
std::unique_ptr<Strategy> makePortfolio(PortfolioSettings settings);

} // namespace kopt
