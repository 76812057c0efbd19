// SPDX-License-Identifier: Apache-2.0
// What could be asked for: each technique that a proposer has left for a parent, by what the
// proposers said (`Offered::left`).
#pragma once

#include "driver/search/SearchHistory.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kopt {

class Arms {
public:
  /// `proposers`: those that are asked, in the order of their arms.
  explicit Arms(std::vector<std::string> proposers) : proposers_(std::move(proposers)) {}

  void observe(const Event &event, const SearchHistory &history);
  /// An ask for one candidate of each technique that is left for the parent; where a proposer has
  /// not said anything of the parent yet, of each that it ever had, or for any. None like one that
  /// has no answer yet, and none of a proposer that is given up.
  std::vector<Ask> of(const std::string &parent, const SearchHistory &history) const;

  /// How many candidates the ask could bring, one after the other; as far as is known: any number.
  std::size_t left(const Ask &ask) const;

private:
  using Place = std::pair<std::string, std::string>; ///< proposer and parent

  std::vector<std::string> proposers_;
  std::map<Place, std::map<std::string, int>> left_;
  std::map<std::string, std::set<std::string>> had_; ///< techniques by proposer
};

/// True of a candidate that is worth another change: it is right, timed, and not slower.
bool mayBeParent(const Trial &trial);

} // namespace kopt
