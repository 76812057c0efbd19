// SPDX-License-Identifier: Apache-2.0
#include "driver/app/agent/ServeAgent.h"

#include "driver/app/ReportFlow.h"
#include "driver/app/agent/ProjectBench.h"
#include "driver/diagnose/RuleBook.h"
#include "driver/llm/mcp/McpServer.h"
#include "driver/store/Store.h"
#include "driver/support/LineStream.h"
#include "driver/support/Text.h"
#include "knowledge/PromptFiles.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestLine = 16u << 20;
constexpr std::size_t kMostReports = 20; ///< the newest
constexpr const char *kSkill = "kopt://skill/", *kReport = "kopt://report/";

std::string promptText(std::string_view name) {
  return std::string(std::ranges::find(knowledge::prompts::kFiles, name, [](const auto &file) {
                       return file.first;
                     })->second);
}

/// kopt's skills, and the reports of recorded runs.
class AgentDocuments final : public Documents {
public:
  AgentDocuments(RuleBook rules, fs::path root) : root_(std::move(root)) {
    for (auto &[name, text] : rules.documents())
      skills_[name] = std::move(text);
  }

  std::vector<Document> list() override {
    std::vector<Document> all;
    for (const auto &[name, text] : skills_)
      all.push_back({kSkill + name, name, "what kopt knows about it", "text/markdown"});
    std::vector<RunRecord> runs;
    std::error_code ignored;
    if (const fs::path file = root_ / ".kopt" / "kopt.db"; fs::exists(file, ignored))
      if (auto store = openStore(file))
        runs = (*store)->runs().value_or(runs);
    for (std::size_t i = runs.size() - std::min(runs.size(), kMostReports); i < runs.size(); ++i)
      all.push_back({kReport + runs[i].name, runs[i].name, "the report of a run", "text/markdown"});
    return all;
  }

  std::optional<std::string> read(const std::string &uri) override {
    if (const auto skill = skills_.find(
            uri.starts_with(kSkill) ? uri.substr(std::string_view(kSkill).size()) : "");
        skill != skills_.end())
      return skill->second;
    if (!uri.starts_with(kReport))
      return std::nullopt;
    const auto history = findRun(root_, uri.substr(std::string_view(kReport).size()));
    return history ? std::optional(renderMarkdown(*history)) : std::nullopt;
  }

private:
  fs::path root_;
  std::map<std::string, std::string> skills_;
};

} // namespace

std::string skillText() { return promptText("skill.md"); }

Status serveAgent(const Services &services, const KernelRequest &request,
                  const JudgeOptions &options, const AgentSettings &settings, int in, int out) {
  ProjectBench bench(services, request, options);
  KOPT_TRY(AgentTools tools, AgentTools::make(bench, services.processes, services.clock, settings));
  KOPT_TRY(RuleBook rules, RuleBook::load());
  AgentDocuments documents(std::move(rules), request.root);
  std::atomic<bool> isClosed = false;
  McpServer server(tools, documents, promptText("agent.md"), [&](const std::string &message) {
    if (!writeAll(out, message + "\n"))
      isClosed = true;
  });
  services.terminal.line("kopt mcp: waiting for an agent's messages on standard input");
  readLines(
      in, kLongestLine, [&](std::string_view line) { server.receive(line); },
      [&] { return isClosed || (services.interrupted && *services.interrupted); });
  return {};
}

} // namespace kopt
