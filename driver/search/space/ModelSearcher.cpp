// SPDX-License-Identifier: Apache-2.0
#include "driver/search/space/GaussianProcess.h"
#include "driver/search/space/Searcher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <utility>

namespace kopt {
namespace {

constexpr std::size_t kPool = 200;  ///< points that are drawn to be compared; 1000 find no more
constexpr std::size_t kCentres = 3; ///< the best points, whose neighbours are compared, too
/// Trials that the model is made of: these many of the fastest, and of the others the last.
constexpr std::size_t kFastest = 100, kLast = 50;
/// Steps of the first fit: fewer where each takes long.
constexpr int kFewestSteps = 60, kMostSteps = 400;
constexpr double kWork = 2e7; ///< multiplications of all steps, about
constexpr int kApart = 16;    ///< points that are drawn for each of the first ones
/// Points that are tried as they were worth elsewhere, before it counts what they are worth here.
constexpr std::size_t kFromElsewhere = 3;

/// How much slower than most a point is says nothing of the best: times are cut. The fastest is the
/// first.
void cut(std::vector<double> &times) {
  const double fastest = times.front(), median = times[times.size() / 2];
  for (double &time : times)
    time = std::min(time, median + 1.5 * (median - fastest) + 1e-9);
}

int firstSteps(std::size_t rows) {
  return std::clamp(int(kWork / std::pow(double(rows), 3)), kFewestSteps, kMostSteps);
}

/// The probability that a normal variable is less than `z` deviations above its mean.
double normalBelow(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

/// How far a point is expected to be below `best`, where it is not above: the expected improvement
/// of Jones, Schonlau and Welch, "Efficient Global Optimization of Expensive Black-Box Functions",
/// Journal of Global Optimization 13, 1998.
double improvement(const GaussianProcess::Prediction &expected, double best) {
  const double z = (best - expected.mean) / expected.deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return expected.deviation * (z * normalBelow(z) + density);
}

class ModelSearcher final : public Searcher {
public:
  ModelSearcher(const Searched &searched, std::uint64_t seed)
      : searched_(searched), random_(seed), width_(searched.space().parameters().size()),
        times_(width_), valid_(width_), elsewhere_(width_) {
    for (const SpaceParameter &parameter : searched.space().parameters()) {
      ranks_.emplace_back();
      for (const std::int64_t value : parameter.values)
        ranks_.back().push_back(
            double(std::ranges::count_if(parameter.values,
                                         [&](std::int64_t other) { return other < value; })) /
            double(std::max<std::size_t>(parameter.values.size(), 2) - 1));
    }
  }

  std::optional<Point> ask() override {
    if (std::exchange(isNew_, false)) // not before it is asked: others may be instead
      learnElsewhere();
    const bool isFirst =
        searched_.ranked().size() < (measured_.empty() ? kFirstPoints : kFromElsewhere);
    if (isFirst && measured_.empty())
      return farthestOfSome();
    // What is true elsewhere may mislead here: every second point is chosen without it.
    heeds_ = searched_.ranked().size() < kFirstPoints ||
             (searched_.trials().size() + searched_.pending().size()) % 2 == 0;
    if (!isFirst)
      learn();
    std::optional<Point> chosen;
    double most = 0;
    for (const Point &point : candidates()) {
      const std::vector<double> row = rowOf(point);
      double worth = -expectedElsewhere(point);
      if (!isFirst) {
        GaussianProcess::Prediction expected = times_.predict(row);
        expected.mean += expectedElsewhere(point);
        worth = improvement(expected, *searched_.best()->outcome) * likelyValid(row);
      }
      if (!chosen || worth > most) {
        chosen = point;
        most = worth;
      }
    }
    return chosen ? chosen : drawUnknown(searched_, random_);
  }

private:
  /// The ranks of the values of a point, from 0 to 1.
  std::vector<double> rowOf(const Point &point) const {
    std::vector<double> row(width_);
    for (std::size_t p = 0; p < width_; ++p)
      row[p] = ranks_[p][point[p]];
    return row;
  }

  /// Of some points that are drawn the one that is least like those that are known: the first
  /// points lie apart.
  std::optional<Point> farthestOfSome() {
    std::optional<Point> farthest;
    double most = -1;
    for (int draw = 0; draw < kApart; ++draw) {
      std::optional<Point> point = drawUnknown(searched_, random_);
      if (!point)
        break;
      const std::vector<double> row = rowOf(*point);
      double least = std::numeric_limits<double>::infinity();
      for (const Searched::Trial &trial : searched_.trials())
        least = std::min(least, distance(row, rowOf(trial.point)));
      for (const Point &pending : searched_.pending())
        least = std::min(least, distance(row, rowOf(pending)));
      if (least > most) {
        most = least;
        farthest = std::move(point);
      }
    }
    return farthest;
  }

  /// Squared.
  static double distance(const std::vector<double> &one, const std::vector<double> &other) {
    double sum = 0;
    for (std::size_t p = 0; p < one.size(); ++p)
      sum += (one[p] - other[p]) * (one[p] - other[p]);
    return sum;
  }

  std::set<Point> candidates() {
    std::set<Point> pool;
    const auto add = [&](const Point &point) {
      if (!searched_.isKnown(point))
        pool.insert(point);
    };
    const auto &ranked = searched_.ranked();
    for (std::size_t i = 0; i < std::min(kCentres, ranked.size()); ++i) {
      std::vector<Point> near =
          searched_.space().neighbours(searched_.trials()[ranked[i]].point, Space::Near::AnyValue);
      if (near.size() > kPool) { // as a parameter may have thousands of values
        std::ranges::shuffle(near, random_);
        near.resize(kPool);
      }
      std::ranges::for_each(near, add);
    }
    for (std::size_t i = 0; i < kPool; ++i)
      add(searched_.space().draw(random_));
    for (std::size_t i = 0; i < std::min(kPool, bestElsewhere_.size()); ++i)
      add(bestElsewhere_[i]);
    return pool;
  }

  /// The logarithm of a time, from what is known of elsewhere; 0 where nothing is. The differences
  /// count, and what is measured here says by how much they are all slower or faster.
  double expectedElsewhere(const Point &point) const {
    if (measured_.empty() || !heeds_)
      return 0;
    const auto known = measured_.find(point);
    return known != measured_.end() ? known->second : elsewhere_.predict(rowOf(point)).mean;
  }

  void learnElsewhere() {
    std::vector<Searched::Trial> trials = searched_.elsewhere();
    std::erase_if(trials, [&](const Searched::Trial &trial) {
      return !trial.outcome || !searched_.space().contains(trial.point);
    });
    if (trials.size() < 2)
      return;
    std::ranges::stable_sort(trials, {},
                             [](const Searched::Trial &trial) { return *trial.outcome; });
    std::vector<double> times;
    for (const Searched::Trial &trial : trials)
      times.push_back(*trial.outcome);
    cut(times);
    std::vector<double> rows, some;
    const std::size_t step = std::max<std::size_t>(1, trials.size() / kLast);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      measured_[trials[i].point] = times[i];
      bestElsewhere_.push_back(trials[i].point);
      if (i >= kFastest && i % step != 0)
        continue;
      addRow(trials[i].point, rows);
      some.push_back(times[i]);
    }
    elsewhere_.fit(std::move(rows), some, firstSteps(some.size()), random_);
  }

  /// The probability that a point does not fail, as far as it can be told from the others.
  double likelyValid(const std::vector<double> &row) const {
    if (!fails_)
      return 1;
    const GaussianProcess::Prediction valid = valid_.predict(row);
    return normalBelow((valid.mean - 0.5) / valid.deviation);
  }

  /// The trials that the model is made of: indices of Searched::trials().
  std::vector<std::size_t> chosenTrials() const {
    const auto &ranked = searched_.ranked();
    if (ranked.size() <= kFastest + kLast)
      return ranked;
    std::vector<std::size_t> others(ranked.begin() + kFastest, ranked.end());
    std::ranges::sort(others, std::greater());
    std::vector<std::size_t> chosen(ranked.begin(), ranked.begin() + kFastest);
    chosen.insert(chosen.end(), others.begin(), others.begin() + kLast);
    return chosen;
  }

  /// Makes the model anew if there are other trials, or other points on their way, than before.
  void learn() {
    const std::pair state(searched_.trials().size(), searched_.pending().size());
    if (state == learned_)
      return;
    const bool isFirst = learned_.first == 0;
    learned_ = state;
    const std::size_t rowsOfAll = std::min(learned_.first, kFastest + kLast);
    const int steps =
        isFirst ? firstSteps(rowsOfAll) : std::clamp(1200 / int(learned_.first), 2, 20);
    learnWhatFails(steps);
    std::vector<double> rows, times;
    const std::vector<std::size_t> chosen = chosenTrials();
    for (const std::size_t trial : chosen) {
      addRow(searched_.trials()[trial].point, rows);
      times.push_back(*searched_.trials()[trial].outcome);
    }
    cut(times);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      times[i] -= expectedElsewhere(searched_.trials()[chosen[i]].point);
    times_.fit(std::move(rows), times, steps, random_);
    std::vector<double> pending;
    for (const Point &point : searched_.pending())
      addRow(point, pending);
    if (!pending.empty())
      times_.suppose(pending);
  }

  /// Of the last trials, as there are too many for all.
  void learnWhatFails(int steps) {
    const auto &trials = searched_.trials();
    const std::size_t count = std::min(trials.size(), kFastest + kLast);
    std::vector<double> rows, valid;
    for (std::size_t trial = trials.size() - count; trial < trials.size(); ++trial) {
      addRow(trials[trial].point, rows);
      valid.push_back(trials[trial].outcome ? 1 : 0);
    }
    fails_ = std::ranges::count(valid, 0.0) > 0;
    if (fails_)
      valid_.fit(std::move(rows), valid, steps, random_);
  }

  void addRow(const Point &point, std::vector<double> &rows) const {
    const std::vector<double> row = rowOf(point);
    rows.insert(rows.end(), row.begin(), row.end());
  }

  const Searched &searched_;
  std::mt19937_64 random_;
  const std::size_t width_;
  std::vector<std::vector<double>> ranks_;      ///< of the values of each parameter
  std::pair<std::size_t, std::size_t> learned_; ///< trials, and points on their way
  GaussianProcess times_;                       ///< of the logarithms of times
  GaussianProcess valid_;            ///< of 1 where a point did not fail, and 0 where it did
  bool fails_ = false;               ///< whether valid_ has learned of a failure
  GaussianProcess elsewhere_;        ///< as times_, of what was heard of elsewhere
  std::map<Point, double> measured_; ///< there
  bool isNew_ = true;                ///< it was not asked yet
  bool heeds_ = true;                ///< the next point is chosen by it
  std::vector<Point> bestElsewhere_; ///< the fastest there first
};

} // namespace

std::unique_ptr<Searcher> makeModelSearcher(const Searched &searched, std::uint64_t seed) {
  return std::make_unique<ModelSearcher>(searched, seed);
}

} // namespace kopt
