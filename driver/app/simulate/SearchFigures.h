// SPDX-License-Identifier: Apache-2.0
// What a search of a recorded space is worth: the fraction of the optimum that it reached after so
// many trials, and a score.
#pragma once

#include "driver/judge/recorded/RecordedSpace.h"

#include <array>
#include <span>

namespace kopt {

/// The times of the points that a search tried, in their order; infinite where one failed.
using TriedTimes = std::vector<double>;

/// What figures of a search of one space are relative to.
class SearchScale {
public:
  static constexpr std::array<int, 4> kAfter = {25, 50, 100, 200};
  /// Fractions of the optimum after kAfter trials, and the score.
  using Figures = std::array<double, kAfter.size() + 1>;

  explicit SearchScale(const RecordedSpace &space);

  /// Trials that the score is the mean of: the random points that are expected until the difference
  /// between median and optimum is down to 5 %, by which the field scores (Willemsen et al., "A
  /// methodology for comparing optimization algorithms for auto-tuning", FGCS 2024; it counts
  /// seconds, and here trials count, so that the speed of a search's own code decides nothing).
  std::size_t scored() const { return scored_; }
  /// Trials that the figures need.
  std::size_t trials() const { return byChance_.size() - 1; }
  double best() const { return best_; }
  /// The expected shortest time of so many random points, from 1 on.
  double byChance(std::size_t trials) const { return byChance_.at(trials); }

  /// The score is 0 for what random points find and 1 for the optimum at once.
  Figures figures(const TriedTimes &times) const;

private:
  double best_ = 0;
  std::size_t scored_ = 0;
  std::vector<double> byChance_; ///< by trials
};

/// The mean of figures with 1.96 standard errors: over the runs of each space, then over spaces.
struct MeanFigure {
  double mean = 0, error = 0;
};
std::array<MeanFigure, SearchScale::Figures().size()>
meanFigures(std::span<const std::vector<SearchScale::Figures>> spaces);

} // namespace kopt
