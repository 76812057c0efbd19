// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ApplyFlow.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"

#include <fmt/format.h>
#include <iostream>

namespace kopt {
namespace {

class ApplyCommand final : public Command {
public:
  explicit ApplyCommand(CLI::App &app) {
    addRunId(app, runId_);
    config_.addManifest(app);
    app.add_flag("--check", options_.checkOnly, "print what would change, and write nothing");
    app.add_flag("--modelled", options_.modelled,
                 "apply wins whose times are modelled, not measured");
    app.add_flag("--unconfirmed", options_.unconfirmed,
                 "apply wins that were measured and not confirmed in the program");
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, config_.load({}));
    KOPT_TRY(const std::vector<AppliedFile> files, applyRun(projectRoot(config), runId_, options_));
    Answer answer;
    for (const AppliedFile &file : files) {
      answer.results.push_back({{"file", file.file.string()},
                                {"changed", !options_.checkOnly},
                                {"lines_added", file.linesAdded},
                                {"lines_removed", file.linesRemoved}});
      if (!call.json)
        std::cout << fmt::format("{}{}: +{} -{}\n",
                                 options_.checkOnly ? "would change " : "changed ",
                                 file.file.string(), file.linesAdded, file.linesRemoved);
    }
    return answer;
  }

private:
  ConfigFlags config_;
  std::string runId_ = "latest";
  ApplyOptions options_;
};

} // namespace

std::unique_ptr<Command> makeApply(CLI::App &app) { return std::make_unique<ApplyCommand>(app); }

} // namespace kopt
