// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ReportFlow.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/report/RunFolder.h"
#include "driver/report/SessionReport.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <iostream>

namespace kopt {
namespace {

namespace fs = std::filesystem;

class ReportCommand final : public Command {
public:
  explicit ReportCommand(CLI::App &app) {
    addRunId(app, runId_);
    config_.addManifest(app);
    CLI::Option *format =
        app.add_option("--format", format_,
                       "what to print: `markdown`, `html` (one file that needs nothing beside it) "
                       "or `json` (default markdown)")
            ->check(CLI::IsMember({"markdown", "html", "json"}));
    app.add_flag("--open", open_,
                 "write the page into the folder of the run or session, and open it in a browser")
        ->excludes(format);
    app.add_flag("--transcripts", transcripts_,
                 "write what models were asked and what they replied into the folder of the run")
        ->excludes(format);
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, config_.load({}));
    if (transcripts_)
      return writeCalls(config, call);
    if (open_)
      return open(config, call);
    if (format_ == "html" && !call.json) {
      KOPT_TRY(const Page page, renderPage(projectRoot(config), runId_));
      std::cout << page.text;
      return Answer();
    }
    return print(config, call);
  }

private:
  static fs::path folderOf(const Config &config, const std::string &name) {
    const fs::path output = config.settings.output;
    return (output.is_absolute() ? output : projectRoot(config) / output) / name;
  }

  Result<Answer> writeCalls(const Config &config, const Invocation &call) {
    KOPT_TRY(const RunHistory history, findRun(projectRoot(config), runId_));
    const fs::path folder = folderOf(config, history.run.name);
    KOPT_CHECK(writeTranscripts(history, folder));
    Answer answer;
    answer.details = {{"calls", history.modelCalls.size()},
                      {"folder", (folder / "calls").string()}};
    call.print("{} in {}\n",
               counted(history.modelCalls.size(), "call of a model", "calls of models"),
               (folder / "calls").string());
    return answer;
  }

  Result<Answer> open(const Config &config, Invocation &call) {
    KOPT_TRY(const Page page, renderPage(projectRoot(config), runId_));
    const fs::path folder = folderOf(config, page.name);
    KOPT_CHECK(writeFileAtomically(folder / page.file, page.text));
    const std::string file = (folder / page.file).string();
    Answer answer;
    answer.details["page"] = file;
    call.print("{}\n", file);
    if (Status opened = openInBrowser(call.services.processes, file); !opened)
      answer.error = opened.error(); // the page is there all the same
    return answer;
  }

  Result<Answer> print(const Config &config, const Invocation &call) {
    const bool asJson = format_ == "json";
    Answer answer;
    const auto give = [&](const std::string &json, const std::string &markdown) {
      if (call.json)
        answer.results.push_back(nlohmann::json::parse(json));
      else
        std::cout << (asJson ? json : markdown);
      return answer;
    };
    if (runId_ != "latest") {
      KOPT_TRY(const std::optional<SessionRecord> session,
               findSession(projectRoot(config), runId_));
      if (session)
        return give(renderSessionJson(*session), renderSession(*session));
    }
    KOPT_TRY(const RunHistory history, findRun(projectRoot(config), runId_));
    return give(renderJson(history),
                (history.session && runId_ == "latest" ? renderSession(*history.session) + "\n"
                                                       : std::string()) +
                    renderMarkdown(history));
  }

  ConfigFlags config_;
  std::string runId_ = "latest", format_ = "markdown";
  bool open_ = false, transcripts_ = false;
};

} // namespace

std::unique_ptr<Command> makeReport(CLI::App &app) { return std::make_unique<ReportCommand>(app); }

} // namespace kopt
