// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/RepairConditions.h"

#include "driver/judge/derive/DeriveLimits.h"
#include "driver/judge/derive/ProgramLaunches.h"
#include "driver/source/Expression.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <regex>
#include <set>

namespace kopt {
namespace {

constexpr std::int64_t kLargestLiteral = 1 << 20;
constexpr std::size_t kMostProperties = 4;

using Launches = std::vector<Counterexample>;

/// A property, and its requirement as an expression over a launch's integers and alignments.
struct Told {
  LaunchProperty property;
  Expression requirement;
  bool isGuess = false; ///< its number is a power of two that nothing suggests

  bool holds(const Counterexample &launch) const {
    Bindings values = launch.integers;
    values.insert(launch.alignments.begin(), launch.alignments.end());
    const auto value = requirement.evaluate(values);
    return value && *value != 0;
  }
};

bool isToldByAny(const std::vector<Told> &properties, const Counterexample &wrong) {
  return std::ranges::any_of(properties, [&](const Told &one) { return !one.holds(wrong); });
}

/// Numbers that a property may have.
struct Numbers {
  std::vector<std::int64_t> ofText;   ///< literals of the candidate, in order
  std::vector<std::int64_t> divisors; ///< widths of its vector types, what it divides by
  std::vector<std::int64_t> powers;   ///< of two
};

Numbers numbersOf(const std::string &text) {
  static const std::regex kNumber(R"(([%/]\s*)?\b(?:\w*[a-z]([248])|(\d+))\b)");
  std::set<std::int64_t> literals, divisors;
  for (std::sregex_iterator at(text.begin(), text.end(), kNumber), end; at != end; ++at) {
    const bool isWidth = (*at)[2].matched;
    const std::int64_t number = std::atoll((*at)[isWidth ? 2 : 3].str().c_str());
    if (number < 2 || number > kLargestLiteral)
      continue;
    if (isWidth || (*at)[1].matched)
      divisors.insert(number);
    if (!isWidth)
      literals.insert(number);
  }
  Numbers numbers{{literals.begin(), literals.end()}, {divisors.begin(), divisors.end()}, {}};
  // First those of vectors, warps and blocks: each try costs a trial.
  numbers.powers = {4, 32, 256, 1024, 2, 8, 16, 64, 128, 512};
  return numbers;
}

/// The properties that all own launches have and one wrong launch lacks, the likeliest first.
class Telling {
public:
  Telling(const Launches &own, const Counterexample &wrong, const Numbers &numbers)
      : own_(own), wrong_(wrong), numbers_(numbers) {}

  std::vector<Told> all() {
    for (const auto &[name, bytes] : wrong_.alignments)
      addIf({fmt::format("reinterpret_cast<unsigned long long>({}) % {} == 0", name, kWidestAccess),
             {name},
             fmt::format("{} % {} == 0", name, kWidestAccess),
             true},
            false);
    std::vector<std::string> names;
    for (const auto &[name, value] : wrong_.integers)
      if (isOfItsOwn(name, value))
        names.push_back(name);
    for (const std::string &name : names)
      addMultiples(name, numbers_.divisors, false);
    for (const std::string &name : names)
      addMultiples(name, numbers_.powers, true);
    for (const std::string &name : names)
      addBounds(name);
    for (const auto &[name, value] : wrong_.integers)
      for (const auto &[other, its] : wrong_.integers) {
        if (name < other && value != its)
          add(fmt::format("{} == {}", name, other), {name, other});
        add(fmt::format("{} <= {}", name, other), {name, other});
        for (const std::int64_t number : numbers_.divisors) // of one part of `name`, as of a head
          if (name != other)
            add(fmt::format("{1} > 0 && {0} % ({2} * {1}) == 0", name, other, number),
                {name, other});
      }
    return std::move(found_);
  }

private:
  /// True if no own launch has the wrong launch's value.
  bool isOfItsOwn(const std::string &name, std::int64_t value) const {
    return std::ranges::all_of(own_, [&](const Counterexample &launch) {
      const auto known = launch.integers.find(name);
      return known != launch.integers.end() && known->second != value;
    });
  }
  void add(const std::string &text, std::vector<std::string> names, bool isGuess = false) {
    addIf({text, std::move(names), text}, isGuess);
  }
  void addIf(LaunchProperty property, bool isGuess) {
    const auto requirement = Expression::parse(property.requirement);
    if (!requirement)
      return;
    Told told{std::move(property), *requirement, isGuess};
    const auto holds = [&](const Counterexample &launch) { return told.holds(launch); };
    if (!holds(wrong_) && std::ranges::all_of(own_, holds))
      found_.push_back(std::move(told));
  }
  void addMultiples(const std::string &name, const std::vector<std::int64_t> &numbers,
                    bool isGuess) {
    for (const std::int64_t number : numbers)
      add(fmt::format("{} % {} == 0", name, number), {name}, isGuess);
  }
  void addBounds(const std::string &name) {
    add(fmt::format("{} > 0", name), {name});
    for (const std::int64_t number : numbers_.ofText)
      for (const char *comparison : {">=", "<="})
        add(fmt::format("{} {} {}", name, comparison, number), {name});
  }

  const Launches &own_;
  const Counterexample &wrong_;
  const Numbers &numbers_;
  std::vector<Told> found_;
};

} // namespace

std::optional<std::vector<LaunchProperty>>
propertiesWithout(const std::vector<Counterexample> &wrong, const std::vector<Counterexample> &own,
                  const std::vector<Counterexample> &right, const std::string &text) {
  const Numbers numbers = numbersOf(text);
  std::vector<Told> all;
  for (const Counterexample &launch : wrong) {
    if (isToldByAny(all, launch))
      continue;
    std::vector<Told> telling = Telling(own, launch, numbers).all();
    std::ranges::stable_sort(telling, {}, [&](const Told &one) {
      return one.property.isOfPointer
                 ? 0
                 : std::ranges::count_if(
                       right, [&](const Counterexample &launch) { return !one.holds(launch); });
    });
    if (telling.empty())
      return std::nullopt;
    // One that tells all others is likelier than the first; of pointers each has its own.
    const auto tellsAll = [&](const Told &one) {
      return !one.isGuess && std::ranges::all_of(wrong, [&](const Counterexample &other) {
        return !one.holds(other) || isToldByAny(all, other);
      });
    };
    const auto best = std::ranges::find_if(telling, tellsAll);
    const Told &first = best == telling.end() ? telling.front() : *best;
    std::ranges::copy_if(telling, std::back_inserter(all), [&](const Told &one) {
      return &one == &first || (first.property.isOfPointer && one.property.isOfPointer);
    });
  }
  // One that came first may follow from a later one: `n % 2 == 0` from `n % 4 == 0`.
  for (std::size_t i = 0; i < all.size();) {
    std::vector<Told> others = all;
    others.erase(others.begin() + std::ptrdiff_t(i));
    const bool isNeeded = all[i].property.isOfPointer ||
                          !std::ranges::all_of(wrong, [&](const Counterexample &launch) {
                            return isToldByAny(others, launch);
                          });
    if (isNeeded)
      ++i;
    else
      all = std::move(others);
  }
  if (all.empty() || all.size() > kMostProperties)
    return std::nullopt;
  std::vector<LaunchProperty> properties;
  for (Told &one : all)
    properties.push_back(std::move(one.property));
  return properties;
}

} // namespace kopt
