// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/RepairConditions.h"

#include "driver/judge/derive/DeriveLimits.h"
#include "driver/judge/derive/ProgramLaunches.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <regex>
#include <set>

namespace kopt {
namespace {

constexpr std::int64_t kLargestLiteral = 1 << 20;
constexpr std::size_t kMostProperties = 4;

using Launches = std::vector<Counterexample>;

/// A property, and whether a launch has it.
struct Told {
  LaunchProperty property;
  std::function<bool(const Counterexample &)> holds;
  bool isGuess = false; ///< its number is a power of two that nothing suggests
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
    addAlignments();
    for (const auto add : {&Telling::addDivisors, &Telling::addPowers, &Telling::addBounds})
      for (const auto &[name, value] : wrong_.integers)
        if (isOfItsOwn(name))
          (this->*add)(name);
    for (const auto &[name, value] : wrong_.integers)
      for (const auto &[other, its] : wrong_.integers) {
        if (name < other && value != its)
          addIf(
              [=](const Counterexample &launch) {
                return integer(launch, name) && integer(launch, name) == integer(launch, other);
              },
              {fmt::format("{} == {}", name, other), {name, other}});
        addIf(
            [=](const Counterexample &launch) {
              return integer(launch, name) && integer(launch, name) <= integer(launch, other);
            },
            {fmt::format("{} <= {}", name, other), {name, other}});
        for (const std::int64_t number : numbers_.divisors) // of one part of `name`, as of a head
          addIf(
              [=](const Counterexample &launch) {
                const std::int64_t parts = integer(launch, other).value_or(0);
                return name != other && parts > 0 &&
                       integer(launch, name).value_or(1) % (number * parts) == 0;
              },
              {fmt::format("{1} > 0 && {0} % ({2} * {1}) == 0", name, other, number),
               {name, other}});
      }
    return std::move(found_);
  }

private:
  static std::optional<std::int64_t> integer(const Counterexample &launch,
                                             const std::string &name) {
    const auto known = launch.integers.find(name);
    return known == launch.integers.end() ? std::nullopt : std::optional(known->second);
  }
  /// True if the wrong launch's value is not one that some own launch has.
  bool isOfItsOwn(const std::string &name) const {
    return std::ranges::all_of(own_, [&](const Counterexample &launch) {
      return integer(launch, name) && integer(launch, name) != integer(wrong_, name);
    });
  }
  void addIf(std::function<bool(const Counterexample &)> holds, LaunchProperty property) {
    if (!holds(wrong_) && std::ranges::all_of(own_, holds))
      found_.push_back({std::move(property), std::move(holds)});
  }

  void addAlignments() {
    for (const auto &[name, bytes] : wrong_.alignments)
      addIf(
          [=](const Counterexample &launch) {
            const auto known = launch.alignments.find(name);
            return known != launch.alignments.end() && known->second >= kWidestAccess;
          },
          {fmt::format("reinterpret_cast<unsigned long long>({}) % {} == 0", name, kWidestAccess),
           {name},
           fmt::format("{} % {} == 0", name, kWidestAccess),
           true});
  }

  void addDivisors(const std::string &name) { addMultiples(name, numbers_.divisors); }
  void addPowers(const std::string &name) {
    const std::size_t known = found_.size();
    addMultiples(name, numbers_.powers);
    for (std::size_t i = known; i < found_.size(); ++i)
      found_[i].isGuess = true;
  }
  void addMultiples(const std::string &name, const std::vector<std::int64_t> &numbers) {
    for (const std::int64_t number : numbers)
      if (integer(wrong_, name) != 0)
        addIf(
            [=](const Counterexample &launch) {
              return integer(launch, name).value_or(1) % number == 0;
            },
            {fmt::format("{} % {} == 0", name, number), {name}});
  }
  void addBounds(const std::string &name) {
    addIf([=](const Counterexample &launch) { return integer(launch, name).value_or(0) > 0; },
          {fmt::format("{} > 0", name), {name}});
    for (const std::int64_t number : numbers_.ofText) {
      addIf([=](const Counterexample &launch) { return integer(launch, name) >= number; },
            {fmt::format("{} >= {}", name, number), {name}});
      addIf([=](const Counterexample &launch) { return integer(launch, name) <= number; },
            {fmt::format("{} <= {}", name, number), {name}});
    }
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
      return one.property.isOfPointer ? 0 : std::ranges::count_if(right, std::not_fn(one.holds));
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
  for (LaunchProperty &property : properties)
    if (!property.isOfPointer)
      property.requirement = property.text;
  return properties;
}

} // namespace kopt
