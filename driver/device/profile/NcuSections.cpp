// SPDX-License-Identifier: Apache-2.0
#include "driver/device/profile/NcuSections.h"

#include "driver/device/CudaToolkit.h"
#include "driver/device/build/ChildEnvironment.h"
#include "driver/device/profile/NcuTable.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestPage = 64u << 20;

std::string fieldOf(const std::vector<std::string> &row, std::optional<std::size_t> column) {
  return column ? std::string(trim(row[*column])) : std::string();
}

std::optional<std::uint64_t> addressOf(std::string_view text) {
  text = trim(text);
  if (text.starts_with("0x") || text.starts_with("0X"))
    text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// Why ncu gave no report, in words.
std::string failureOf(const ProcessResult &result, const WatchRequest &request) {
  if (const auto denied = deniedCounters(result))
    return *denied;
  if (result.timedOut)
    return "ncu did not end within " + formatDuration(request.deadline.count());
  const std::string error = ncuErrorLine(result);
  return fmt::format("ncu gave no report (exit code {}){}{}", result.exitCode,
                     error.empty() ? "" : ": ", error);
}

} // namespace

Result<NcuReport> parseNcuDetails(std::string_view text) {
  const auto table =
      findNcuTable(text, {"ID", "Section Name", "Metric Name", "Metric Value", "Rule Name"});
  if (!table || table->rows.empty())
    return makeError(ErrorCode::Internal, "ncu printed no table of sections");
  const auto column = [&](const char *name) { return table->column(name); };
  const auto id = column("ID"), section = column("Section Name"), metric = column("Metric Name"),
             unit = column("Metric Unit"), value = column("Metric Value"),
             rule = column("Rule Name"), type = column("Rule Type"),
             words = column("Rule Description"), scope = column("Estimated Speedup Type"),
             speedup = column("Estimated Speedup");
  NcuReport report;
  report.ran = true;
  for (const std::vector<std::string> &row : table->rows) {
    if (fieldOf(row, id) != fieldOf(table->rows.front(), id))
      break;
    if (!fieldOf(row, metric).empty())
      report.metrics.push_back(
          {fieldOf(row, section), fieldOf(row, metric), fieldOf(row, unit), fieldOf(row, value)});
    if (fieldOf(row, rule).empty())
      continue;
    NcuReport::Advice advice;
    advice.section = fieldOf(row, section);
    advice.rule = fieldOf(row, rule);
    advice.type = fieldOf(row, type);
    advice.text = fieldOf(row, words);
    advice.speedupPercent = ncuNumber(fieldOf(row, speedup));
    advice.speedupScope = fieldOf(row, scope);
    if (std::ranges::none_of(report.advice, [&](const NcuReport::Advice &known) {
          return known.rule == advice.rule && known.text == advice.text;
        }))
      report.advice.push_back(std::move(advice));
  }
  return report;
}

Result<InstructionCounts> parseNcuSource(std::string_view text) {
  const auto table = findNcuTable(text, {"Address", "Source", "Instructions Executed"});
  if (!table || table->rows.empty())
    return makeError(ErrorCode::Internal, "ncu printed no table of instructions");
  const std::size_t address = *table->column("Address"),
                    executed = *table->column("Instructions Executed");
  std::optional<std::size_t> samples = table->column("Warp Stall Sampling (All*");
  if (!samples)
    samples = table->column("# Samples");
  std::map<std::uint64_t, InstructionCount> byAddress;
  for (const std::vector<std::string> &row : table->rows) {
    const auto at = addressOf(row[address]);
    if (!at)
      continue;
    const auto ran = ncuNumber(row[executed]),
               sampled = samples ? ncuNumber(row[*samples]) : std::nullopt;
    if (ran || sampled)
      byAddress[*at] = {ran.value_or(0), sampled.value_or(0)};
    else
      byAddress[*at];
  }
  InstructionCounts counts;
  bool any = false;
  for (const auto &[at, count] : byAddress) {
    counts[at - byAddress.begin()->first] = count;
    any |= count.executed > 0 || count.samples > 0;
  }
  if (!any)
    return makeError(ErrorCode::Internal, "ncu's table of instructions has no count");
  return counts;
}

Result<NcuReport> inspectLaunch(ProcessRunner &processes, const Result<fs::path> &ncu,
                                const WatchRequest &request,
                                const std::vector<std::string> &sections) {
  NcuReport nothing;
  if (!ncu) {
    nothing.detail = inWords(ncu.error());
    return nothing;
  }
  const fs::path file = request.folder / "report.ncu-rep";
  std::error_code ignored;
  fs::remove(file, ignored);

  std::vector<std::string> command = {ncu->string(),     "--force-overwrite",
                                      "--export",        (request.folder / "report").string(),
                                      "--clock-control", "none",
                                      "--launch-count",  "1"};
  if (sections.empty())
    command.insert(command.end(), {"--set", "detailed"});
  for (const std::string &section : sections)
    command.insert(command.end(), {"--section", section});
  if (std::find(sections.begin(), sections.end(), "SourceCounters") == sections.end())
    command.insert(command.end(), {"--section", "SourceCounters"});
  KOPT_TRY(const ProcessResult watched, watchRunner(processes, std::move(command), request));
  if (!fs::exists(file, ignored)) {
    nothing.detail = failureOf(watched, request);
    return nothing;
  }

  const auto page = [&](const char *name, std::vector<std::string> more) {
    ProcessSpec import;
    import.argv = {ncu->string(), "--import", file.string(), "--page", name, "--csv"};
    import.argv.insert(import.argv.end(), more.begin(), more.end());
    import.unsetEnv = secretVariableNames();
    import.timeout = request.deadline;
    import.outputLimit = kLongestPage;
    return processes.run(import);
  };
  KOPT_TRY(const ProcessResult details, page("details", {}));
  auto report = parseNcuDetails(details.out);
  if (!report) {
    nothing.detail = report.error().what + ": " + failureOf(details, request);
    return nothing;
  }
  KOPT_TRY(const ProcessResult source, page("source", {"--print-units", "base"}));
  auto instructions = parseNcuSource(source.out);
  if (instructions)
    report->instructions = std::move(*instructions);
  else
    report->detail = instructions.error().what;
  return std::move(*report);
}

} // namespace kopt
