// SPDX-License-Identifier: Apache-2.0
#include "driver/app/CleanFlow.h"

#include "driver/app/services/Sources.h"
#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/support/Text.h"

namespace kopt {
namespace {

class CleanCommand final : public Command {
public:
  explicit CleanCommand(CLI::App &app) {
    config_.addManifest(app);
    app.add_option("--keep", keep_, "runs of each kernel that stay, and sessions (default 3)")
        ->check(CLI::Range(1, 1000));
    app.add_flag("--builds", builds_,
                 "empty the build cache, of all projects, and leave the runs alone");
    app.add_flag("--dry-run", dryRun_, "only say what would be removed");
  }

  Result<Answer> run(Invocation &call) override {
    if (builds_) {
      KOPT_TRY(const FolderUse builds, cleanBuilds(dryRun_));
      call.print("{} {}, {:.1f} MB\n", counted(builds.files, "kept build", "kept builds"),
                 dryRun_ ? "would go" : "removed", double(builds.bytes) / 1e6);
      Answer answer;
      answer.details = {{"builds", builds.files}, {"bytes", builds.bytes}, {"dry_run", dryRun_}};
      return answer;
    }
    KOPT_TRY(const Config config, config_.load({}));
    const std::filesystem::path root = projectRoot(config), output = config.settings.output;
    KOPT_TRY(const Cleaned cleaned, cleanRuns({root, output.is_absolute() ? output : root / output,
                                               std::size_t(keep_), dryRun_}));
    for (const std::string &name : cleaned.removed)
      call.print("{} {}\n", dryRun_ ? "would remove" : "removed", name);
    call.print("{} {}, {:.1f} MB; {} kept\n",
               counted(cleaned.removed.size(), "run or session", "runs and sessions"),
               dryRun_ ? "would go" : "removed", double(cleaned.bytes) / 1e6, cleaned.kept.size());
    Answer answer;
    answer.details = {{"removed", cleaned.removed},
                      {"kept", cleaned.kept},
                      {"bytes", cleaned.bytes},
                      {"dry_run", dryRun_}};
    return answer;
  }

private:
  ConfigFlags config_;
  int keep_ = 3;
  bool dryRun_ = false, builds_ = false;
};

} // namespace

std::unique_ptr<Command> makeClean(CLI::App &app) { return std::make_unique<CleanCommand>(app); }

} // namespace kopt
