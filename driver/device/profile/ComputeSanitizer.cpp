// SPDX-License-Identifier: Apache-2.0
#include "driver/device/profile/ComputeSanitizer.h"

#include "driver/device/CudaToolkit.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"
#include "runtime/runner/Protocol.h"

#include <algorithm>
#include <cstdlib>
#include <future>

namespace kopt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "=========";

/// The text of a line of the tool; nothing if another program printed the line.
std::optional<std::string> ownLine(std::string_view line) {
  if (!line.starts_with(kMark))
    return std::nullopt;
  line.remove_prefix(kMark.size());
  while (!line.empty() && (line.front() == ' ' || line.front() == '='))
    line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r'))
    line.remove_suffix(1);
  return std::string(line);
}

/// The number after a heading, as in "3 errors"; nothing if there is none.
std::optional<std::uint64_t> countAfter(const std::string &line, const std::string &heading) {
  if (!line.starts_with(heading))
    return std::nullopt;
  const char *begin = line.c_str() + heading.size();
  while (*begin == ' ')
    ++begin;
  char *end = nullptr;
  const std::uint64_t count = std::strtoull(begin, &end, 10);
  return end == begin ? std::nullopt : std::optional(count);
}

/// The warnings that a summary of racecheck counts: "2 hazards displayed (1 error, 1 warning)".
std::uint64_t warningsIn(const std::string &summary) {
  const std::size_t end = summary.find(" warning");
  const std::size_t begin = end == summary.npos ? end : summary.rfind(' ', end - 1);
  return begin == summary.npos ? 0 : countAfter(summary.substr(begin), "").value_or(0);
}

/// True if all of the script's requests were answered with Ok, so that the tool watched the whole
/// launch.
bool launchWasOk(const std::string &replies) {
  bool any = false;
  for (const std::string &line : split(replies, '\n')) {
    const auto message = runtime::protocol::Message::parse(line);
    if (!message)
      continue;
    any = true;
    if (message->verb() != "ok" || message->number<int>("status").value_or(0) != 0)
      return false;
  }
  return any;
}

} // namespace

SanitizerReport parseSanitizer(std::string_view text, const std::string &tool) {
  SanitizerReport report;
  std::string notice;
  for (const std::string &raw : split(std::string(text), '\n')) {
    const auto line = ownLine(raw);
    if (!line || line->empty())
      continue;
    const auto summary =
        countAfter(*line, tool == "racecheck" ? "RACECHECK SUMMARY:" : "ERROR SUMMARY:");
    if (summary) {
      report.ran = true;
      report.errors = std::max(report.errors, *summary);
      report.warnings = std::max(report.warnings, warningsIn(*line));
      continue;
    }
    const bool isHeader = line->starts_with("COMPUTE-SANITIZER") ||
                          line->starts_with("LEAK SUMMARY") || line->starts_with("ERROR SUMMARY") ||
                          line->starts_with("RACECHECK SUMMARY");
    if (isHeader)
      continue;
    if (line->find("not supported") != line->npos ||
        line->find("Unable to find injection") != line->npos ||
        line->find("Target application terminated before first instrumented API call") !=
            line->npos ||
        line->find("Internal Sanitizer Error") != line->npos)
      notice = notice.empty() ? *line : notice;
    else if (report.first.empty() ||
             (report.first.starts_with("Warning:") && line->starts_with("Error:")))
      report.first = *line;
    else if (line->starts_with("at ") && report.first.find(" at ") == report.first.npos)
      report.first += " " + *line;
  }
  if (!notice.empty()) { // the tool did not check the launch, whatever its summary says
    report.ran = false;
    report.first = notice;
  } else if (!report.ran && report.first.empty()) {
    report.first = "it printed no summary";
  }
  return report;
}

Result<SanitizerReport> ComputeSanitizer::check(const std::string &tool,
                                                const WatchRequest &request) {
  SanitizerReport report;
  if (!program_) {
    report.first = inWords(program_.error());
    return report;
  }
  // racecheck counts what it prints: an error may follow many warnings.
  std::vector<std::string> command = {program_->string(), "--tool", tool, "--print-limit",
                                      tool == "racecheck" ? "100" : "5"};
  // The runner asks the driver for parameters until there are no more, which memcheck would report
  // as an error.
  if (tool == "memcheck")
    command.insert(command.end(), {"--report-api-errors", "no"});
  KOPT_TRY(const ProcessResult result, watchRunner(processes_, std::move(command), request));
  if (result.timedOut) {
    report.first = tool + " did not end within " + formatDuration(request.deadline.count());
    return report;
  }
  report = parseSanitizer(result.out + "\n" + result.err, tool);
  if (!report.ran || report.errors > 0)
    return report;
  const auto answers = readFile(request.replies());
  if (!answers || !launchWasOk(*answers)) {
    report.ran = false;
    report.first = "the launch did not finish under " + tool;
  }
  return report;
}

Result<std::vector<SanitizerReport>>
ComputeSanitizer::checkWith(const std::vector<std::string> &tools, const WatchRequest &request) {
  std::vector<std::future<Result<SanitizerReport>>> answers;
  for (const std::string &tool : tools) {
    WatchRequest own = request;
    own.folder /= tool;
    answers.push_back(
        std::async(std::launch::async, [this, tool, own] { return check(tool, own); }));
  }
  std::vector<SanitizerReport> reports;
  for (auto &answer : answers) { // the destructor of an async future waits, so nothing is left
                                 // running after an error
    KOPT_TRY(SanitizerReport report, answer.get());
    reports.push_back(std::move(report));
  }
  return reports;
}

} // namespace kopt
