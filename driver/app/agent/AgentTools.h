// SPDX-License-Identifier: Apache-2.0
// What an agent may do with a project: each tool of knowledge/tools.json is one operation of the
// judge.
#pragma once

#include "driver/app/tools/AgentBench.h"
#include "driver/app/tools/AgentTexts.h"
#include "driver/support/Clock.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Process.h"

#include <map>

namespace kopt {

struct AgentSettings {
  std::filesystem::path project;  ///< the folder whose files may be read
  std::vector<std::string> files; ///< what follows `kopt tune`: files and flags, without a kernel
  std::vector<std::string> nvccFlags;
  double budgetSeconds = 0; ///< of work on the device, all calls together
  bool mayApply = false;    ///< without a person
};

class AgentTools final : public ToolBox {
public:
  /// All must outlive it. Fails with Environment without a folder for temporary files.
  static Result<AgentTools> make(AgentBench &bench, ProcessRunner &processes, const Clock &clock,
                                 AgentSettings settings);

  const std::vector<Tool> &tools() const override { return tools_; }
  ToolResult call(const Tool &tool, const nlohmann::json &arguments, const ToolCall &call) override;

private:
  struct Request {
    const std::string &tool;
    const nlohmann::json &arguments;
    const ToolCall &call;
  };
  struct Operation {
    Result<ToolResult> (AgentTools::*run)(const Request &);
    bool usesDevice = false;
  };
  static const std::map<std::string, Operation> &operations();

  AgentTools(AgentBench &bench, ProcessRunner &processes, const Clock &clock,
             AgentSettings settings, TemporaryDirectory scratch)
      : bench_(bench), processes_(processes), clock_(clock), settings_(std::move(settings)),
        scratch_(std::move(scratch)), tools_(agentTools()) {}

  Result<ToolResult> list(const Request &request);
  Result<ToolResult> kernel(const Request &request);
  Result<ToolResult> judge(const Request &request); ///< compile, check, time
  Result<ToolResult> profile(const Request &request);
  Result<ToolResult> sass(const Request &request);
  Result<ToolResult> read(const Request &request);
  Result<ToolResult> search(const Request &request);
  Result<ToolResult> history(const Request &request);
  Result<ToolResult> tune(const Request &request); ///< tune, submit
  Result<ToolResult> apply(const Request &request);
  /// The candidate's file. Empty, or Usage where it is `needed`: the arguments have none.
  Result<std::filesystem::path> candidateOf(const nlohmann::json &arguments, bool needed);

  AgentBench &bench_;
  ProcessRunner &processes_;
  const Clock &clock_;
  AgentSettings settings_;
  TemporaryDirectory scratch_;
  std::vector<Tool> tools_;
  std::size_t written_ = 0;                           ///< candidates
  nlohmann::json attempts_ = nlohmann::json::array(); ///< of this session, for `history`
  std::map<std::string, TrialOutcome> timed_;         ///< by the hash of kernel and text
  double used_ = 0;                                   ///< seconds of the budget
};

} // namespace kopt
