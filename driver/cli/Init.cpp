// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ListFlow.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/support/Text.h"

namespace kopt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class InitCommand final : public Command {
public:
  explicit InitCommand(CLI::App &app) {
    sources_.addTo(app);
    app.add_option("--kernel", kernels_,
                   "kernels to write clauses for, by name or glob (default: all of the files)");
    app.add_flag("-n,--dry-run", dryRun_, "print the clauses and write nothing");
  }

  Result<Answer> run(Invocation &call) override {
    InitSettings settings;
    KOPT_TRY(settings.sources, sources_.settings(call.rest));
    KOPT_TRY(const Config config, ConfigFlags().load(sources_.files));
    settings.selection = {kernels_, config.kernels};
    const fs::path folder = sources_.files.empty()
                                ? fs::current_path()
                                : fs::absolute(sources_.files.front()).parent_path();
    settings.file = nearestConfig(folder);
    if (settings.file.empty())
      settings.file = folder / "kopt.toml";
    settings.dryRun = dryRun_;
    KOPT_TRY(const std::vector<InitKernel> kernels, initKernels(call.services, settings));
    Answer answer;
    answer.details = {{"file", settings.file.string()},
                      {"written", !dryRun_ && hasClauses(kernels)}};
    for (const InitKernel &kernel : kernels) {
      json clauses = json::array();
      for (const InferredClause &clause : kernel.clauses)
        clauses.push_back({{"clause", clause.text},
                           {"comment", clause.comment},
                           {"check", clause.isGuess},
                           {"doubt", clause.isDoubt}});
      answer.results.push_back({{"kernel", kernel.name}, {"clauses", clauses}});
      if (!kernel.leftOut.empty())
        answer.results.back()["left_out"] = kernel.leftOut;
      call.print("{}\n", kernel.table());
    }
    std::string tune = "kopt tune " + join(sources_.files, " ");
    if (!sources_.buildDirectory.empty())
      tune += (sources_.files.empty() ? "-p " : " -p ") + sources_.buildDirectory;
    if (!call.rest.empty())
      tune += " -- " + join(call.rest, " ");
    if (!hasClauses(kernels))
      call.print("every kernel has the clauses that it needs\n");
    else if (dryRun_)
      call.print("not written to {}\n", settings.file.string());
    else
      call.print("written to {}: check the lines that say so, then type '{}'\n",
                 settings.file.string(), tune);
    return answer;
  }

private:
  SourceFlags sources_;
  std::vector<std::string> kernels_;
  bool dryRun_ = false;
};

} // namespace

std::unique_ptr<Command> makeInit(CLI::App &app) { return std::make_unique<InitCommand>(app); }

} // namespace kopt
