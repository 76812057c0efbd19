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
  bool isExhausted() const { return known_.size() >= space_.size(); }

  void asked(const Point &point) { known_.insert(point); }
  void told(const Point &point, Outcome outcome);

private:
  const Space &space_;
  std::vector<Trial> trials_;
  std::vector<std::size_t> ranked_;
  std::set<Point> known_;
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

std::unique_ptr<Searcher> makeRandomSearcher(const Searched &searched, std::uint64_t seed);
/// Asks for what is likely to be fast, as far as a model of the trials knows (the mean less a
/// multiple of the deviation of extremely randomised trees, which is drawn, and grows while nothing
/// faster is found), among random points and the neighbours of the best. Where there are few points
/// it asks for them in their order.
std::unique_ptr<Searcher> makeModelSearcher(const Searched &searched, std::uint64_t seed);

} // namespace kopt
