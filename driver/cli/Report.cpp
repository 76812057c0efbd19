// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ReportFlow.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/report/SessionReport.h"

#include <iostream>

namespace kopt {
namespace {

class ReportCommand final : public Command {
public:
  explicit ReportCommand(CLI::App &app) {
    addRunId(app, runId_);
    config_.addManifest(app);
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, config_.load({}));
    Answer answer;
    if (runId_ != "latest") {
      KOPT_TRY(const std::optional<SessionRecord> session,
               findSession(projectRoot(config), runId_));
      if (session) {
        if (call.json)
          answer.results.push_back(nlohmann::json::parse(renderSessionJson(*session)));
        else
          std::cout << renderSession(*session);
        return answer;
      }
    }
    KOPT_TRY(const RunHistory history, findRun(projectRoot(config), runId_));
    if (call.json)
      answer.results.push_back(nlohmann::json::parse(renderJson(history)));
    else
      std::cout << (history.session && runId_ == "latest" ? renderSession(*history.session) + "\n"
                                                          : std::string())
                << renderMarkdown(history);
    return answer;
  }

private:
  ConfigFlags config_;
  std::string runId_ = "latest";
};

} // namespace

std::unique_ptr<Command> makeReport(CLI::App &app) { return std::make_unique<ReportCommand>(app); }

} // namespace kopt
