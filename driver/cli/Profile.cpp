// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ProfileFlow.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/diagnose/CounterTable.h"
#include "driver/diagnose/States.h"
#include "driver/model/Json.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

namespace kopt {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ProfileFlags {
  SourceFlags sources;
  ConfigFlags config;
  std::string candidate; ///< file
  std::string launch;    ///< name
  std::string program;
  std::vector<std::string> sections; ///< of Nsight Compute
  bool ncu = false, accesses = false;
  std::size_t lines = 10; ///< to print
};

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

json accessesJson(const ProfileReport &report) {
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

json toJson(const ProfileReport &report) {
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

std::string geometry(const Dim3 &dim) { return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z); }

/// As a person in this folder would type it.
std::string shortPath(const std::string &file) {
  std::error_code ignored;
  const fs::path relative = fs::path(file).lexically_relative(fs::current_path(ignored));
  return relative.empty() || *relative.begin() == ".." ? file : relative.string();
}

void printLines(const ProfileReport &report, std::size_t most) {
  if (report.lines.empty() || most == 0)
    return;
  const bool counted = std::any_of(report.lines.begin(), report.lines.end(),
                                   [](const LineUse &line) { return line.counted.has_value(); });
  std::cout << fmt::format(
      "\nlines with most {} ({})\n", counted ? "samples" : "instructions",
      counted ? "of warps that stood there"
              : report.codeArch +
                    ", as they stand in the code: one in a loop is put before ten that are not");
  std::cout << (counted ? "  samples     executed  " : "  code  loops  ") << "where\n";
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
    std::cout << fmt::format("{}  {}{}{}\n", figures, where, what.empty() ? "" : "  ", what);
  }
}

/// The lines by what they executed, where the device counts that.
void printExecuted(const HotLines &hot, std::size_t most) {
  if (hot.lines.empty() || most == 0)
    return;
  std::cout << "\nlines that executed most (" << toString(hot.source)
            << ": modelled instructions of warps, sectors of global memory)\n"
            << "  instructions  sectors  where\n";
  const auto share = [](double part, double all) {
    return formatPercent(all > 0 ? part / all : 0);
  };
  for (std::size_t i = 0; i < std::min(most, hot.lines.size()); ++i) {
    const HotLine &line = hot.lines[i];
    std::cout << fmt::format(
        "  {:>12}  {:>7}  {}  {}\n", share(line.instructions, hot.instructions),
        share(line.sectors, hot.sectors),
        line.file.empty() ? "not in your files"
                          : fmt::format("{}:{}", shortPath(line.file), line.line),
        line.text);
  }
}

void printDiagnosis(const Diagnosis &diagnosis) {
  std::cout << "\nwhat bounds it\n";
  if (!diagnosis.state.empty())
    std::cout << fmt::format("  state {}: {}\n  bound: {}\n", diagnosis.state, diagnosis.finding,
                             boundInWords(diagnosis));
  if (diagnosis.hits.empty())
    std::cout << "  no rule fires on these counters\n";
  for (const RuleHit &hit : diagnosis.hits)
    std::cout << fmt::format("  {} ({}): {}\n    what helps: {}\n", hit.severity, hit.id,
                             hit.finding, hit.action);
}

void printStalls(const ProfileReport &report, std::size_t most) {
  if (report.stalls.empty() || most == 0)
    return;
  std::cout << "\nwhat warps wait for\n";
  for (std::size_t i = 0; i < std::min(most, report.stalls.size()); ++i)
    std::cout << "  " << inWords(report.stalls[i]) << "\n";
}

void printLaunch(const ProfileReport &report) {
  std::cout << fmt::format(
      "launch '{}'{}: grid {}, block {}{}\n", report.launch.name,
      report.launches.size() > 1
          ? fmt::format(" (of {}: {})", report.launches.size(), join(report.launches, ", "))
          : "",
      geometry(report.launch.grid), geometry(report.launch.block),
      report.launch.sharedBytes
          ? ", " + formatBytes(report.launch.sharedBytes) + " of shared memory"
          : "");
}

void printAccesses(const ProfileReport &report) {
  std::cout << fmt::format("{} ({}:{}), read from its source\n", report.label,
                           shortPath(report.file), report.line);
  printLaunch(report);
  std::cout << "\nwhere its accesses go\n";
  if (report.accesses.empty())
    std::cout << "  it has none of global or shared memory\n";
  for (const AccessLine &access : report.accesses)
    std::cout << fmt::format(
        "  {}  {}\n",
        access.place.file.empty()
            ? "not in your files"
            : fmt::format("{}:{}", shortPath(access.place.file), access.place.line),
        access.text);
}

void print(const ProfileReport &report, std::size_t lines) {
  std::cout << fmt::format("{} ({}:{}), {}{}\n", report.label, shortPath(report.file), report.line,
                           report.device.modelled ? "emulated " : "", report.device.name);
  printLaunch(report);
  std::cout << fmt::format("\ncounters ({}{})\n", report.profile.source,
                           report.device.modelled ? ": modelled" : "");
  for (const auto &[label, value] : describeCounters(report.profile.counters))
    std::cout << fmt::format("  {:<44} {:>12}\n", label, value);
  printDiagnosis(report.diagnosis);
  if (const std::string table = inText(report.contrast); !table.empty())
    std::cout << "\nbeside the original\n" << table;
  printExecuted(report.executed, lines);
  printLines(report, lines);
  printStalls(report, lines);
  if (report.ncu && report.ncu->ran) {
    std::cout << "\nNsight Compute\n";
    for (const NcuReport::Advice &advice : report.ncu->advice) {
      const std::string speedup =
          advice.speedupPercent
              ? fmt::format(" (estimated speedup {}%, {})", formatNumber(*advice.speedupPercent),
                            advice.speedupScope)
              : "";
      std::cout << fmt::format("  {} {}{}: {}\n", advice.type, advice.rule, speedup,
                               replaceAll(advice.text, "\n", " "));
      if (!advice.agrees.empty())
        std::cout << "    kopt says so, too: " << join(advice.agrees, ", ") << "\n";
    }
  }
  if (!report.missing.empty())
    std::cout << "\nnot available\n";
  for (const std::string &what : report.missing)
    std::cout << "  " << what << "\n";
}

std::string checkSectionName(const std::string &name) {
  const bool isName = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c == '_' || (c < 128 && std::isalnum(c));
  });
  return isName ? "" : "'" + name + "' is not a section name; 'ncu --list-sections' prints them";
}

class ProfileCommand final : public Command {
public:
  explicit ProfileCommand(CLI::App &app) {
    flags_.sources.addTo(app);
    app.get_option("files")->required();
    addProgram(app, flags_.program);
    flags_.config.addPlace(app);
    app.add_option("--candidate", flags_.candidate,
                   "profile this version instead: the file, or its slice, with the kernel's code "
                   "changed");
    app.add_option("--launch", flags_.launch,
                   "launch of the workload to profile, by name (default: the one with the largest "
                   "weight)");
    CLI::Option *ncu = app.add_flag("--ncu", flags_.ncu,
                                    "add Nsight Compute's sections, advice and counts by line "
                                    "(takes seconds)");
    app.add_option("--sections", flags_.sections,
                   "Nsight Compute sections to collect, by identifier, separated by commas "
                   "(default: its set 'detailed')")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->needs(ncu)
        ->check(checkSectionName);
    app.add_flag("--access", flags_.accesses,
                 "only say where each access of the kernel goes: how far apart the threads of a "
                 "warp are, and what loops do to it; nothing runs")
        ->excludes(ncu);
    app.add_option("--lines", flags_.lines, "number of hot lines to print (default 10)")
        ->check(CLI::Range(0, 1000));
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const ProfileRequest request, requestOf(call.rest));
    KOPT_TRY(const std::vector<ProfileReport> reports, profileFile(call.services, request));
    Answer answer;
    for (const ProfileReport &report : reports) {
      answer.results.push_back(flags_.accesses ? accessesJson(report) : toJson(report));
      if (call.json)
        continue;
      if (answer.results.size() > 1)
        std::cout << "\n";
      if (flags_.accesses)
        printAccesses(report);
      else
        print(report, flags_.lines);
    }
    return answer;
  }

private:
  Result<ProfileRequest> requestOf(const std::vector<std::string> &nvccFlags) const {
    KOPT_TRY(const Config config, flags_.config.load(flags_.sources.files));
    KOPT_TRY(KernelRequest kernels,
             kernelRequest(config, flags_.sources, nvccFlags, flags_.program));
    ProfileRequest request{std::move(kernels)};
    if (!flags_.candidate.empty()) {
      request.candidate = fs::absolute(flags_.candidate);
      if (!fs::is_regular_file(request.candidate))
        return makeError(ErrorCode::Usage,
                         fmt::format("file {} does not exist", request.candidate.string()),
                         "give the changed file with --candidate");
    }
    request.launch = flags_.launch;
    request.ncu = flags_.ncu;
    request.accesses = flags_.accesses;
    request.sections = flags_.sections;
    return request;
  }

  ProfileFlags flags_;
};

} // namespace

std::unique_ptr<Command> makeProfile(CLI::App &app) {
  return std::make_unique<ProfileCommand>(app);
}

} // namespace kopt
