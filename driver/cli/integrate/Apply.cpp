// SPDX-License-Identifier: Apache-2.0
#include "driver/app/integrate/ApplyFlow.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"

namespace kopt {
namespace {

class ApplyCommand final : public Command {
public:
  explicit ApplyCommand(CLI::App &app) {
    addRunId(app, runId_);
    config_.addManifest(app);
    config_.add(app, {"mode"});
    app.add_option("--folder", folder_, "folder of the header mode (default kopt, beside .kopt)");
    config_.add(app, {"archs"});
    app.add_flag("--check", options_.checkOnly, "print what would change, and write nothing");
    app.add_flag("--modelled", options_.modelled,
                 "apply wins whose times are modelled, not measured");
    app.add_flag("--unconfirmed", options_.unconfirmed,
                 "apply wins that were measured and not confirmed in the program");
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, config_.load({}));
    Answer answer;
    answer.details["mode"] = config.settings.mode;
    if (config.settings.mode == "header") {
      HeaderRequest request;
      request.folder = headerFolder(config, folder_);
      if (const auto build = config.manifest.find("build_dir"); build != config.manifest.end())
        request.buildFolder = build->second;
      request.archs = config.settings.archs;
      request.checkOnly = options_.checkOnly;
      KOPT_TRY(const HeaderChange change,
               applyToHeaders(projectRoot(config), runId_, options_, request));
      for (const std::string &note : change.notes) {
        answer.notes.push_back(note);
        if (!call.json)
          printNote(note, call.services.terminal);
      }
      add(change.files, answer, call);
      return answer;
    }
    KOPT_TRY(const std::vector<AppliedFile> files, applyRun(projectRoot(config), runId_, options_));
    add(files, answer, call);
    return answer;
  }

private:
  void add(const std::vector<AppliedFile> &files, Answer &answer, const Invocation &call) const {
    for (const AppliedFile &file : files) {
      answer.results.push_back({{"file", file.file.string()},
                                {"changed", !options_.checkOnly},
                                {"lines_added", file.lines.added},
                                {"lines_removed", file.lines.removed}});
      call.print("{}{}: +{} -{}\n", options_.checkOnly ? "would change " : "changed ",
                 file.file.string(), file.lines.added, file.lines.removed);
      if (!file.flags.empty())
        addNotes({flagsInWords(file.file.string(), file.flags)}, answer, call.services.terminal);
    }
  }

  ConfigFlags config_;
  std::string runId_ = "latest", folder_;
  ApplyOptions options_;
};

} // namespace

std::unique_ptr<Command> makeApply(CLI::App &app) { return std::make_unique<ApplyCommand>(app); }

} // namespace kopt
