// SPDX-License-Identifier: Apache-2.0
#include "driver/search/space/Searcher.h"
#include "driver/search/space/Trees.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace kopt {
namespace {

constexpr std::uint64_t kFew = 32;  ///< points of a space that is tried in its order
constexpr std::size_t kFirst = 8;   ///< points that are drawn before there is a model
constexpr std::size_t kPool = 200;  ///< points that are drawn to be compared; 1000 find no more
constexpr std::size_t kCentres = 3; ///< the best points, whose neighbours are compared, too

/// How many deviations a point may be faster than expected: about kHope, and one more for each
/// kPatience trials that brought nothing faster. (Chosen on spaces of other GPUs and kernels than
/// those that tests/benchmarks/README.md compares on.)
constexpr double kHope = 0.3, kPatience = 8;

/// One feature for each parameter, the rank of its value; and the logarithms of the products and
/// quotients of any two parameters with three values or more, as threads of a block or tiles are
/// what times depend on.
class Features {
public:
  explicit Features(const Space &space) {
    for (const SpaceParameter &parameter : space.parameters()) {
      std::vector<float> ranks, logs;
      for (const std::int64_t value : parameter.values) {
        ranks.push_back(float(std::ranges::count_if(
            parameter.values, [&](std::int64_t other) { return other < value; })));
        logs.push_back(std::log2(float(std::max<std::int64_t>(value, 1))));
      }
      if (parameter.values.size() > 2)
        wide_.push_back(ranks_.size());
      ranks_.push_back(std::move(ranks));
      logs_.push_back(std::move(logs));
    }
  }

  std::size_t width() const {
    return ranks_.size() + wide_.size() * std::max<std::size_t>(wide_.size(), 1) - wide_.size();
  }

  void addRow(const Point &point, std::vector<float> &rows) const {
    for (std::size_t p = 0; p < point.size(); ++p)
      rows.push_back(ranks_[p][point[p]]);
    for (std::size_t i = 0; i < wide_.size(); ++i)
      for (std::size_t j = i + 1; j < wide_.size(); ++j) {
        const float one = logs_[wide_[i]][point[wide_[i]]],
                    other = logs_[wide_[j]][point[wide_[j]]];
        rows.push_back(one + other);
        rows.push_back(one - other);
      }
  }

private:
  std::vector<std::vector<float>> ranks_, logs_; ///< of the values of each parameter
  std::vector<std::size_t> wide_;                ///< parameters with three values or more
};

class ModelSearcher final : public Searcher {
public:
  ModelSearcher(const Searched &searched, std::uint64_t seed)
      : searched_(searched), random_(seed), features_(searched.space()) {}

  std::optional<Point> ask() override {
    if (searched_.space().size() <= kFew)
      return unknownFrom(searched_, 0);
    if (searched_.ranked().size() < kFirst)
      return drawUnknown(searched_, random_);
    learn();
    const double hope = std::exponential_distribution<double>()(random_) *
                        (kHope + double(sinceBest()) / kPatience);
    std::vector<float> row;
    std::optional<Point> chosen;
    double best = 0;
    for (const Point &point : candidates()) {
      row.clear();
      features_.addRow(point, row);
      const Trees::Prediction time = times_->predict(row.data());
      const double worth = std::exp(hope * time.deviation - time.mean) *
                           (valid_ ? valid_->predict(row.data()).mean : 1);
      if (!chosen || worth > best) {
        chosen = point;
        best = worth;
      }
    }
    return chosen ? chosen : drawUnknown(searched_, random_);
  }

private:
  std::set<Point> candidates() {
    std::set<Point> pool;
    const auto add = [&](const Point &point) {
      if (!searched_.isKnown(point))
        pool.insert(point);
    };
    const auto &ranked = searched_.ranked();
    for (std::size_t i = 0; i < std::min(kCentres, ranked.size()); ++i)
      for (const Point &near :
           searched_.space().neighbours(searched_.trials()[ranked[i]].point, Space::Near::AnyValue))
        add(near);
    for (std::size_t i = 0; i < kPool; ++i)
      add(searched_.space().draw(random_));
    return pool;
  }

  /// Trials after the best one.
  std::size_t sinceBest() const {
    return searched_.trials().size() - 1 - searched_.ranked().front();
  }

  /// Makes the models anew if there are other trials than those that they were made of.
  void learn() {
    if (times_ && learned_ == searched_.trials().size())
      return;
    learned_ = searched_.trials().size();
    std::vector<float> rows, all;
    std::vector<double> times, valid;
    for (const Searched::Trial &trial : searched_.trials()) {
      features_.addRow(trial.point, all);
      valid.push_back(trial.outcome ? 1 : 0);
      if (!trial.outcome)
        continue;
      features_.addRow(trial.point, rows);
      times.push_back(*trial.outcome);
    }
    times_.emplace(rows, features_.width(), times, random_);
    if (times.size() < valid.size())
      valid_.emplace(all, features_.width(), valid, random_);
  }

  const Searched &searched_;
  std::mt19937_64 random_;
  const Features features_;
  std::size_t learned_ = 0;    ///< trials that the models were made of
  std::optional<Trees> times_; ///< of the logarithms of times
  std::optional<Trees> valid_; ///< of 1 where a point did not fail; unset while none did
};

} // namespace

std::unique_ptr<Searcher> makeModelSearcher(const Searched &searched, std::uint64_t seed) {
  return std::make_unique<ModelSearcher>(searched, seed);
}

} // namespace kopt
