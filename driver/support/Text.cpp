// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Text.h"

#include "driver/support/JsonText.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <system_error>

namespace kopt {

std::string systemMessage(int error) {
  return std::error_code(error, std::generic_category()).message();
}

std::string_view trim(std::string_view text) {
  auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && space(text.back()))
    text.remove_suffix(1);
  return text;
}

std::string withoutControls(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

std::string validUtf8(const std::string &text) {
  return nlohmann::json::parse(dumpJson(text)).get<std::string>();
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos)
      return parts;
    text.remove_prefix(at + 1);
  }
}

std::string join(const std::vector<std::string> &parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string replaceAll(std::string text, std::string_view from, std::string_view to) {
  if (from.empty())
    return text;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t changed = previous[j - 1] + (a[i - 1] != b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before = std::move(previous);
    previous = current;
    current.resize(b.size() + 1);
  }
  return previous[b.size()];
}

std::string closestMatch(std::string_view name, const std::vector<std::string> &known) {
  std::string best;
  // A third of the letters may be wrong; with more, the suggestion would be unrelated.
  std::size_t bestDistance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string &candidate : known)
    if (std::size_t distance = editDistance(name, candidate); distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  return best;
}

std::string didYouMean(std::string_view name, const std::vector<std::string> &known) {
  std::string match = closestMatch(name, known);
  return match.empty() ? "" : "did you mean '" + match + "'?";
}

std::string formatDuration(double seconds) {
  if (!std::isfinite(seconds))
    return "unknown";
  double magnitude = std::fabs(seconds);
  if (magnitude == 0)
    return "0 s";
  if (magnitude < 1e-6)
    return fmt::format("{:.3g} ns", seconds * 1e9);
  if (magnitude < 999.5e-6)
    return fmt::format("{:.3g} us", seconds * 1e6);
  if (magnitude < 0.9995)
    return fmt::format("{:.3g} ms", seconds * 1e3);
  if (magnitude < 99.95)
    return fmt::format("{:.3g} s", seconds);
  long whole = std::lround(seconds);
  if (whole < 3600)
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string formatPercent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.1f}%", fraction * 100) : "unknown";
}

std::string formatBytes(double bytes) {
  if (bytes < 1024)
    return fmt::format("{:.0f} B", bytes);
  static constexpr const char *kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  int unit = -1;
  do {
    bytes /= 1024;
    ++unit;
  } while (bytes >= 1024 && unit < 3);
  return fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string formatNumber(double value) {
  if (!std::isfinite(value))
    return "unknown";
  if (value == std::floor(value) && std::fabs(value) < 1e15)
    return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string counted(std::size_t number, std::string_view one, std::string_view many) {
  return std::to_string(number) + " " + std::string(number == 1 ? one : many);
}

std::string slug(std::string_view text, std::size_t limit) {
  std::string result;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte))
      result += char(std::tolower(byte));
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  if (result.size() > limit)
    result.resize(limit);
  while (!result.empty() && result.back() == '-')
    result.pop_back();
  return result;
}

} // namespace kopt
