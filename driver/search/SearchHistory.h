// SPDX-License-Identifier: Apache-2.0
// What a strategy reads: everything that happened in a search so far.
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
  std::vector<Trial> trials;           ///< oldest first; trials[0] is the baseline's
  std::vector<Decision> decisions;     ///< of the search, oldest first
  std::size_t incumbent = 0;           ///< index into trials: the best that was accepted
  int round = 0;                       ///< rounds finished
  int roundsSinceGain = 0;             ///< finished rounds in a row without a new incumbent
  std::vector<std::string> proposers;  ///< in the user's order
  std::map<std::string, int> failures; ///< of proposers, in a row
  std::set<std::string> failed;        ///< proposers that are not asked again, since they failed
  /// A proposer and the parents for which it has nothing left to offer.
  std::set<std::pair<std::string, std::vector<std::string>>> exhausted;

  const Trial &best() const { return trials.at(incumbent); }
  /// Null where the history has no such trial.
  const Trial *find(const std::string &candidateHash) const {
    for (const Trial &trial : trials)
      if (trial.candidateHash == candidateHash)
        return &trial;
    return nullptr;
  }
};

} // namespace kopt
