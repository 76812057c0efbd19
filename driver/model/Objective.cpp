// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Objective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace kopt {

std::string inWords(Objective objective) {
  static constexpr const char *kWords[] = {
      "the mean of the launches", "the 95th percentile of the launches", "the slowest launch"};
  return kWords[std::size_t(objective)];
}

double objectiveSeconds(Objective objective, const std::vector<double> &counts,
                        const std::vector<double> &seconds) {
  const double launches = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double total = std::inner_product(counts.begin(), counts.end(), seconds.begin(), 0.0);
  if (objective == Objective::Mean || std::isnan(total))
    return total / launches;
  std::vector<std::pair<double, double>> slowestFirst;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    slowestFirst.emplace_back(seconds[i], counts[i]);
  std::ranges::sort(slowestFirst, std::greater());
  // A little more than the part, because counts that are computed from shares are not exact.
  double beyond = ((objective == Objective::P95 ? 0.05 : 0) + 1e-9) * launches;
  for (const auto &[time, count] : slowestFirst)
    if ((beyond -= count) < 0)
      return time;
  return std::numeric_limits<double>::quiet_NaN();
}

double objectiveSpeedup(Objective objective, const std::vector<double> &shares,
                        const std::vector<double> &seconds, const std::vector<double> &speedups) {
  std::vector<double> before, after, counts;
  for (std::size_t i = 0; i < speedups.size(); ++i) {
    before.push_back(objective == Objective::Mean ? 1 : seconds[i]);
    after.push_back(before[i] / speedups[i]);
    counts.push_back(shares[i] / before[i]);
  }
  return objectiveSeconds(objective, counts, before) / objectiveSeconds(objective, counts, after);
}

} // namespace kopt
