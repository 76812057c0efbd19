// SPDX-License-Identifier: Apache-2.0
// Searchers of a space ask for points; what became of them is told to Searched, which they share.
// Each decides from what was told and from its seed alone, so the same answers give the same
// questions.
#pragma once

#include "driver/search/space/Space.h"

#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace kopt {

/// What became of a point: the logarithm of its time, or nothing where it failed (it does not
/// build, needs too much, or is wrong).
using Outcome = std::optional<double>;

/// What is known of a space. The searchers of one search share it.
class Searched {
public:
  struct Trial {
    Point point;
    Outcome outcome;
  };

  explicit Searched(const Space &space) : space_(space) {}

  const Space &space() const { return space_; }
  const std::vector<Trial> &trials() const { return trials_; } ///< oldest first
  /// Those that did not fail, the fastest first: indices of trials().
  const std::vector<std::size_t> &ranked() const { return ranked_; }
  const Trial *best() const { return ranked_.empty() ? nullptr : &trials_[ranked_.front()]; }
  /// True for what was told, and for what was asked and not yet told.
  bool isKnown(const Point &point) const { return known_.contains(point); }
  std::uint64_t known() const { return known_.size(); } ///< points that are
  bool isExhausted() const { return known_.size() >= space_.size(); }
  /// What was asked and not yet told, in the order of the asks.
  const std::vector<Point> &pending() const { return pending_; }
  /// What the same parameters were worth elsewhere: on another GPU, or with another size. It says
  /// where to look first, not what is here.
  const std::vector<Trial> &elsewhere() const { return elsewhere_; }
  void heard(std::vector<Trial> elsewhere) { elsewhere_ = std::move(elsewhere); }
  /// Trials after the best one.
  std::size_t sinceBest() const {
    return ranked_.empty() ? trials_.size() : trials_.size() - 1 - ranked_.front();
  }

  void asked(const Point &point) {
    if (known_.insert(point).second)
      pending_.push_back(point);
  }
  void told(const Point &point, Outcome outcome);

private:
  const Space &space_;
  std::vector<Trial> trials_, elsewhere_;
  std::vector<std::size_t> ranked_;
  std::set<Point> known_;
  std::vector<Point> pending_;
};

class Searcher {
public:
  virtual ~Searcher() = default;
  /// A point that nobody asked for before; nothing if it has none now. Whoever takes it says so
  /// with Searched::asked().
  virtual std::optional<Point> ask() = 0;
};

/// A point that is not known, each with about the same probability; nothing if there is none.
std::optional<Point> drawUnknown(const Searched &searched, std::mt19937_64 &random);
/// The first point that is not known, from that index on and around; nothing if there is none.
std::optional<Point> unknownFrom(const Searched &searched, std::uint64_t first);

/// Right points that are drawn before a searcher decides by what it knows.
constexpr std::size_t kFirstPoints = 8;

std::unique_ptr<Searcher> makeRandomSearcher(const Searched &searched, std::uint64_t seed);
/// Asks for a neighbour of the best point that has one left: climbs a hill, then widens its top.
std::unique_ptr<Searcher> makeLocalSearcher(const Searched &searched, std::uint64_t seed);
/// Asks for children of two good points: each value is that of one of them, or another now and
/// then.
std::unique_ptr<Searcher> makeGeneticSearcher(const Searched &searched, std::uint64_t seed);
/// Asks for the point from which a Gaussian process of the trials expects most, among random points
/// and the neighbours of the best.
std::unique_ptr<Searcher> makeModelSearcher(const Searched &searched, std::uint64_t seed);
/// The model, and where it finds nothing faster for a while by turns with the local and the genetic
/// searcher. Where there are few points it asks for them in their order.
std::unique_ptr<Searcher> makeSearcher(const Searched &searched, std::uint64_t seed);

struct NamedSearcher {
  const char *name;
  std::unique_ptr<Searcher> (*make)(const Searched &searched, std::uint64_t seed);
};
/// All of the above, the default first.
std::span<const NamedSearcher> searchers();

} // namespace kopt
