// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/Kind.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

namespace kopt {
namespace {

constexpr std::size_t kMostFirst = 3;
/// A mean log gain below this is not worth being tried before others.
constexpr double kWorthFirst = 0.05;

using Features = std::map<std::string, double>;

/// Half the distance of the shares of the features that `isOfMix`, and half that of the sets of
/// them that are there at all. Nothing if one of the two has none.
template <class IsOfMix>
std::optional<double> mixesApart(const Features &one, const Features &other, IsOfMix isOfMix) {
  double sums[2] = {};
  std::set<std::string> names;
  for (const auto &[features, sum] : {std::pair(&one, &sums[0]), {&other, &sums[1]}})
    for (const auto &[name, value] : *features)
      if (isOfMix(name) && value > 0) {
        *sum += value;
        names.insert(name);
      }
  if (sums[0] == 0 || sums[1] == 0)
    return std::nullopt;
  double apart = 0, onlyOne = 0;
  for (const std::string &name : names) {
    const auto a = one.find(name), b = other.find(name);
    const double shares[] = {a == one.end() ? 0 : a->second / sums[0],
                             b == other.end() ? 0 : b->second / sums[1]};
    apart += std::abs(shares[0] - shares[1]) / 2;
    onlyOne += (shares[0] > 0) != (shares[1] > 0);
  }
  return (apart + onlyOne / double(names.size())) / 2;
}

/// The mean of what `distance` says of the features that both have and that it knows.
template <class Distance>
std::optional<double> meanApart(const Features &one, const Features &other, Distance distance) {
  double sum = 0, count = 0;
  for (const auto &[name, value] : one)
    if (const auto same = other.find(name); same != other.end())
      if (const std::optional<double> each = distance(name, value, same->second)) {
        sum += *each;
        ++count;
      }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

} // namespace

double likeness(const Features &one, const Features &other) {
  const auto begins = [](const char *prefix) {
    return [prefix](const std::string &name) { return name.starts_with(prefix); };
  };
  const auto sectors = [](const std::string &name, double a, double b) {
    return name.ends_with(".ratio") && name.find("sectors_per_request") != name.npos
               ? std::optional(std::abs(std::log2(std::max(a, 1.0) / std::max(b, 1.0))) / 5)
               : std::nullopt;
  };
  const auto use = [](const std::string &name, double a, double b) {
    return name.find("throughput") != name.npos ? std::optional(std::abs(a - b) / 100)
                                                : std::nullopt;
  };
  double apart = 0, groups = 0;
  for (const std::optional<double> &each :
       {mixesApart(one, other, begins("sass__inst_")), mixesApart(one, other, begins("code: ")),
        mixesApart(one, other,
                   [](const std::string &name) { return name.ends_with(" parameters"); }),
        meanApart(one, other, sectors), meanApart(one, other, use)})
    if (each) {
      apart += std::min(*each, 1.0);
      ++groups;
    }
  // The parameters alone tell nothing.
  return groups > 1 ? 1 - apart / groups : 0;
}

std::string variantOf(std::string title, const std::string &parentTitle) {
  if (!parentTitle.empty() && title.starts_with(parentTitle + " + "))
    title.erase(0, parentTitle.size() + 3);
  static const std::regex kNames(R"((, line|:| for [A-Za-z_]).*)"),
      kKept(R"(^[a-z]+(?= )|along [xyz]\b|\b\d+(x\d+)*\b)");
  title = std::regex_replace(title, kNames, "");
  std::vector<std::string> kept;
  for (std::sregex_iterator it(title.begin(), title.end(), kKept), end; it != end; ++it)
    kept.push_back(it->str());
  return join(kept, " ");
}

std::vector<Recipe> worthFirst(std::vector<Recipe> recipes) {
  std::erase_if(recipes, [](const Recipe &each) { return each.rank() < kWorthFirst; });
  std::ranges::stable_sort(recipes, std::greater(), &Recipe::rank);
  recipes.resize(std::min(recipes.size(), kMostFirst));
  return recipes;
}

std::size_t placeOf(const std::vector<Recipe> &recipes, const std::string &technique,
                    const std::string &variant) {
  return std::size_t(std::ranges::find_if(recipes,
                                          [&](const Recipe &each) {
                                            return each.technique == technique &&
                                                   each.variant == variant;
                                          }) -
                     recipes.begin());
}

} // namespace kopt
