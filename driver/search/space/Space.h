// SPDX-License-Identifier: Apache-2.0
// The points of a search over numbers: every way to give each parameter one of its values such that
// all requirements hold. Points are counted, drawn and told from others without being listed, so a
// space may have billions of them.
#pragma once

#include "driver/source/Expression.h"

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace kopt {

struct SpaceParameter {
  std::string name;
  std::vector<std::int64_t> values; ///< each once, in the order of its owner; at least one
};

/// For each parameter the index of its value.
using Point = std::vector<std::uint16_t>;

class Space {
public:
  /// The requirements are expressions over the parameters and `constants`, and hold where they are
  /// not zero with each of these sets of constants (the launches of a workload); one that cannot be
  /// evaluated at a point (a division by zero) does not hold there.
  /// Fails with Usage if one cannot be parsed or names something else, and if the space would need
  /// more than kMostNodes to be counted.
  static Result<Space> make(std::vector<SpaceParameter> parameters,
                            const std::vector<std::string> &requirements,
                            const std::vector<Bindings> &constants = {});

  static constexpr std::size_t kMostNodes = 20'000'000;

  /// These points alone, in any order: a space that somebody recorded. Fails with Usage if one is
  /// there twice, or is no point of these parameters.
  static Result<Space> of(std::vector<SpaceParameter> parameters, std::vector<Point> points);

  const std::vector<SpaceParameter> &parameters() const { return parameters_; }
  /// How many points there are; the greatest number of 64 bits where there are more.
  std::uint64_t size() const { return size_; }
  bool contains(std::span<const std::uint16_t> point) const;
  /// The point of that index, from 0 to size() - 1. Neighbouring indices are similar points.
  Point at(std::uint64_t index) const;
  /// Each point with the same probability. The space is not empty.
  template <class Random> Point draw(Random &random) const {
    Point point(parameters_.size());
    for (const Group &group : groups_)
      place(group, std::uniform_int_distribution<std::uint64_t>(0, group.size() - 1)(random),
            point);
    return point;
  }

  /// Points with another value of one parameter, by parameter and then by value: any, or the valid
  /// one that is next to the present one on each side.
  enum class Near { AnyValue, NextValue };
  std::vector<Point> neighbours(const Point &point, Near near) const;

  std::vector<std::int64_t> valuesOf(const Point &point) const;

private:
  /// Values of one parameter after those of the parameters before it, as far as later requirements
  /// depend on them: branches that may go on in the same way are one node.
  struct Node {
    std::uint64_t points = 0; ///< below it
    std::uint32_t first = 0;  ///< its edges, by value: from `edges[first]`
    std::uint32_t count = 0;
  };
  struct Edge {
    std::uint16_t value = 0;
    std::uint32_t node = 0; ///< of the next level
  };
  /// Parameters that share requirements, with each other and with no other parameter.
  struct Group {
    std::vector<int> order;                ///< its parameters, as they are bound
    std::vector<std::vector<Node>> levels; ///< the first has one node
    std::vector<std::vector<Edge>> edges;  ///< by level
    std::uint64_t size() const { return levels.front().front().points; }
  };
  class Builder;

  static bool contains(const Group &group, std::span<const std::uint16_t> point);
  static void place(const Group &group, std::uint64_t index, Point &point);

  std::vector<SpaceParameter> parameters_;
  std::vector<Group> groups_;
  std::vector<std::size_t> groupOf_; ///< of each parameter
  std::uint64_t size_ = 0;
};

} // namespace kopt
