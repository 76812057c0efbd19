// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/Precedents.h"

#include <algorithm>
#include <limits>

namespace kopt {

double Precedents::rank(const Candidate &candidate, const std::string &parentTitle) const {
  if (const auto same = ofText.find(ofText.empty() ? "" : candidate.contentHash());
      same != ofText.end())
    return same->second.pays;
  const auto like = ofAKind.find({candidate.technique, variantOf(candidate.title, parentTitle)});
  if (like == ofAKind.end())
    return 0;
  const auto trials = double(like->second.trials);
  return like->second.gained > 0 ? double(like->second.gained) / (trials + 1) : -trials;
}

std::map<std::string, Tried> triedIn(const std::vector<Remembered> &rows, const std::string &arch,
                                     const std::string &baseline) {
  constexpr double kWrong = -std::numeric_limits<double>::infinity();
  constexpr int kMostSteps = 32; // rows of several runs may make a circle
  std::map<std::string, Tried> tried;
  for (const auto &[id, row, isOwn, sources, edits] : rows)
    if (row.variant && (row.arch == arch || (row.overBaseline && !tried.contains(row.candidate)))) {
      const double gain = row.overBaseline ? row.overBaseline->estimate : kWrong;
      tried[row.candidate] = {row.parent.empty() ? baseline : row.parent, row.technique, gain,
                              gain};
    }
  for (const auto &[candidate, one] : tried) {
    double reach = one.gain;
    auto above = tried.find(one.parent);
    for (int step = 0; step < kMostSteps && above != tried.end(); ++step) {
      reach -= kLogGainOfStep;
      above->second.reach = std::max(above->second.reach, reach);
      above = tried.find(above->second.parent);
    }
  }
  for (auto &[candidate, one] : tried) {
    const auto parent = tried.find(one.parent);
    const double over = one.reach - (parent == tried.end() ? 0 : parent->second.gain);
    one.pays = over >= kLogGainOfStep ? over : -1;
  }
  return tried;
}

} // namespace kopt
