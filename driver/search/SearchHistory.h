// SPDX-License-Identifier: Apache-2.0
// The input of a strategy: everything that happened in a search so far.
#pragma once

#include "driver/model/Decision.h"
#include "driver/model/Trial.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kopt {

struct SearchHistory {
  std::vector<Trial> trials;           ///< oldest first; trials[0] is the baseline
  std::vector<Decision> decisions;     ///< of the search, oldest first
  std::size_t incumbent = 0;           ///< index of the last accepted trial
  int round = 0;                       ///< number of finished rounds
  int roundsSinceGain = 0;             ///< finished rounds in a row without a new incumbent
  std::vector<std::string> proposers;  ///< those that take turns, in the user's order
  std::vector<std::string> followers;  ///< those that are asked when new trials give a reason
  std::vector<double> weights;         ///< of the workload's launches
  int followed = 0;                    ///< finished rounds of followers
  std::map<std::string, int> failures; ///< failures in a row, by proposer
  std::set<std::string> failed;        ///< proposers that failed too often and are not asked again
  /// Proposers with the parents for which they have nothing left to offer.
  std::set<std::pair<std::string, std::vector<std::string>>> exhausted;

  const Trial &best() const { return trials.at(incumbent); }
  /// The trial of that candidate; null if there is none.
  const Trial *find(const std::string &candidateHash) const {
    for (const Trial &trial : trials)
      if (trial.candidateHash == candidateHash)
        return &trial;
    return nullptr;
  }
};

} // namespace kopt
