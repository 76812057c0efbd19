// SPDX-License-Identifier: Apache-2.0
#include "driver/app/agent/ServeAgent.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/support/FileSystem.h"

#include <fcntl.h>
#include <unistd.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;

class McpCommand final : public Command {
public:
  explicit McpCommand(CLI::App &app) : app_(app) {
    sources_.addTo(app);
    addProgram(app, program_);
    config_.addPlace(app);
    config_.addExecutor(app);
    config_.add(app, "min-gain", "smallest speedup that counts as faster, as a ratio");
    config_.add(app, {"seed", "assurance", "cache-mode"});
    config_.add(app, "budget-seconds",
                "limit on work on the device, in seconds, all calls of the agent together");
    app.add_flag("--allow-apply", mayApply_,
                 "let the agent change your files by applying wins; otherwise you do that");
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, config_.load(sources_.files));
    KOPT_TRY(KernelRequest request, kernelRequest(config, sources_, call.rest, program_));
    KOPT_CHECK(setExecutor(config, request));
    AgentSettings settings{
        fs::current_path(), {}, call.rest, config.settings.budgetSeconds, mayApply_};
    settings.files = wordsForTune();
    // Standard output has the protocol's messages alone: whoever else prints there is heard on
    // standard error.
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (out < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      return makeError(ErrorCode::Environment, "standard output is closed");
    KOPT_CHECK(
        serveAgent(call.services, request, trialOptions(config), settings, STDIN_FILENO, out));
    return Answer();
  }

private:
  /// The files and flags of this command that `kopt tune` has to have, too.
  std::vector<std::string> wordsForTune() const {
    std::vector<std::string> words = sources_.files;
    for (const CLI::Option *option : app_.get_options()) {
      const std::string name = option->get_lnames().empty() ? "" : option->get_lnames().front();
      if (option->count() == 0 || name.empty() || name == "kernel" || name == "json" ||
          name == "budget-seconds" || name == "allow-apply")
        continue;
      for (const std::string &value : option->results())
        words.push_back(fmt::format("--{}={}", name, value));
    }
    return words;
  }

  CLI::App &app_;
  SourceFlags sources_;
  ConfigFlags config_;
  std::string program_;
  bool mayApply_ = false;
};

class SkillCommand final : public Command {
public:
  explicit SkillCommand(CLI::App &app) {
    app.add_option("folder", folder_,
                   "where to write it: an agent's folder of skills, such as .claude/skills/kopt "
                   "(default kopt)");
  }

  Result<Answer> run(Invocation &call) override {
    const fs::path file = fs::path(folder_) / "SKILL.md";
    KOPT_CHECK(writeFileAtomically(file, skillText()));
    call.print("{}\n", file.string());
    Answer answer;
    answer.results.push_back({{"file", file.string()}});
    return answer;
  }

private:
  std::string folder_ = "kopt";
};

} // namespace

std::unique_ptr<Command> makeMcp(CLI::App &app) { return std::make_unique<McpCommand>(app); }
std::unique_ptr<Command> makeSkill(CLI::App &app) { return std::make_unique<SkillCommand>(app); }

} // namespace kopt
