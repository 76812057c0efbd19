// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/TrialExplainer.h"

#include "driver/app/ReportFlow.h"
#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/model/Json.h"
#include "driver/support/Text.h"

namespace kopt {
namespace {

class ExplainCommand final : public Command {
public:
  explicit ExplainCommand(CLI::App &app) {
    app.add_option("run", runId_, "name of a recorded run (default latest)");
    app.add_option("trial", trial_,
                   "one candidate: its number in the report, or the beginning of its hash");
    config_.addManifest(app);
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, config_.load({}));
    if (runId_ != "latest") {
      KOPT_TRY(const std::optional<SessionRecord> session,
               findSession(projectRoot(config), runId_));
      if (session)
        return askForRun(*session);
    }
    KOPT_TRY(const RunHistory history, findRun(projectRoot(config), runId_));
    std::vector<Explanation> explanations;
    if (trial_.empty()) {
      explanations = explainRun(history);
    } else {
      KOPT_TRY(explanations, explainTrial(history, trial_));
    }
    call.print("{}", inText(explanations));
    Answer answer;
    answer.details["run"] = history.run.name;
    answer.results = toJson(explanations);
    return answer;
  }

private:
  /// Decisions are those of a run.
  static Result<Answer> askForRun(const SessionRecord &session) {
    std::vector<std::string> runs;
    for (const SessionWin &win : session.wins)
      runs.push_back(win.runName);
    return makeError(ErrorCode::Usage, "'" + session.name + "' is a session, not a run",
                     "name one of its runs: " + join(runs, ", ") +
                         "; 'kopt report' says what became of each win");
  }

  ConfigFlags config_;
  std::string runId_ = "latest", trial_;
};

} // namespace

std::unique_ptr<Command> makeExplain(CLI::App &app) {
  return std::make_unique<ExplainCommand>(app);
}

} // namespace kopt
