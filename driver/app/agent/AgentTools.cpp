// SPDX-License-Identifier: Apache-2.0
#include "driver/app/agent/AgentTools.h"

#include "driver/app/agent/KoptChild.h"
#include "driver/app/tools/AgentTexts.h"
#include "driver/app/tools/ProjectFiles.h"
#include "driver/model/Json.h"
#include "driver/support/Hash.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;
using nlohmann::json;

const std::map<std::string, AgentTools::Operation> &AgentTools::operations() {
  static const std::map<std::string, Operation> kAll = {
      {"list", {&AgentTools::list}},        {"kernel", {&AgentTools::kernel, true}},
      {"compile", {&AgentTools::judge}},    {"check", {&AgentTools::judge, true}},
      {"time", {&AgentTools::judge, true}}, {"profile", {&AgentTools::profile, true}},
      {"sass", {&AgentTools::sass}},        {"read", {&AgentTools::read}},
      {"search", {&AgentTools::search}},    {"history", {&AgentTools::history}},
      {"tune", {&AgentTools::tune, true}},  {"submit", {&AgentTools::tune, true}},
      {"apply", {&AgentTools::apply}},
  };
  return kAll;
}

Result<AgentTools> AgentTools::make(AgentBench &bench, ProcessRunner &processes, const Clock &clock,
                                    AgentSettings settings) {
  KOPT_TRY(TemporaryDirectory scratch, TemporaryDirectory::create("kopt-agent"));
  return AgentTools(bench, processes, clock, std::move(settings), std::move(scratch));
}

ToolResult AgentTools::call(const Tool &tool, const json &arguments, const ToolCall &call) {
  const Operation &operation = operations().at(tool.name);
  if (operation.usesDevice && used_ >= settings_.budgetSeconds)
    return {fmt::format("the budget of {:.0f} s of work on the device is used up: the user may "
                        "start the server with a larger --budget-seconds",
                        settings_.budgetSeconds),
            true};
  bench_.attend(&call);
  const auto start = clock_.now();
  Result<ToolResult> result = (this->*operation.run)({tool.name, arguments, call});
  bench_.attend(nullptr);
  if (operation.usesDevice)
    used_ += Duration(clock_.now() - start).count();
  if (result)
    return std::move(*result);
  return failed(result.error());
}

Result<fs::path> AgentTools::candidateOf(const json &arguments, bool needed) {
  const bool hasSource = arguments.contains("source"), hasFile = arguments.contains("file");
  if (hasSource && hasFile)
    return makeError(ErrorCode::Usage, "give the candidate as `source` or as `file`, not as both");
  if (needed && !hasSource && !hasFile)
    return makeError(ErrorCode::Usage, "there is no candidate", "give its `source` or its `file`");
  if (!hasSource)
    return hasFile ? projectFile(settings_.project, textIn(arguments, "file")) : fs::path();
  const fs::path file = scratch_.path() / fmt::format("candidate-{}.cu", ++written_);
  KOPT_CHECK(writeFileAtomically(file, textIn(arguments, "source")));
  return file;
}

Result<ToolResult> AgentTools::list(const Request &) {
  KOPT_TRY(const std::vector<AgentKernel> kernels, bench_.kernels());
  return described(kernels);
}

Result<ToolResult> AgentTools::kernel(const Request &request) {
  KOPT_TRY(const KernelView view, bench_.view(textIn(request.arguments, "kernel")));
  return described(view);
}

/// A real trial of a text that was timed before is not repeated: the judge would call it a
/// duplicate of itself.
Result<ToolResult> AgentTools::judge(const Request &request) {
  const Stage upTo = request.tool == "compile" ? Stage::Build
                     : request.tool == "check" ? Stage::Verify
                                               : Stage::Time;
  KOPT_TRY(const fs::path file, candidateOf(request.arguments, true));
  KOPT_TRY(const std::string text, readFile(file));
  const std::string kernel = textIn(request.arguments, "kernel"), key = hashFields(kernel, text);
  if (upTo == Stage::Time && timed_.contains(key)) {
    ToolResult known = described(timed_.at(key));
    known.text = "This text was timed before, and came to:\n" + known.text;
    return known;
  }
  KOPT_TRY(const TrialOutcome outcome, bench_.judge(kernel, file, upTo));
  if (upTo == Stage::Time)
    timed_.emplace(key, outcome);
  attempts_.push_back({{"kernel", outcome.label},
                       {"tool", request.tool},
                       {"candidate", file.filename().string()},
                       {"verdict", toString(outcome.trial.verdict)},
                       {"reason", outcome.trial.reason}});
  ToolResult result = described(outcome);
  if (upTo == Stage::Build && outcome.trial.verdict == Verdict::Ambiguous) {
    const Result<MachineCode> code = bench_.code(kernel, file);
    result.text += factsOf(code);
    result.data["counters"] = code ? code->facts : Counters();
  }
  return result;
}

Result<ToolResult> AgentTools::profile(const Request &request) {
  KOPT_TRY(const fs::path file, candidateOf(request.arguments, false));
  KOPT_TRY(const ProfileReport report, bench_.profile(textIn(request.arguments, "kernel"), file,
                                                      request.arguments.value("ncu", false)));
  return described(report);
}

Result<ToolResult> AgentTools::sass(const Request &request) {
  KOPT_TRY(const fs::path file, candidateOf(request.arguments, false));
  KOPT_TRY(const MachineCode code, bench_.code(textIn(request.arguments, "kernel"), file));
  return listed(code, request.arguments);
}

Result<ToolResult> AgentTools::read(const Request &request) {
  return linesOf(settings_.project, request.arguments);
}

Result<ToolResult> AgentTools::search(const Request &request) {
  KOPT_TRY(const std::vector<Passage> found, bench_.passages(textIn(request.arguments, "words")));
  return described(found);
}

Result<ToolResult> AgentTools::history(const Request &request) {
  const std::string kernel = textIn(request.arguments, "kernel");
  std::vector<std::string> names{kernel};
  if (kernel.empty()) {
    KOPT_TRY(const std::vector<AgentKernel> all, bench_.kernels());
    names.clear();
    for (const AgentKernel &one : all)
      names.push_back(one.name);
  }
  json attempts = json::array(), memos = json::array();
  for (const json &attempt : attempts_)
    if (kernel.empty() || attempt["kernel"] == kernel)
      attempts.push_back(attempt);
  for (const std::string &name : names) {
    KOPT_TRY(const std::vector<Memo> known, bench_.memos(name));
    for (const Memo &memo : known)
      memos.push_back(toJson(memo));
  }
  return describedHistory(attempts, memos);
}

Result<ToolResult> AgentTools::tune(const Request &request) {
  const bool isSubmitted = request.tool == "submit";
  fs::path candidate;
  if (isSubmitted) {
    KOPT_TRY(candidate, candidateOf(request.arguments, true));
  }
  // Only a kernel that there is becomes a word of the command.
  KOPT_TRY(const KernelView view, bench_.view(textIn(request.arguments, "kernel")));
  const double seconds =
      std::min(request.arguments.value("seconds", 300.0), settings_.budgetSeconds - used_);
  std::vector<std::string> words{"tune"}; // the files first: options that take lists are greedy
  words.insert(words.end(), settings_.files.begin(), settings_.files.end());
  words.insert(words.end(), {"--json", "--kernel=" + view.subject.label,
                             fmt::format("--budget-seconds={:.0f}", std::max(1.0, seconds))});
  if (isSubmitted)
    words.insert(words.end(), {"--candidate=" + candidate.string(), "--proposers=given"});
  if (!settings_.nvccFlags.empty())
    words.push_back("--");
  words.insert(words.end(), settings_.nvccFlags.begin(), settings_.nvccFlags.end());
  KOPT_TRY(const json printed, runKopt(processes_, words, request.call));
  ToolResult result = described(printed);
  attempts_.push_back({{"kernel", view.subject.label},
                       {"tool", request.tool},
                       {"candidate", candidate.filename().string()},
                       {"verdict", result.failed ? "failed" : "done"},
                       {"reason", result.text}});
  return result;
}

Result<ToolResult> AgentTools::apply(const Request &request) {
  const std::string run = request.arguments.value("run", std::string("latest"));
  if (!settings_.mayApply)
    return ToolResult{fmt::format("The user applies it, in {}: kopt apply --run-id {}",
                                  settings_.project.string(), run)};
  KOPT_TRY(const json printed,
           runKopt(processes_, {"apply", "--json", "--run-id=" + run}, request.call));
  return described(printed);
}

} // namespace kopt
