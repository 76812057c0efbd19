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
    app.add_flag("--check", checkOnly_, "print what would change, and write nothing");
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, config_.load({}));
    KOPT_TRY(const std::vector<AppliedFile> files,
             applyRun(projectRoot(config), runId_, checkOnly_));
    Answer answer;
    for (const AppliedFile &file : files) {
      answer.results.push_back({{"file", file.file.string()},
                                {"changed", !checkOnly_},
                                {"lines_added", file.linesAdded},
                                {"lines_removed", file.linesRemoved}});
      if (!call.json)
        std::cout << fmt::format("{}{}: +{} -{}\n", checkOnly_ ? "would change " : "changed ",
                                 file.file.string(), file.linesAdded, file.linesRemoved);
    }
    return answer;
  }

private:
  ConfigFlags config_;
  std::string runId_ = "latest";
  bool checkOnly_ = false;
};

} // namespace

std::unique_ptr<Command> makeApply(CLI::App &app) { return std::make_unique<ApplyCommand>(app); }

} // namespace kopt
