// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tools/AgentTexts.h"

#include "driver/app/ProfileText.h"
#include "driver/app/tools/ProjectFiles.h"
#include "driver/app/trial/TrialText.h"
#include "driver/diagnose/CounterTable.h"
#include "driver/judge/Statistics.h"
#include "driver/model/Json.h"
#include "driver/search/model/SectionTexts.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"
#include "knowledge/ToolFiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <sstream>

namespace kopt {
namespace {

using nlohmann::json;

constexpr std::size_t kMostPassage = 2000, kMostLines = 20;

std::string head(const std::string &text, std::size_t most) {
  return text.size() > most ? text.substr(0, most) + "\n[the rest is left out]" : text;
}

std::string dims(const Dim3 &dim) { return fmt::format("{}x{}x{}", dim.x, dim.y, dim.z); }

std::string launchText(const TuneSubject &subject, const Launch &launch) {
  std::string text = fmt::format(
      "- {}: {} of its time, grid {}, block {}, {} bytes of dynamic shared memory; {}\n",
      launch.name, formatPercent(launch.weight), dims(launch.grid), dims(launch.block),
      launch.sharedBytes, valuesText(subject.kernel, subject.specialization, launch));
  for (const Buffer &buffer : launch.buffers)
    text += fmt::format("  {}: {} bytes of {}{}\n", buffer.name, buffer.bytes, buffer.scalar,
                        buffer.readOnly ? ", only read" : "");
  return text;
}

std::string skillLinks(const Diagnosis &diagnosis) {
  std::set<std::string> skills;
  for (const RuleHit &hit : diagnosis.hits)
    skills.insert(hit.skills.begin(), hit.skills.end());
  return skills.empty() ? ""
                        : fmt::format("kopt://skill/{}\n", fmt::join(skills, " kopt://skill/"));
}

/// Without what no model reads.
json brief(json object, std::initializer_list<const char *> without) {
  for (const char *name : without)
    object.erase(name);
  return object;
}

/// A look cannot decide for a candidate, so its verdict is open.
bool isPassedLook(const Trial &trial) {
  return trial.stage < Stage::Time && trial.verdict == Verdict::Ambiguous;
}

} // namespace

std::vector<Tool> agentTools() {
  std::vector<Tool> tools;
  for (const json &tool : json::parse(knowledge::tools::kFiles.front().second))
    tools.push_back(
        {tool["name"], tool["description"], tool["input"], tool.value("changes_files", false)});
  return tools;
}

ToolResult described(const std::vector<AgentKernel> &kernels) {
  std::string text;
  for (const AgentKernel &kernel : kernels) {
    text +=
        fmt::format("- {}{}{}{}\n", kernel.name,
                    kernel.file.empty() ? "" : fmt::format(" ({}:{})", kernel.file, kernel.line),
                    kernel.share ? ", " + formatPercent(*kernel.share) + " of the kernel time" : "",
                    kernel.leftOut.empty() ? "" : ": left out: " + kernel.leftOut);
  }
  return {text, false, {{"kernels", toJson(kernels)}}};
}

ToolResult described(const KernelView &view) {
  const auto &[subject, workload, baseline, device, diagnosis, share] = view;
  const Specialization &own = subject.specialization;
  std::string text = fmt::format("{} ({}:{}), on {}{}{}\n", subject.label, subject.kernel.file,
                                 subject.kernel.line, device.name,
                                 device.modelled ? ", emulated: times are modelled" : "",
                                 share ? ", " + formatPercent(*share) + " of the kernel time" : "");
  json launches = json::array(), others = json::array();
  text += "\nParameters\n";
  for (const KernelParam &param : own.params)
    text += fmt::format("- {}: {}\n", param.name, param.type);
  text += "\nLaunches\n";
  for (const Launch &launch : workload.launches) {
    text += launchText(subject, launch);
    launches.push_back(brief(toJson(launch), {"buffers", "arguments"}));
  }
  for (const LaunchTiming &timing : baseline.timings)
    text += fmt::format("- {} takes {}\n", timing.launch, formatDuration(timing.baselineSeconds));
  text += "Outputs are compared: " + toleranceText(workload.tolerance) + "\n";
  if (!subject.declaration.requirements.empty())
    text += "\nThe user requires: " + join(subject.declaration.requirements, "; ") + "\n";
  for (const TunableParam &param : subject.declaration.params)
    text +=
        fmt::format("The user lets {} be one of {}\n", param.name, fmt::join(param.values, ", "));
  for (const Specialization &other : subject.kernel.specializations)
    if (other.symbol != own.symbol)
      others.push_back(other.expression);
  if (!others.empty())
    text += "\nOther instantiations, which the same text has to serve: " +
            join(others.get<std::vector<std::string>>(), ", ") + "\n";
  if (const auto &module = baseline.resources; module && module->registers > 0)
    text += fmt::format("\n{} registers, {} bytes of shared and {} of local memory\n",
                        module->registers, module->sharedBytes, module->localBytes);
  std::ostringstream bound;
  printDiagnosis(bound, diagnosis);
  text += bound.str() + skillLinks(diagnosis) + "\nThe slice\n" + subject.sliceText;
  return {text,
          false,
          {{"kernel", subject.label},
           {"file", subject.kernel.file},
           {"line", subject.kernel.line},
           {"share", share ? json(*share) : json()},
           {"modelled", device.modelled},
           {"launches", launches},
           {"requirements", subject.declaration.requirements},
           {"instantiations", others},
           {"diagnosis", toJson(diagnosis)},
           {"source", subject.sliceText}}};
}

ToolResult described(const TrialOutcome &outcome) {
  const Trial &trial = outcome.trial;
  std::string text =
      isPassedLook(trial) ? outcome.label + ": " + trial.reason + "\n" : inText(outcome);
  json launches = json::array();
  for (const LaunchTiming &timing : trial.timings) {
    text += fmt::format("  {}: {}, {} instead of {}\n", timing.launch, inWords(timing.speedup),
                        formatDuration(timing.candidateSeconds),
                        formatDuration(timing.baselineSeconds));
    launches.push_back({{"launch", timing.launch}, {"speedup", toJson(timing.speedup)}});
  }
  json data = brief(toJson(outcome), {"stages", "baseline", "sandbox"});
  data["launches"] = launches;
  if (isPassedLook(trial))
    data["verdict"] = "Passed";
  return {text, false, data};
}

ToolResult described(const ProfileReport &report) {
  std::ostringstream text;
  print(text, report, kMostLines);
  text << skillLinks(report.diagnosis);
  return {text.str(), false,
          brief(toJson(report), {"lines", "ncu", "sandbox", "rules_skipped", "states_skipped"})};
}

std::string factsOf(const Result<MachineCode> &code) {
  if (!code)
    return "registers and spills: " + inWords(code.error()) + "\n";
  std::string text = "machine code for " + code->arch + "\n";
  for (const auto &[label, value] : describeCounters(code->facts))
    text += fmt::format("{}: {}\n", label, value);
  return text;
}

Result<ToolResult> linesOf(const std::filesystem::path &project, const json &arguments) {
  KOPT_TRY(std::string text,
           projectLines(project, textIn(arguments, "file"), arguments.value("from", std::size_t(1)),
                        arguments.value("lines", std::size_t(400))));
  return ToolResult{std::move(text)};
}

ToolResult failed(const Error &error) {
  return {(error.where.empty() ? "" : error.where + ": ") + inWords(error), true};
}

Result<ToolResult> listed(const MachineCode &code, const json &arguments) {
  if (!code.listing)
    return tl::unexpected(code.listing.error());
  const auto from = arguments.value("from", std::size_t(1)),
             most = arguments.value("lines", std::size_t(200));
  std::string text = factsOf(code);
  std::size_t at = 0;
  for (const SassFunction *function : code.listing->reachableFrom(code.symbol)) {
    std::string place;
    for (const SassInstruction &instruction : function->instructions) {
      if (++at < from || at >= from + most)
        continue;
      const std::string own = instruction.frames.empty() ? "" : placeOf(instruction.frames.front());
      text +=
          fmt::format("{:>5} {:04x} {}{}{} {}{}\n", at, instruction.offset, instruction.predicate,
                      instruction.predicate.empty() ? "" : " ", instruction.opcode,
                      instruction.operands, own == place || own.empty() ? "" : "  // " + own);
      place = own;
    }
  }
  if (at >= from + most)
    text += fmt::format("[{} more instructions: from = {}]\n", at + 1 - from - most, from + most);
  return ToolResult{
      text, false, {{"arch", code.arch}, {"counters", code.facts}, {"instructions", at}}};
}

ToolResult described(const std::vector<Passage> &passages) {
  std::string text;
  for (const Passage &passage : passages) {
    text += fmt::format("{} ({}:{}:{})\n{}\n\n", passage.heading, passage.source, passage.file,
                        passage.line, head(std::string(trim(passage.text)), kMostPassage));
  }
  return {text.empty() ? "no passage has any of these words" : text,
          false,
          {{"passages", toJson(passages)}}};
}

ToolResult describedHistory(const json &attempts, const json &memos) {
  std::string text = "In this session\n";
  for (const json &attempt : attempts)
    text += fmt::format("- {}: {} {}: {}: {}\n", textIn(attempt, "kernel"), textIn(attempt, "tool"),
                        textIn(attempt, "candidate"), textIn(attempt, "verdict"),
                        replaceAll(textIn(attempt, "reason"), "\n", " "));
  if (attempts.empty())
    text += "- nothing was tried\n";
  for (const json &memo : memos) {
    text += fmt::format("In earlier runs: {} ({}) on {}\n", textIn(memo, "kernel"),
                        textIn(memo, "program"), textIn(memo, "arch"));
    for (const json &line : memo["lines"])
      text += fmt::format("- {}\n", line.get<std::string>());
  }
  return {text, false, {{"attempts", attempts}, {"memos", memos}}};
}

ToolResult described(const json &envelope) {
  std::string text;
  const json error = envelope.value("error", json());
  if (error.is_object())
    text += fmt::format("{}{}{}\n", textIn(error, "what"),
                        textIn(error, "hint").empty() ? "" : "; ", textIn(error, "hint"));
  for (const json &result : envelope.value("results", json::array())) {
    if (!result.is_object())
      continue;
    text += fmt::format("{} ({}): {}\n", textIn(result, "kernel"), textIn(result, "run"),
                        textIn(result, "stop_reason"));
    for (const json &given : result.value("given", json::array()))
      text +=
          fmt::format("the candidate: {}: {}\n", textIn(given, "verdict"), textIn(given, "reason"));
    if (const json winner = result.value("winner", json()); winner.is_object())
      text +=
          fmt::format("winner: {}, {:.3f}x; patch: {}; report: kopt://report/{}\n",
                      textIn(winner, "title"), winner.value("/speedup/estimate"_json_pointer, 1.0),
                      textIn(winner, "patch"), textIn(result, "run"));
    else if (result.contains("winner"))
      text += "nothing faster was found\n";
    if (result.contains("file"))
      text += fmt::format("{} {}\n", result.value("changed", false) ? "changed" : "would change",
                          textIn(result, "file"));
  }
  if (const json session = envelope.value("/details/session"_json_pointer, json());
      session.is_object())
    text += textIn(session, "headline") + "\n";
  return {text,
          error.is_object(),
          {{"results", envelope.value("results", json::array())},
           {"details", envelope.value("details", json::object())},
           {"error", error}}};
}

} // namespace kopt
