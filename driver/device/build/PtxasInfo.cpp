// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/PtxasInfo.h"

#include "driver/support/Text.h"

#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace kopt {
namespace {

/// The number before a unit: 160 for "160 bytes stack frame".
std::optional<double> numberBefore(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == line.npos || at == 0)
    return std::nullopt;
  const std::size_t last = line.find_last_not_of(' ', at - 1);
  if (last == line.npos)
    return std::nullopt;
  const std::size_t before = line.find_last_not_of("0123456789", last);
  const std::string_view digits =
      line.substr(before == line.npos ? 0 : before + 1, last - (before == line.npos ? -1 : before));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return double(value);
}

} // namespace

Counters parsePtxasInfo(std::string_view log, std::string_view symbol) {
  Counters counters;
  const std::string compiling = fmt::format("Compiling entry function '{}'", symbol);
  const std::string properties = fmt::format("Function properties for {}", symbol);
  bool isIts = false, isItsFrame = false;
  const auto note = [&](const char *name, std::string_view line, std::string_view unit) {
    if (const auto value = numberBefore(line, unit))
      counters[name] = *value;
  };
  for (const std::string &line : split(log, '\n')) {
    if (line.find("Compiling entry function '") != line.npos)
      isIts = line.find(compiling) != line.npos;
    else if (line.find("Function properties for ") != line.npos)
      isItsFrame = isIts && trim(line).ends_with(properties);
    if (!isIts)
      continue;
    if (isItsFrame) {
      note("ptxas__stack_bytes", line, "bytes stack frame");
      note("ptxas__spill_store_bytes", line, "bytes spill stores");
      note("ptxas__spill_load_bytes", line, "bytes spill loads");
    }
    if (line.find(": Used ") != line.npos && !counters.contains("ptxas__registers")) {
      note("ptxas__registers", line, "registers");
      note("ptxas__shared_bytes", line, "bytes smem");
    }
  }
  return counters;
}

} // namespace kopt
