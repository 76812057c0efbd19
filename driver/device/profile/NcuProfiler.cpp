// SPDX-License-Identifier: Apache-2.0
#include "driver/device/profile/NcuProfiler.h"

#include "driver/device/CudaToolkit.h"
#include "driver/device/profile/CounterNames.h"
#include "driver/device/profile/CounterPermission.h"
#include "driver/device/profile/NcuTable.h"
#include "driver/support/Text.h"
#include "runtime/runner/Protocol.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kopt {

namespace {

namespace fs = std::filesystem;

constexpr int kMaxRetries = 4; ///< attempts, each without the metrics that turned out to be unknown

bool contains(const std::vector<std::string> &list, const std::string &word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::vector<std::string> csvFields(std::string_view line) {
  std::size_t at = 0;
  return csvRecord(line, at);
}

std::optional<double> decimalPrefix(char c) {
  switch (c) {
  case 'K':
    return 1e3;
  case 'M':
    return 1e6;
  case 'G':
    return 1e9;
  case 'T':
    return 1e12;
  default:
    return std::nullopt;
  }
}

/// Nanoseconds in a unit of time, in the spellings of all versions of ncu; nothing for other units.
std::optional<double> nanoseconds(std::string_view unit) {
  if (unit == "ns" || unit == "nsecond")
    return 1;
  if (unit == "us" || unit == "usecond")
    return 1e3;
  if (unit == "ms" || unit == "msecond")
    return 1e6;
  if (unit == "s" || unit == "second")
    return 1e9;
  return std::nullopt;
}

/// The factor from this unit to base units; nothing if the unit is unknown.
std::optional<double> unitFactor(std::string_view unit) {
  if (const auto slash = unit.find('/'); slash != unit.npos) {
    if (const auto per = nanoseconds(unit.substr(slash + 1))) {
      const auto factor = unitFactor(unit.substr(0, slash));
      return factor ? std::optional(*factor * 1e9 / *per) : std::nullopt;
    }
    return unitFactor(unit.substr(0, slash));
  }
  if (const auto factor = nanoseconds(unit))
    return factor;
  if (unit.size() > 1)
    if (const auto prefix = decimalPrefix(unit[0])) {
      const std::string_view base = unit.substr(1);
      return base == "byte" || base == "hz" || base == "cycle" || base == "inst" ? prefix
                                                                                 : std::nullopt;
    }
  return 1;
}

} // namespace

std::string ncuErrorLine(const ProcessResult &result) {
  for (const std::string *stream : {&result.out, &result.err})
    for (const std::string &line : split(*stream, '\n'))
      if (line.find("==ERROR==") != line.npos)
        return std::string(trim(line));
  return {};
}

std::optional<std::string> deniedCounters(const ProcessResult &result) {
  if ((result.out + result.err).find("ERR_NVGPUCTRPERM") == std::string::npos)
    return std::nullopt;
  return std::string("hardware counters are denied on this machine (ERR_NVGPUCTRPERM): ") +
         kAllowCounters;
}

std::vector<std::string> ncuCommand(const fs::path &ncu, const std::vector<std::string> &metrics,
                                    int launches) {
  return {ncu.string(),      "--csv",
          "--page",          "raw",
          "--print-units",   "base",
          "--clock-control", "none",
          "--launch-count",  std::to_string(launches),
          "--metrics",       join(metrics, ",")};
}

Result<std::vector<NcuKernel>> parseNcuCsv(std::string_view text) {
  std::vector<std::string> names, units;
  std::vector<NcuKernel> kernels;
  for (const std::string &line : split(text, '\n')) {
    if (names.empty()) {
      if (line.rfind("\"ID\",", 0) == 0)
        names = csvFields(line);
      continue;
    }
    if (line.empty() || line[0] != '"')
      continue;
    std::vector<std::string> fields = csvFields(line);
    if (fields.size() != names.size())
      return makeError(ErrorCode::Internal,
                       fmt::format("a line of ncu's table has {} fields, its header has {}",
                                   fields.size(), names.size()));
    if (units.empty()) { // the line after the names
      units = std::move(fields);
      continue;
    }
    NcuKernel &kernel = kernels.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == "Kernel Name")
        kernel.name = fields[i];
      if (names[i].find("__") == names[i].npos)
        continue;
      const auto value = ncuNumber(fields[i]);
      const auto factor = unitFactor(units[i]);
      if (value && factor && std::isfinite(*value * *factor))
        kernel.counters[names[i]] = *value * *factor;
    }
  }
  if (kernels.empty())
    return makeError(ErrorCode::Internal, "ncu printed no table of counters");
  return kernels;
}

Result<ProfileOutcome> NcuProfiler::profile(const WatchRequest &request) {
  ProfileOutcome outcome;
  outcome.source = "ncu";
  if (unavailable_)
    return outcome;
  if (!program_) {
    unavailable_ = true;
    outcome.detail = "there are no hardware counters: " + inWords(program_.error());
    return outcome;
  }
  for (int attempt = 0; attempt < kMaxRetries; ++attempt) {
    std::vector<std::string> metrics;
    for (const auto *list : {&hardwareCounters(), &launchCounters()})
      for (const std::string &metric : *list)
        if (!contains(unknownMetrics_, metric))
          metrics.push_back(metric);
    KOPT_TRY(const ProcessResult result,
             watchRunner(processes_, ncuCommand(*program_, metrics, 1), request));
    const std::string said = result.out + result.err;
    if (const auto denied = deniedCounters(result)) {
      unavailable_ = true;
      outcome.detail = *denied;
      return outcome;
    }
    if (result.timedOut) {
      outcome.detail = "ncu did not end within " + formatDuration(request.deadline.count());
      return outcome;
    }
    if (auto kernels = parseNcuCsv(result.out); kernels && !kernels->front().counters.empty()) {
      outcome.counters = std::move(kernels->front().counters);
      return outcome;
    }
    // ncu refuses all metrics if it does not know one. Leave out those that it names from now on.
    const std::size_t known = unknownMetrics_.size();
    for (const std::string &line : split(said, '\n'))
      if (line.find("metric") != line.npos)
        for (const std::string &metric : metrics)
          if (line.find(metric) != line.npos && !contains(unknownMetrics_, metric))
            unknownMetrics_.push_back(metric);
    if (unknownMetrics_.size() == known) {
      const std::string error = ncuErrorLine(result);
      outcome.detail = fmt::format("ncu gave no counters (exit code {}){}{}", result.exitCode,
                                   error.empty() ? "" : ": ", error);
      return outcome;
    }
  }
  outcome.detail =
      "ncu does not know enough of the counters: its version may be too old for this GPU";
  return outcome;
}

} // namespace kopt
