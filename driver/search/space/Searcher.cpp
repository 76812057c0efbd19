// SPDX-License-Identifier: Apache-2.0
#include "driver/search/space/Searcher.h"

#include <algorithm>

namespace kopt {
namespace {

constexpr int kDraws = 200;
constexpr std::uint64_t kFew = 32; ///< points of a space that is tried in its order
/// Trials without anything faster, after which the model is not alone. Less costs more than it
/// gains early, and without the others some spaces stay unsolved. (Chosen on spaces of other GPUs
/// than those that tests/benchmarks/README.md compares on.)
constexpr std::size_t kPatience = 30;
constexpr std::size_t kParents = 20;          ///< points that have children
constexpr std::uint64_t kListable = 1u << 16; ///< points that are looked through one after another

/// What searchers that draw have in common.
class DrawingSearcher : public Searcher {
public:
  DrawingSearcher(const Searched &searched, std::uint64_t seed)
      : searched_(searched), random_(seed) {}

protected:
  std::size_t below(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }

  const Searched &searched_;
  std::mt19937_64 random_;
};

class RandomSearcher final : public DrawingSearcher {
public:
  using DrawingSearcher::DrawingSearcher;
  std::optional<Point> ask() override { return drawUnknown(searched_, random_); }
};

class LocalSearcher final : public DrawingSearcher {
public:
  using DrawingSearcher::DrawingSearcher;

  std::optional<Point> ask() override {
    if (searched_.ranked().size() >= kFirstPoints)
      for (const std::size_t trial : searched_.ranked()) {
        std::vector<Point> near =
            searched_.space().neighbours(searched_.trials()[trial].point, Space::Near::AnyValue);
        std::erase_if(near, [&](const Point &point) { return searched_.isKnown(point); });
        if (!near.empty())
          return near[below(near.size())];
      }
    return drawUnknown(searched_, random_);
  }
};

class GeneticSearcher final : public DrawingSearcher {
public:
  using DrawingSearcher::DrawingSearcher;

  std::optional<Point> ask() override {
    if (searched_.ranked().size() >= kFirstPoints)
      for (int draw = 0; draw < kDraws; ++draw)
        if (Point point = child(); searched_.space().contains(point) && !searched_.isKnown(point))
          return point;
    return drawUnknown(searched_, random_);
  }

private:
  /// The faster of two of the best.
  const Point &parent() {
    const std::size_t count = std::min(kParents, searched_.ranked().size());
    const std::size_t one = below(count), other = below(count);
    return searched_.trials()[searched_.ranked()[std::min(one, other)]].point;
  }

  Point child() {
    const Point &one = parent(), &other = parent();
    Point point = one;
    for (std::size_t p = 0; p < point.size(); ++p) {
      if (below(2) == 0)
        point[p] = other[p];
      if (below(point.size()) == 0) // about one value of a child
        point[p] = std::uint16_t(below(searched_.space().parameters()[p].values.size()));
    }
    return point;
  }
};

class DefaultSearcher final : public Searcher {
public:
  DefaultSearcher(const Searched &searched, std::uint64_t seed) : searched_(searched) {
    for (const auto make : {makeModelSearcher, makeLocalSearcher, makeGeneticSearcher})
      searchers_.push_back(make(searched, seed++));
  }

  std::optional<Point> ask() override {
    if (searched_.space().size() <= kFew)
      return unknownFrom(searched_, 0);
    // By what is known alone: a searcher is made anew for each ask of a search.
    const std::size_t since = searched_.sinceBest();
    const std::size_t turn = (since + searched_.pending().size()) % searchers_.size();
    return searchers_[since < kPatience ? 0 : turn]->ask();
  }

private:
  const Searched &searched_;
  std::vector<std::unique_ptr<Searcher>> searchers_; ///< the model first
};

template <class Any> std::unique_ptr<Searcher> make(const Searched &searched, std::uint64_t seed) {
  return std::make_unique<Any>(searched, seed);
}

} // namespace

void Searched::told(const Point &point, Outcome outcome) {
  known_.insert(point);
  std::erase(pending_, point);
  trials_.push_back({point, outcome});
  if (outcome)
    ranked_.insert(
        std::ranges::upper_bound(ranked_, *outcome, {},
                                 [&](std::size_t trial) { return *trials_[trial].outcome; }),
        trials_.size() - 1);
}

std::optional<Point> drawUnknown(const Searched &searched, std::mt19937_64 &random) {
  if (searched.isExhausted())
    return std::nullopt;
  for (int draw = 0; draw < kDraws; ++draw)
    if (Point point = searched.space().draw(random); !searched.isKnown(point))
      return point;
  if (searched.space().size() > kListable)
    return std::nullopt;
  return unknownFrom(searched, std::uniform_int_distribution<std::uint64_t>(
                                   0, searched.space().size() - 1)(random));
}

std::optional<Point> unknownFrom(const Searched &searched, std::uint64_t first) {
  const std::uint64_t size = searched.space().size();
  for (std::uint64_t i = 0; i < size; ++i)
    if (Point point = searched.space().at((first + i) % size); !searched.isKnown(point))
      return point;
  return std::nullopt;
}

std::unique_ptr<Searcher> makeRandomSearcher(const Searched &searched, std::uint64_t seed) {
  return make<RandomSearcher>(searched, seed);
}
std::unique_ptr<Searcher> makeLocalSearcher(const Searched &searched, std::uint64_t seed) {
  return make<LocalSearcher>(searched, seed);
}
std::unique_ptr<Searcher> makeGeneticSearcher(const Searched &searched, std::uint64_t seed) {
  return make<GeneticSearcher>(searched, seed);
}
std::unique_ptr<Searcher> makeSearcher(const Searched &searched, std::uint64_t seed) {
  return make<DefaultSearcher>(searched, seed);
}

std::span<const NamedSearcher> searchers() {
  static constexpr NamedSearcher kAll[] = {{"default", makeSearcher},
                                           {"model", makeModelSearcher},
                                           {"genetic", makeGeneticSearcher},
                                           {"local", makeLocalSearcher},
                                           {"random", makeRandomSearcher}};
  return kAll;
}

} // namespace kopt
