// SPDX-License-Identifier: Apache-2.0
#include "driver/search/policy/Arms.h"

#include <algorithm>

namespace kopt {

void Arms::observe(const Event &event, const SearchHistory &history) {
  const auto placeOf = [&](int id) {
    const Ask &ask = history.asked.at(std::size_t(id) - 1).ask;
    return Place(ask.role, ask.parents.front());
  };
  if (const auto *offer = std::get_if<Offered>(&event.what)) {
    left_[placeOf(offer->ask)] = offer->left;
    for (const auto &[technique, count] : offer->left)
      had_[placeOf(offer->ask).first].insert(technique);
    if (offer->left.empty() && !offer->candidates.empty()) // not known; or those were the last
      left_.erase(placeOf(offer->ask));
  }
}

std::vector<Ask> Arms::of(const std::string &parent, const SearchHistory &history) const {
  std::vector<Ask> asks;
  for (const std::string &role : proposers_) {
    if (history.isGivenUp(role))
      continue;
    const auto add = [&](const std::string &technique) {
      const bool isOpen = std::ranges::any_of(history.asked, [&](const Asked &asked) {
        return !asked.isAnswered && asked.ask.role == role && asked.ask.parents.front() == parent &&
               (asked.ask.technique == technique || asked.ask.technique.empty());
      });
      if (!isOpen)
        asks.push_back({.role = role, .parents = {parent}, .technique = technique, .limit = 1});
    };
    const auto had = had_.find(role);
    if (const auto known = left_.find({role, parent}); known != left_.end())
      for (const auto &[technique, count] : known->second)
        add(technique);
    else if (had != had_.end())
      std::ranges::for_each(had->second, add);
    else
      add("");
  }
  return asks;
}

std::size_t Arms::left(const Ask &ask) const {
  const auto known = left_.find({ask.role, ask.parents.front()});
  return known == left_.end() ? std::string::npos : std::size_t(known->second.at(ask.technique));
}

bool mayBeParent(const Trial &trial) {
  return trial.speedup && (trial.verdict == Verdict::Faster || trial.verdict == Verdict::Same);
}

} // namespace kopt
