// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/Kind.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

namespace kopt {
namespace {

using Features = std::map<std::string, double>;

} // namespace

double likeness(const Features &one, const Features &other) {
  double apart = 0, weights = 0;
  const auto add = [&](double distance, double weight) {
    apart += weight * std::min(distance, 1.0);
    weights += weight;
  };
  for (const char *mix : {"sass__inst_", "code: ", " parameters"}) {
    std::map<std::string, std::array<double, 2>> values;
    std::array<double, 2> sums{};
    for (const auto &[features, i] : {std::pair(&one, 0U), {&other, 1U}})
      for (const auto &[name, value] : *features)
        if (value > 0 && name.find(mix) != name.npos)
          sums[i] += values[name][i] = value;
    double shares = 0, ofOne = 0;
    for (const auto &[name, each] : values) {
      shares += std::abs(each[0] / sums[0] - each[1] / sums[1]) / 2;
      ofOne += each[0] == 0 || each[1] == 0;
    }
    if (sums[0] > 0 && sums[1] > 0)
      add((shares + ofOne / double(values.size())) / 2, 1);
  }
  for (const auto &[name, value] : one)
    if (const auto same = other.find(name); same == other.end())
      continue;
    else if (name.find("sectors_per_request") != name.npos)
      add(std::abs(std::log2(std::max(value, 1.0) / std::max(same->second, 1.0))) / 5, 0.5);
    else if (name.find("throughput") != name.npos)
      add(std::abs(value - same->second) / 100, 0.25);
  return weights > 1 ? 1 - apart / weights : 0; // the parameters alone tell nothing
}

std::string variantOf(std::string title, const std::string &parentTitle) {
  if (const std::string kept = parentTitle.empty() ? "" : parentTitle + " + ";
      title.starts_with(kept))
    title.erase(0, kept.size());
  else
    return ""; // a part of the parent, or in other words
  static const std::regex kNames(R"((, line|:| for [A-Za-z_]).*)"),
      kKept(R"(^[a-z]+(?= )|along [xyz]\b|\b\d+(x\d+)*\b)");
  title = std::regex_replace(title, kNames, "");
  std::vector<std::string> kept;
  for (std::sregex_iterator it(title.begin(), title.end(), kKept), end; it != end; ++it)
    kept.push_back(it->str());
  return join(kept, " ");
}

} // namespace kopt
