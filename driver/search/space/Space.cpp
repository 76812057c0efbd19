// SPDX-License-Identifier: Apache-2.0
#include "driver/search/space/Space.h"

#include "driver/source/ExpressionTree.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace kopt {
namespace {

constexpr std::size_t kMostNames = 64; ///< of a requirement

/// The product or the sum; the greatest number where it is greater.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max() : result;
}
std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max() : result;
}

struct Requirement {
  Expression expression;
  std::vector<int> slots; ///< for each of its names: the parameter, or -1 - index of a constant
};

/// What is left of the requirements when some parameters are bound: the values of their parts.
using Rest = std::vector<std::int64_t>;

struct RestHash {
  std::size_t operator()(const Rest &rest) const {
    std::size_t hash = 0x9e3779b97f4a7c15ull;
    for (const std::int64_t each : rest) {
      hash = (hash ^ std::size_t(each)) * 0x9e3779b97f4a7c15ull;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

/// True if what the part is worth in a greater expression follows from its value: not where it may
/// be an integer or a real number with the same value.
bool isOneKind(const expression::Node &node) {
  return node.code != expression::Code::Conditional && node.code != expression::Code::Minimum &&
         node.code != expression::Code::Maximum && std::ranges::all_of(node.parts, isOneKind);
}

Status checkParameters(const std::vector<SpaceParameter> &parameters) {
  for (const SpaceParameter &parameter : parameters)
    if (parameter.values.empty() ||
        parameter.values.size() > std::numeric_limits<std::uint16_t>::max())
      return makeError(ErrorCode::Usage,
                       fmt::format("'{}' has {} values", parameter.name, parameter.values.size()),
                       "a parameter has 1 to 65535 values");
  return {};
}

} // namespace

/// Reads requirements, and builds the levels of each group.
class Space::Builder {
public:
  explicit Builder(Space &space) : space_(space) {
    group_.resize(space.parameters_.size());
    std::iota(group_.begin(), group_.end(), 0);
    point_.resize(group_.size());
  }

  /// False if it names none of the constants: it is the same with others.
  Result<bool> require(const std::string &text, const Bindings &constants) {
    KOPT_TRY(Expression expression, Expression::parse(text));
    Requirement requirement{std::move(expression), {}};
    if (requirement.expression.names().size() > kMostNames)
      return makeError(ErrorCode::Usage, "the requirement '" + text + "' has too many names");
    int first = -1;
    bool needsConstants = false;
    for (const std::string &name : requirement.expression.names()) {
      const auto own = std::ranges::find(space_.parameters_, name, &SpaceParameter::name);
      if (own != space_.parameters_.end()) {
        const int parameter = int(own - space_.parameters_.begin());
        requirement.slots.push_back(parameter);
        first = first < 0 ? parameter : first;
        group_[std::size_t(groupOf(parameter))] = groupOf(first);
      } else if (const auto constant = constants.find(name); constant != constants.end()) {
        requirement.slots.push_back(-1 - int(values_.size()));
        values_.push_back(constant->second);
        needsConstants = true;
      } else {
        return makeError(
            ErrorCode::Usage,
            fmt::format("the requirement '{}' names '{}', which is neither a parameter nor known",
                        text, name));
      }
    }
    if (first >= 0)
      requirements_.push_back(std::move(requirement));
    else if (!holds(requirement)) // whatever the parameters
      isEmpty_ = true;
    return needsConstants;
  }

  Status build() {
    if (isEmpty_)
      return {};
    space_.groupOf_.resize(group_.size());
    for (int representative = 0; representative < int(group_.size()); ++representative) {
      Group made;
      for (int parameter = 0; parameter < int(group_.size()); ++parameter)
        if (groupOf(parameter) == representative) {
          made.order.push_back(parameter);
          space_.groupOf_[std::size_t(parameter)] = space_.groups_.size();
        }
      if (!made.order.empty())
        space_.groups_.push_back(std::move(made));
    }
    space_.size_ = 1;
    for (Group &group : space_.groups_) {
      KOPT_CHECK(build(group));
      space_.size_ = product(space_.size_, group.size());
    }
    return {};
  }

private:
  int groupOf(int parameter) const {
    while (group_[std::size_t(parameter)] != parameter)
      parameter = group_[std::size_t(parameter)];
    return parameter;
  }

  std::int64_t valueOf(int slot) const {
    return slot < 0 ? values_[std::size_t(-1 - slot)]
                    : space_.parameters_[std::size_t(slot)].values[point_[std::size_t(slot)]];
  }

  Result<std::int64_t> valueOf(const Requirement &part) const {
    std::array<std::int64_t, kMostNames> values;
    for (std::size_t i = 0; i < part.slots.size(); ++i)
      values[i] = valueOf(part.slots[i]);
    return part.expression.evaluate(
        std::span<const std::int64_t>(values.data(), part.slots.size()));
  }

  bool holds(const Requirement &requirement) const {
    const auto value = valueOf(requirement);
    return value && *value != 0;
  }

  /// Adds the greatest parts of the requirement that name bound parameters alone: those with a
  /// place before `level`. False if all of the node is such a part, which its owner adds.
  bool addBoundParts(const Requirement &requirement, const expression::Node &node,
                     const std::vector<std::size_t> &place, std::size_t level) {
    if (node.code == expression::Code::Name) {
      const int slot = requirement.slots[node.index];
      return slot >= 0 && place[std::size_t(slot)] >= level;
    }
    std::vector<const expression::Node *> bound;
    for (const expression::Node &part : node.parts)
      if (!addBoundParts(requirement, part, place, level))
        bound.push_back(&part);
    if (bound.size() == node.parts.size() && isOneKind(node))
      return false;
    for (const expression::Node *part : bound)
      addPart(requirement, *part, level);
    return true;
  }

  void addPart(const Requirement &requirement, const expression::Node &node, std::size_t level) {
    auto expression = Expression::parse(expression::plain(node));
    if (!expression || expression->names().empty()) // a number
      return;
    Requirement part{std::move(*expression), {}};
    for (const std::string &name : part.expression.names())
      part.slots.push_back(
          requirement.slots[std::size_t(std::ranges::find(requirement.expression.names(), name) -
                                        requirement.expression.names().begin())]);
    const bool isKnown = std::ranges::any_of(rest_[level], [&](const Requirement &other) {
      return other.slots == part.slots && expression::plain(other.expression.tree()) ==
                                              expression::plain(part.expression.tree());
    });
    if (!isKnown && std::ranges::any_of(part.slots, [](int slot) { return slot >= 0; }))
      rest_[level].push_back(std::move(part));
  }

  /// What later requirements depend on at that level. Of a part without an integer value, its
  /// parameters.
  Rest restAt(std::size_t level) const {
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
    Rest rest;
    for (const Requirement &part : rest_[level]) {
      rest.push_back(valueOf(part).value_or(kNone));
      if (rest.back() == kNone)
        for (const int slot : part.slots)
          rest.push_back(valueOf(slot));
    }
    return rest;
  }

  Status build(Group &group) {
    const std::size_t depth = group.order.size();
    std::vector<std::size_t> place(group_.size(), depth);
    for (std::size_t i = 0; i < depth; ++i)
      place[std::size_t(group.order[i])] = i;
    due_.assign(depth, {});
    rest_.clear();
    rest_.resize(depth + 1);
    known_.clear();
    known_.resize(depth + 1);
    for (const Requirement &requirement : requirements_) {
      std::size_t latest = 0;
      for (const int slot : requirement.slots)
        if (slot >= 0)
          latest = std::max(latest, place[std::size_t(slot)]);
      if (latest == depth)
        continue; // of another group
      due_[latest].push_back(&requirement);
      for (std::size_t level = 1; level <= latest; ++level)
        addBoundParts(requirement, requirement.expression.tree(), place, level);
    }
    group.levels.resize(depth + 1);
    group.edges.resize(depth);
    return node(group, 0).map([](std::uint32_t) {});
  }

  /// The node of that level for the values that are bound.
  Result<std::uint32_t> node(Group &group, std::size_t level) {
    Rest key = restAt(level);
    if (const auto found = known_[level].find(key); found != known_[level].end())
      return found->second;
    Node made;
    if (level == group.order.size()) {
      made.points = 1;
    } else {
      const auto parameter = std::size_t(group.order[level]);
      std::vector<Edge> edges;
      for (std::size_t v = 0; v < space_.parameters_[parameter].values.size(); ++v) {
        point_[parameter] = std::uint16_t(v);
        if (!std::ranges::all_of(due_[level],
                                 [&](const Requirement *each) { return holds(*each); }))
          continue;
        KOPT_TRY(const std::uint32_t next, node(group, level + 1));
        const std::uint64_t points = group.levels[level + 1][next].points;
        made.points = sum(made.points, points);
        if (points > 0)
          edges.push_back({std::uint16_t(v), next});
      }
      made.first = std::uint32_t(group.edges[level].size());
      made.count = std::uint32_t(edges.size());
      group.edges[level].insert(group.edges[level].end(), edges.begin(), edges.end());
      nodes_ += edges.size();
    }
    if (++nodes_ > kMostNodes)
      return makeError(ErrorCode::Usage, "the requirements tie too many parameters to each other",
                       "take parameters, values or requirements away");
    group.levels[level].push_back(made);
    const auto index = std::uint32_t(group.levels[level].size() - 1);
    known_[level].emplace(std::move(key), index);
    return index;
  }

  Space &space_;
  std::vector<std::int64_t> values_; ///< of the constants that are used
  std::vector<Requirement> requirements_;
  std::vector<int> group_; ///< of each parameter: another one of its group, or itself
  bool isEmpty_ = false;
  Point point_; ///< as far as it is bound
  // Of the group that is built, by level:
  std::vector<std::vector<const Requirement *>> due_; ///< whose last name is bound there
  std::vector<std::vector<Requirement>> rest_;        ///< parts that later ones depend on
  std::vector<std::unordered_map<Rest, std::uint32_t, RestHash>> known_;
  std::size_t nodes_ = 0;
};

Result<Space> Space::make(std::vector<SpaceParameter> parameters,
                          const std::vector<std::string> &requirements,
                          const std::vector<Bindings> &constants) {
  KOPT_CHECK(checkParameters(parameters));
  Space space;
  space.parameters_ = std::move(parameters);
  Builder builder(space);
  for (const std::string &text : requirements)
    for (std::size_t set = 0; set < std::max<std::size_t>(constants.size(), 1); ++set) {
      KOPT_TRY(const bool needsConstants,
               builder.require(text, constants.empty() ? Bindings() : constants[set]));
      if (!needsConstants)
        break;
    }
  KOPT_CHECK(builder.build());
  return space;
}

Result<Space> Space::of(std::vector<SpaceParameter> parameters, std::vector<Point> points) {
  KOPT_CHECK(checkParameters(parameters));
  std::ranges::sort(points);
  const std::size_t depth = parameters.size();
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool isPoint = points[i].size() == depth && (i == 0 || points[i] != points[i - 1]);
    for (std::size_t p = 0; isPoint && p < depth; ++p)
      isPoint = points[i][p] < parameters[p].values.size();
    if (!isPoint)
      return makeError(ErrorCode::Usage,
                       "a recorded point is there twice, or is none of these parameters");
  }
  Space space;
  space.parameters_ = std::move(parameters);
  space.groupOf_.resize(depth);
  space.size_ = points.size();
  if (points.empty())
    return space;
  Group &group = space.groups_.emplace_back();
  group.order.resize(depth);
  std::iota(group.order.begin(), group.order.end(), 0);
  group.levels.resize(depth + 1);
  group.edges.resize(depth);
  const std::function<std::uint32_t(std::size_t, std::size_t, std::size_t)> add =
      [&](std::size_t level, std::size_t begin, std::size_t end) {
        Node made{end - begin};
        std::vector<Edge> edges;
        for (std::size_t at = begin; level < depth && at < end;) {
          const std::uint16_t value = points[at][level];
          std::size_t next = at;
          while (next < end && points[next][level] == value)
            ++next;
          edges.push_back({value, add(level + 1, at, next)});
          at = next;
        }
        if (level < depth) {
          made.first = std::uint32_t(group.edges[level].size());
          made.count = std::uint32_t(edges.size());
          group.edges[level].insert(group.edges[level].end(), edges.begin(), edges.end());
        }
        group.levels[level].push_back(made);
        return std::uint32_t(group.levels[level].size() - 1);
      };
  add(0, 0, points.size());
  return space;
}

bool Space::contains(const Group &group, std::span<const std::uint16_t> point) {
  std::uint32_t node = 0;
  for (std::size_t level = 0; level < group.order.size(); ++level) {
    const Node &here = group.levels[level][node];
    const auto edges = std::span(group.edges[level]).subspan(here.first, here.count);
    const std::uint16_t value = point[std::size_t(group.order[level])];
    const auto edge = std::ranges::lower_bound(edges, value, {}, &Edge::value);
    if (edge == edges.end() || edge->value != value)
      return false;
    node = edge->node;
  }
  return true;
}

bool Space::contains(std::span<const std::uint16_t> point) const {
  return size_ > 0 && point.size() == parameters_.size() &&
         std::ranges::all_of(groups_, [&](const Group &each) { return contains(each, point); });
}

Point Space::at(std::uint64_t index) const {
  Point point(parameters_.size());
  for (const Group &group : groups_) {
    place(group, index % group.size(), point);
    index /= group.size();
  }
  return point;
}

void Space::place(const Group &group, std::uint64_t index, Point &point) {
  std::uint32_t node = 0;
  for (std::size_t level = 0; level < group.order.size(); ++level) {
    const std::vector<Node> &next = group.levels[level + 1];
    const Edge *edge = &group.edges[level][group.levels[level][node].first];
    for (; index >= next[edge->node].points; ++edge)
      index -= next[edge->node].points;
    point[std::size_t(group.order[level])] = edge->value;
    node = edge->node;
  }
}

std::vector<Point> Space::neighbours(const Point &point, Near near) const {
  std::vector<Point> found;
  Point other = point;
  for (std::size_t p = 0; p < point.size(); ++p) {
    const auto add = [&](int value) {
      other[p] = std::uint16_t(value);
      const bool isThere = contains(groups_[groupOf_[p]], other);
      if (isThere)
        found.push_back(other);
      return isThere;
    };
    const int own = point[p], count = int(parameters_[p].values.size());
    if (near == Near::AnyValue) {
      for (int value = 0; value < count; ++value)
        if (value != own)
          add(value);
    } else { // the nearest on each side
      for (int value = own - 1; value >= 0 && !add(value);)
        --value;
      for (int value = own + 1; value < count && !add(value);)
        ++value;
    }
    other[p] = point[p];
  }
  return found;
}

std::vector<std::int64_t> Space::valuesOf(const Point &point) const {
  std::vector<std::int64_t> values(point.size());
  for (std::size_t i = 0; i < point.size(); ++i)
    values[i] = parameters_[i].values[point[i]];
  return values;
}

} // namespace kopt
