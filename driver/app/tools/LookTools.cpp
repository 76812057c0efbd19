// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tools/LookTools.h"

#include "driver/app/KnowledgeFlow.h"
#include "driver/app/tools/AgentTexts.h"
#include "driver/app/trial/SubjectTrials.h"
#include "driver/support/JsonText.h"

#include <array>

namespace kopt {
namespace {

using nlohmann::json;

constexpr std::array kNames{"compile", "check", "profile", "sass", "read", "search"};

/// The server's tools, but for the kernel, which is known, and for candidates, which have the form
/// of the contract.
std::vector<Tool> looks() {
  std::vector<Tool> chosen;
  for (const char *name : kNames)
    for (Tool &tool : agentTools())
      if (tool.name == name) {
        json &properties = tool.input["properties"];
        properties.erase("kernel");
        if (properties.erase("source") > 0) {
          properties.erase("file");
          properties["candidate"] = {{"type", "object"},
                                     {"description", "a candidate as in a reply, with \"chunks\": "
                                                     "{label: its whole new text}; left out: the "
                                                     "present version"}};
        }
        chosen.push_back(std::move(tool));
      }
  return chosen;
}

} // namespace

LookTools::LookTools(Services &services, Workbench &bench, Judge &judge, LookSubject subject,
                     std::filesystem::path project)
    : services_(services), bench_(bench), judge_(judge), subject_(subject),
      project_(std::move(project)), tools_(looks()) {}

ToolResult LookTools::call(const Tool &tool, const Candidate &candidate, const json &arguments) {
  Result<ToolResult> result = done(tool, candidate, arguments);
  if (result)
    return std::move(*result);
  return failed(result.error());
}

Result<ToolResult> LookTools::done(const Tool &tool, const Candidate &candidate,
                                   const json &arguments) {
  ProfileRequest request{subject_.request};
  if (tool.name == "compile")
    return judged(candidate, Stage::Build);
  if (tool.name == "check")
    return judged(candidate, Stage::Verify);
  if (tool.name == "profile") {
    request.ncu = arguments.value("ncu", false);
    KOPT_TRY(const ProfileReport report, profileKernel(services_, bench_, request, subject_.subject,
                                                       subject_.workload, candidate));
    return described(report);
  }
  if (tool.name == "sass") {
    KOPT_TRY(const MachineCode code,
             machineCode(services_, bench_, request, subject_.subject, candidate));
    return listed(code, arguments);
  }
  if (tool.name == "read")
    return linesOf(project_, arguments);
  KOPT_TRY(Passages passages, openPassages());
  KOPT_TRY(const std::vector<Passage> found, passages.search(textIn(arguments, "words"), 4));
  return described(found);
}

Result<ToolResult> LookTools::judged(const Candidate &candidate, Stage upTo) {
  TrialOutcome outcome{subject_.subject.label, bench_.device(), bench_.layers(), subject_.baseline,
                       Trial()};
  KOPT_TRY(outcome.trial, judge_.judge(candidate, Purpose::Search, upTo));
  ToolResult result = described(outcome);
  if (upTo == Stage::Build && outcome.trial.verdict == Verdict::Ambiguous) {
    const Result<MachineCode> code = machineCode(
        services_, bench_, ProfileRequest{subject_.request}, subject_.subject, candidate);
    result.text += factsOf(code);
  }
  return result;
}

} // namespace kopt
