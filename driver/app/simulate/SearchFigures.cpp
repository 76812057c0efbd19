// SPDX-License-Identifier: Apache-2.0
#include "driver/app/simulate/SearchFigures.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kopt {
namespace {

/// Of `times` that are sorted, among `points` of which the others failed.
std::vector<double> timesByChance(const std::vector<double> &times, std::size_t points,
                                  std::size_t trials) {
  std::vector<double> expected(trials + 1);
  for (std::size_t drawn = 1; drawn <= trials; ++drawn) {
    double sum = 0, noneYet = 1; // the probability that none of the fastest so far is drawn
    for (std::size_t k = 0; k < times.size() && noneYet > 1e-12; ++k) {
      const double left = double(points - k);
      const double next = noneYet * std::max(0.0, left - double(drawn)) / left;
      sum += (noneYet - next) * times[k];
      noneYet = next;
    }
    expected[drawn] = sum / (1 - noneYet);
  }
  return expected;
}

} // namespace

SearchScale::SearchScale(const RecordedSpace &space) {
  std::vector<double> times;
  for (const auto &[values, point] : space.points)
    if (!point.seconds.empty())
      times.push_back(point.mean());
  std::ranges::sort(times);
  best_ = times.front();
  const double target = best_ + 0.05 * (times[times.size() / 2] - best_);
  const auto good = std::ranges::upper_bound(times, target) - times.begin();
  scored_ = std::size_t(std::ceil(double(times.size() + 1) / double(good + 1)));
  byChance_ =
      timesByChance(times, space.points.size(), std::max(scored_, std::size_t(kAfter.back())));
}

SearchScale::Figures SearchScale::figures(const TriedTimes &times) const {
  Figures figures{};
  double best = std::numeric_limits<double>::infinity(), score = 0;
  for (std::size_t trial = 1; trial < byChance_.size(); ++trial) {
    if (trial <= times.size())
      best = std::min(best, times[trial - 1]);
    for (std::size_t i = 0; i < kAfter.size(); ++i)
      if (trial == std::size_t(kAfter[i]))
        figures[i] = best_ / best;
    const double chance = byChance_[trial];
    if (trial <= scored_)
      score += (chance - (std::isfinite(best) ? best : byChance_[1])) / (chance - best_);
  }
  figures.back() = score / double(scored_);
  return figures;
}

std::array<MeanFigure, SearchScale::Figures().size()>
meanFigures(std::span<const std::vector<SearchScale::Figures>> spaces) {
  std::array<MeanFigure, SearchScale::Figures().size()> all{};
  for (std::size_t figure = 0; figure < all.size(); ++figure) {
    double variance = 0;
    for (const std::vector<SearchScale::Figures> &runs : spaces) {
      double sum = 0, squares = 0;
      for (const SearchScale::Figures &figures : runs) {
        sum += figures[figure];
        squares += figures[figure] * figures[figure];
      }
      const double n = double(runs.size()), own = sum / n;
      all[figure].mean += own / double(spaces.size());
      variance += std::max(0.0, squares / n - own * own) / std::max(1.0, n - 1) /
                  double(spaces.size() * spaces.size());
    }
    all[figure].error = 1.96 * std::sqrt(variance);
  }
  return all;
}

} // namespace kopt
