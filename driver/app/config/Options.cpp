// SPDX-License-Identifier: Apache-2.0
#include "driver/app/config/Options.h"

#include "driver/app/config/GpuSelection.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <regex>
#include <type_traits>

namespace kopt::config {
namespace {

double asNumber(const RawValue &value) {
  if (auto *integer = std::get_if<std::int64_t>(&value))
    return double(*integer);
  auto *real = std::get_if<double>(&value);
  return real ? *real : std::nan("");
}

std::string oneOf(const std::string &text, const std::vector<std::string> &known) {
  if (std::find(known.begin(), known.end(), text) != known.end())
    return "";
  std::string hint = didYouMean(text, known);
  return "'" + text + "' is not one of " + join(known, ", ") + (hint.empty() ? "" : "; " + hint);
}

/// Converts a value to the type of an option, if that loses nothing.
template <class T> std::optional<T> convert(const RawValue &value) {
  if (auto *exact = std::get_if<T>(&value))
    return *exact;
  if constexpr (std::is_same_v<T, double>)
    if (auto *integer = std::get_if<std::int64_t>(&value))
      return double(*integer);
  if constexpr (std::is_same_v<T, std::string>) // gpus = 2
    if (auto *integer = std::get_if<std::int64_t>(&value))
      return std::to_string(*integer);
  return std::nullopt;
}

template <class T> const char *typeName() {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return "a whole number";
  else if constexpr (std::is_same_v<T, double>)
    return "a number";
  else if constexpr (std::is_same_v<T, std::string>)
    return "a text";
  else
    return "a list of texts";
}

template <class T> std::optional<RawValue> parseText(const std::string &text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return RawValue(text);
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    std::vector<std::string> parts;
    for (const std::string &part : split(text, ','))
      parts.emplace_back(trim(part));
    return RawValue(std::move(parts));
  } else {
    char *end = nullptr;
    errno = 0;
    RawValue value;
    if constexpr (std::is_same_v<T, std::int64_t>)
      value = std::int64_t(std::strtoll(text.c_str(), &end, 10));
    else
      value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || errno == ERANGE)
      return std::nullopt;
    return value;
  }
}

} // namespace

std::string checkPositive(const RawValue &value) {
  return asNumber(value) >= 1 ? "" : showValue(value) + " is below 1";
}
std::string checkFromZero(const RawValue &value) {
  return asNumber(value) >= 0 ? "" : showValue(value) + " is below 0";
}
std::string checkAboveZero(const RawValue &value) {
  double number = asNumber(value);
  return number > 0 && std::isfinite(number) ? "" : showValue(value) + " is not above 0";
}
std::string checkRatio(const RawValue &value) {
  double number = asNumber(value);
  return number >= 1 && std::isfinite(number)
             ? ""
             : showValue(value) + " is below 1: it is a speedup, 1.02 for 2 percent";
}
std::string checkProposers(const RawValue &value) {
  for (const std::string &name : std::get<std::vector<std::string>>(value))
    if (std::string problem = oneOf(name, {"params", "transform", "llm"}); !problem.empty())
      return problem;
  return checkNotEmpty(value);
}
std::string checkModel(const RawValue &value) {
  const std::string &text = std::get<std::string>(value);
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || colon + 1 == text.size())
    return "'" + text + "' is not of the form anthropic:MODEL, openai:MODEL or exec:COMMAND";
  return oneOf(text.substr(0, colon), {"anthropic", "openai", "exec"});
}
std::string checkDevice(const RawValue &value) {
  return oneOf(std::get<std::string>(value), {"auto", "cuda", "emulated"});
}
std::string checkGpus(const RawValue &value) {
  const auto gpus = parseGpuSelection(std::get<std::string>(value));
  return gpus ? "" : gpus.error().what + "; " + gpus.error().hint;
}
std::string checkSandbox(const RawValue &value) {
  return oneOf(std::get<std::string>(value), {"auto", "required", "off"});
}
std::string checkAssurance(const RawValue &value) {
  return oneOf(std::get<std::string>(value), {"standard", "strict"});
}
std::string checkArch(const RawValue &value) {
  const std::string &text = std::get<std::string>(value);
  static const std::regex kArch("sm_[1-9][0-9]{1,2}[af]?");
  return std::regex_match(text, kArch)
             ? ""
             : "'" + text + "' is not an architecture such as sm_90, sm_90a or sm_120";
}
std::string checkMode(const RawValue &value) {
  return oneOf(std::get<std::string>(value), {"patch", "header"});
}
std::string checkArchs(const RawValue &value) {
  for (const std::string &arch : std::get<std::vector<std::string>>(value))
    if (std::string problem = arch == "all" ? "" : checkArch(RawValue(arch)); !problem.empty())
      return problem + ", nor 'all'";
  return checkNotEmpty(value);
}
std::string checkNotEmpty(const RawValue &value) {
  if (auto *text = std::get_if<std::string>(&value))
    return text->empty() ? "the value is empty" : "";
  const auto &list = std::get<std::vector<std::string>>(value);
  bool empty = list.empty() || std::find(list.begin(), list.end(), "") != list.end();
  return empty ? "the list is empty or has an empty item" : "";
}

std::string showValue(const RawValue &value) {
  if (auto *integer = std::get_if<std::int64_t>(&value))
    return std::to_string(*integer);
  if (auto *real = std::get_if<double>(&value))
    return fmt::format("{}", *real);
  if (auto *text = std::get_if<std::string>(&value))
    return *text;
  return join(std::get<std::vector<std::string>>(value), ", ");
}

std::vector<std::string> optionKeys() {
  std::vector<std::string> keys;
  forEachOption([&](const char *key, auto, auto, Check) { keys.push_back(key); });
  return keys;
}

std::string setOption(ConfigSource &source, const std::string &key, RawValue value,
                      const std::string &place) {
  std::string problem;
  bool known = false;
  forEachOption([&](const char *name, auto member, auto, Check check) {
    if (key != name)
      return;
    known = true;
    auto &slot = source.options.*member;
    using T = typename std::remove_reference_t<decltype(slot)>::value_type;
    std::optional<T> converted = convert<T>(value);
    problem = converted ? check(*converted) : std::string("expected ") + typeName<T>();
    if (!problem.empty())
      return;
    slot = std::move(*converted);
    source.places[key] = place;
  });
  if (known)
    return problem;
  std::string hint = didYouMean(key, optionKeys());
  return "unknown key" + (hint.empty() ? "; known are " + join(optionKeys(), ", ") : "; " + hint);
}

std::string setOptionFromText(ConfigSource &source, const std::string &key, const std::string &text,
                              const std::string &place) {
  std::string problem;
  forEachOption([&](const char *name, auto member, auto, Check) {
    if (key != name)
      return;
    using T = typename std::remove_reference_t<decltype(source.options.*member)>::value_type;
    std::optional<RawValue> value = parseText<T>(text);
    problem = value ? setOption(source, key, std::move(*value), place)
                    : "'" + text + "' is not " + typeName<T>();
  });
  return problem;
}

} // namespace kopt::config
