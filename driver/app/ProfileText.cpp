// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ProfileText.h"

#include "driver/diagnose/CounterTable.h"
#include "driver/diagnose/States.h"
#include "driver/model/Json.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace kopt {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json toJson(const RuleHit &hit) {
  json evidence = json::object();
  for (const auto &[metric, value] : hit.evidence)
    evidence[metric] = value;
  return {{"rule", hit.id},
          {"severity", hit.severity},
          {"finding", hit.finding},
          {"action", hit.action},
          {"skills", hit.skills},
          {"evidence", evidence},
          {"techniques", hit.techniques}};
}

json toJson(const LineUse &line) {
  json classes = json::object();
  for (int kind = 0; kind < kSassClasses; ++kind)
    if (const std::uint64_t count = line.mix[SassClass(kind)])
      classes[toString(SassClass(kind))] = count;
  json object{{"file", line.place.file.empty() ? json(nullptr) : json(line.place.file)},
              {"line", line.place.line},
              {"instructions", line.mix.all},
              {"classes", classes},
              {"conversions_of_double", line.doubles},
              {"local_indexed", line.indexed},
              {"loop_depth", line.loopDepth},
              {"executed", nullptr},
              {"samples", nullptr}};
  if (line.counted) {
    object["executed"] = line.counted->executed;
    object["samples"] = line.counted->samples;
  }
  return object;
}

json toJson(const SourceFrame &place) {
  return {{"file", place.file.empty() ? json(nullptr) : json(place.file)}, {"line", place.line}};
}

json toJson(const StallSlice &slice) {
  return {{"blamed", toJson(slice.blamed)},
          {"kind", toString(slice.kind)},
          {"waiting", toJson(slice.waiting)},
          {"samples", slice.samples},
          {"share", slice.share}};
}

json toJson(const Contrast &contrast) {
  json rows = json::array();
  for (const ContrastRow &row : contrast.rows) {
    rows.push_back({{"counter", row.counter}, {"binds", row.binds}});
    for (std::size_t i = 0; i < row.values.size(); ++i)
      rows.back()[contrast.versions[i]] = row.values[i] ? json(*row.values[i]) : json(nullptr);
  }
  return rows;
}

json toJson(const NcuReport &report) {
  return {{"ran", report.ran},
          {"detail", report.detail},
          {"metrics", toJson(report.metrics)},
          {"advice", toJson(report.advice)}};
}

json launchJson(const ProfileReport &report) {
  return {{"name", report.launch.name},
          {"weight", report.launch.weight},
          {"grid", toJson(report.launch.grid)},
          {"block", toJson(report.launch.block)},
          {"shared_bytes", report.launch.sharedBytes}};
}

std::string geometry(const Dim3 &dim) { return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z); }

/// As a person in this folder would type it.
std::string shortPath(const std::string &file) {
  std::error_code ignored;
  const fs::path relative = fs::path(file).lexically_relative(fs::current_path(ignored));
  return relative.empty() || *relative.begin() == ".." ? file : relative.string();
}

void printLines(std::ostream &out, const ProfileReport &report, std::size_t most) {
  if (report.lines.empty() || most == 0)
    return;
  const bool counted = std::any_of(report.lines.begin(), report.lines.end(),
                                   [](const LineUse &line) { return line.counted.has_value(); });
  out << fmt::format(
      "\nlines with most {} ({})\n", counted ? "samples" : "instructions",
      counted ? "of warps that stood there"
              : report.codeArch +
                    ", as they stand in the code: one in a loop is put before ten that are not");
  out << (counted ? "  samples     executed  " : "  code  loops  ") << "where\n";
  for (std::size_t i = 0; i < std::min(most, report.lines.size()); ++i) {
    const LineUse &line = report.lines[i];
    const std::string where =
        line.place.file.empty() ? "without a line (the compiler's own, or no line information)"
                                : fmt::format("{}:{}", shortPath(line.place.file), line.place.line);
    const InstructionCount count = line.counted.value_or(InstructionCount{});
    const std::string figures = counted ? fmt::format("{:>9} {:>12}", formatNumber(count.samples),
                                                      formatNumber(count.executed))
                                        : fmt::format("{:>6} {:>6}", line.mix.all, line.loopDepth);
    const std::string what = inWords(line);
    out << fmt::format("{}  {}{}{}\n", figures, where, what.empty() ? "" : "  ", what);
  }
}

/// The lines by what they executed, where the device counts that.
void printExecuted(std::ostream &out, const HotLines &hot, std::size_t most) {
  if (hot.lines.empty() || most == 0)
    return;
  out << "\nlines that executed most (" << toString(hot.source)
      << ": modelled instructions of warps, sectors of global memory)\n"
      << "  instructions  sectors  where\n";
  const auto share = [](double part, double all) {
    return formatPercent(all > 0 ? part / all : 0);
  };
  for (std::size_t i = 0; i < std::min(most, hot.lines.size()); ++i) {
    const HotLine &line = hot.lines[i];
    out << fmt::format("  {:>12}  {:>7}  {}  {}\n", share(line.instructions, hot.instructions),
                       share(line.sectors, hot.sectors),
                       line.file.empty() ? "not in your files"
                                         : fmt::format("{}:{}", shortPath(line.file), line.line),
                       line.text);
  }
}

void printStalls(std::ostream &out, const ProfileReport &report, std::size_t most) {
  if (report.stalls.empty() || most == 0)
    return;
  out << "\nwhat warps wait for\n";
  for (std::size_t i = 0; i < std::min(most, report.stalls.size()); ++i)
    out << "  " << inWords(report.stalls[i]) << "\n";
}

void printLaunch(std::ostream &out, const ProfileReport &report) {
  out << fmt::format(
      "launch '{}'{}: grid {}, block {}{}\n", report.launch.name,
      report.launches.size() > 1
          ? fmt::format(" (of {}: {})", report.launches.size(), join(report.launches, ", "))
          : "",
      geometry(report.launch.grid), geometry(report.launch.block),
      report.launch.sharedBytes
          ? ", " + formatBytes(report.launch.sharedBytes) + " of shared memory"
          : "");
}

} // namespace

nlohmann::json accessesJson(const ProfileReport &report) {
  json accesses = json::array();
  for (const AccessLine &access : report.accesses)
    accesses.push_back(
        {{"file", access.place.file.empty() ? json(nullptr) : json(access.place.file)},
         {"line", access.place.line},
         {"text", access.text}});
  return {{"kernel", report.label},
          {"file", report.file},
          {"line", report.line},
          {"launch", launchJson(report)},
          {"accesses", accesses}};
}

nlohmann::json toJson(const ProfileReport &report) {
  json rules = json::array(), lines = json::array(), stalls = json::array();
  for (const RuleHit &hit : report.diagnosis.hits)
    rules.push_back(toJson(hit));
  for (const LineUse &line : report.lines)
    lines.push_back(toJson(line));
  for (const StallSlice &slice : report.stalls)
    stalls.push_back(toJson(slice));
  const Diagnosis &diagnosis = report.diagnosis;
  return {{"kernel", report.label},
          {"file", report.file},
          {"line", report.line},
          {"device", report.device.name},
          {"modelled", report.device.modelled},
          {"launch", launchJson(report)},
          {"launches", report.launches},
          {"counters", report.profile.counters},
          {"counter_source", report.profile.source},
          {"state", diagnosis.state},
          {"finding", diagnosis.finding},
          {"states_skipped", diagnosis.unjudged},
          {"bound", toJson(diagnosis.bound)},
          {"headroom", diagnosis.headroom > 0 ? json(diagnosis.headroom) : json(nullptr)},
          {"contrast", toJson(report.contrast)},
          {"rules", rules},
          {"rules_skipped", report.diagnosis.skipped},
          {"code_arch", report.codeArch.empty() ? json(nullptr) : json(report.codeArch)},
          {"lines", lines},
          {"stalls", stalls},
          {"hot_lines", toJson(report.executed)},
          {"ncu", report.ncu ? toJson(*report.ncu) : json(nullptr)},
          {"missing", report.missing},
          {"sandbox", toJson(report.sandbox)}};
}

void printDiagnosis(std::ostream &out, const Diagnosis &diagnosis) {
  out << "\nwhat bounds it\n";
  if (!diagnosis.state.empty())
    out << fmt::format("  state {}: {}\n  bound: {}\n", diagnosis.state, diagnosis.finding,
                       boundInWords(diagnosis));
  if (diagnosis.hits.empty())
    out << "  no rule fires on these counters\n";
  for (const RuleHit &hit : diagnosis.hits)
    out << fmt::format("  {} ({}): {}\n    what helps: {}\n", hit.severity, hit.id, hit.finding,
                       hit.action);
}

void printAccesses(std::ostream &out, const ProfileReport &report) {
  out << fmt::format("{} ({}:{}), read from its source\n", report.label, shortPath(report.file),
                     report.line);
  printLaunch(out, report);
  out << "\nwhere its accesses go\n";
  if (report.accesses.empty())
    out << "  it has none of global or shared memory\n";
  for (const AccessLine &access : report.accesses)
    out << fmt::format("  {}  {}\n",
                       access.place.file.empty()
                           ? "not in your files"
                           : fmt::format("{}:{}", shortPath(access.place.file), access.place.line),
                       access.text);
}

void print(std::ostream &out, const ProfileReport &report, std::size_t lines) {
  out << fmt::format("{} ({}:{}), {}{}\n", report.label, shortPath(report.file), report.line,
                     report.device.modelled ? "emulated " : "", report.device.name);
  printLaunch(out, report);
  out << fmt::format("\ncounters ({}{})\n", report.profile.source,
                     report.device.modelled ? ": modelled" : "");
  for (const auto &[label, value] : describeCounters(report.profile.counters))
    out << fmt::format("  {:<44} {:>12}\n", label, value);
  printDiagnosis(out, report.diagnosis);
  if (const std::string table = inText(report.contrast); !table.empty())
    out << "\nbeside the original\n" << table;
  printExecuted(out, report.executed, lines);
  printLines(out, report, lines);
  printStalls(out, report, lines);
  if (report.ncu && report.ncu->ran) {
    out << "\nNsight Compute\n";
    for (const NcuReport::Advice &advice : report.ncu->advice) {
      const std::string speedup =
          advice.speedupPercent
              ? fmt::format(" (estimated speedup {}%, {})", formatNumber(*advice.speedupPercent),
                            advice.speedupScope)
              : "";
      out << fmt::format("  {} {}{}: {}\n", advice.type, advice.rule, speedup,
                         replaceAll(advice.text, "\n", " "));
      if (!advice.agrees.empty())
        out << "    kopt says so, too: " << join(advice.agrees, ", ") << "\n";
    }
  }
  if (!report.missing.empty())
    out << "\nnot available\n";
  for (const std::string &what : report.missing)
    out << "  " << what << "\n";
}

} // namespace kopt
