// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/Contrast.h"

#include "driver/diagnose/CounterTable.h"
#include "driver/diagnose/States.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

/// Counters of one kernel differ by up to this share from run to run, percentages by this many
/// points (caches and DRAM; those of instructions do not differ).
constexpr double kNoise = 0.05, kPoints = 2;
constexpr std::size_t kMostRows = 30;

/// How far the values are apart, of the largest; 0: within noise.
double spreadOf(const ContrastRow &row) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const std::optional<double> &value : row.values)
    if (value) {
      low = std::min(low, *value);
      high = std::max(high, *value);
    }
  const double most = std::max(std::abs(low), std::abs(high));
  const bool isPercent = row.counter.find("pct") != std::string::npos;
  if (high <= low || high - low <= kNoise * most || (isPercent && high - low <= kPoints))
    return 0;
  return (high - low) / most;
}

std::string lineOf(const std::vector<std::string> &cells, const std::vector<std::size_t> &widths) {
  std::string line = fmt::format("{:<{}}", cells[0], widths[0]);
  for (std::size_t i = 1; i < cells.size(); ++i)
    line += fmt::format("  {:>{}}", cells[i], widths[i]);
  return line + "\n";
}

} // namespace

Contrast contrastOf(const std::vector<ContrastVersion> &versions) {
  Contrast contrast;
  std::set<std::string> names, binding;
  for (const ContrastVersion &version : versions) {
    contrast.versions.push_back(version.name);
    contrast.states.push_back(version.diagnosis.state);
    contrast.bounds.push_back(boundInWords(version.diagnosis));
    for (const auto &[name, value] : version.counters)
      names.insert(name);
    for (const RuleHit &hit : version.diagnosis.hits)
      for (const auto &[name, value] : hit.evidence)
        binding.insert(name);
  }
  std::vector<std::pair<double, ContrastRow>> rows;
  for (const std::string &name : names) {
    ContrastRow row{name, {}, binding.contains(name)};
    for (const ContrastVersion &version : versions) {
      const auto found = version.counters.find(name);
      const bool isKnown = found != version.counters.end() && std::isfinite(found->second);
      row.values.push_back(isKnown ? std::optional(found->second) : std::nullopt);
    }
    const double spread = spreadOf(row);
    const bool isLacking = !std::ranges::all_of(
        row.values, [](const std::optional<double> &value) { return value.has_value(); });
    const bool hasLabel = labelOfCounter(name) != name;
    if (row.binds || spread > 0 || (hasLabel && (isLacking || versions.size() == 1)))
      rows.emplace_back(spread, std::move(row));
  }
  std::ranges::stable_sort(rows, [](const auto &a, const auto &b) {
    return a.second.binds != b.second.binds ? a.second.binds : a.first > b.first;
  });
  for (auto &[spread, row] : rows)
    if (versions.size() == 1 || contrast.rows.size() < kMostRows)
      contrast.rows.push_back(std::move(row));
  return contrast;
}

std::string inText(const Contrast &contrast) {
  if (contrast.rows.empty())
    return {};
  std::vector<std::vector<std::string>> lines{{""}};
  const auto add = [&](std::string name, const std::vector<std::string> &texts) {
    lines.push_back({std::move(name)});
    for (const std::string &text : texts)
      lines.back().push_back(text.empty() ? "unknown" : text);
  };
  for (const std::string &version : contrast.versions)
    lines.front().push_back(version);
  add("state", contrast.states);
  for (const ContrastRow &row : contrast.rows) {
    std::vector<std::string> texts;
    for (const std::optional<double> &value : row.values)
      texts.push_back(textOfCounter(row.counter, value));
    add((row.binds ? "* " : "") + labelOfCounter(row.counter), texts);
  }
  std::vector<std::size_t> widths(lines.front().size(), 0);
  for (const auto &line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const auto &line : lines)
    text += lineOf(line, widths);
  for (std::size_t i = 0; i < contrast.versions.size(); ++i)
    if (!contrast.bounds[i].empty())
      text += fmt::format("bound of {}: {}\n", contrast.versions[i], contrast.bounds[i]);
  return text + "* a rule that fires rests on it\n";
}

} // namespace kopt
