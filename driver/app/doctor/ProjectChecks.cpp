// SPDX-License-Identifier: Apache-2.0
#include "driver/app/doctor/ProjectChecks.h"

#include "driver/app/integrate/CheckFlow.h"
#include "driver/app/services/Sources.h"
#include "driver/compare/versions/Repository.h"
#include "driver/integrate/patch/Patch.h"
#include "driver/store/Store.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

class ProjectChecks {
public:
  ProjectChecks(ProcessRunner &processes, const ProjectPlaces &places)
      : processes_(processes), places_(places) {}

  std::vector<MachineCheck> check() {
    checkStore();
    checkCompileCommands();
    checkTunedKernels();
    checkRepository();
    return std::move(checks_);
  }

private:
  void checkStore() {
    const fs::path file = places_.root / ".kopt" / "kopt.db";
    if (!isThere(file))
      return;
    const auto runs = countRuns(file);
    if (!runs) // a run is recorded there, or does not begin
      checks_.push_back(failed("database", CheckOutcome::Blocking, runs.error()));
    else
      checks_.push_back(passed("database", file.string() + ": " + counted(*runs, "run", "runs")));
  }

  void checkCompileCommands() {
    SourceSettings sources;
    sources.buildDirectory = places_.buildFolder;
    if (sources.buildDirectory.empty())
      for (const fs::path &usual : {places_.root / "build", places_.root})
        if (sources.buildDirectory.empty() && isThere(usual / "compile_commands.json"))
          sources.buildDirectory = usual;
    if (sources.buildDirectory.empty())
      return;
    const auto found = withDatabaseFiles(sources);
    if (!found)
      checks_.push_back(failed("compile database",
                               places_.buildGiven ? CheckOutcome::Blocking : CheckOutcome::Optional,
                               found.error()));
    else
      checks_.push_back(
          passed("compile database", sources.buildDirectory.string() + ": " +
                                         counted(found->files.size(), "CUDA file", "CUDA files")));
  }

  void checkTunedKernels() {
    std::vector<fs::path> folders{places_.lockFolder};
    if (!places_.buildFolder.empty())
      if (auto used = lockFoldersOf(places_.buildFolder))
        folders = std::move(*used);
    for (const fs::path &folder : folders)
      if (isThere(folder / "kopt.lock"))
        checkLockIn(folder);
  }

  void checkLockIn(const fs::path &folder) {
    const auto kernels = checkLock(folder, places_.buildFolder);
    if (!kernels) {
      checks_.push_back(failed("kopt.lock", CheckOutcome::Optional, kernels.error()));
      return;
    }
    const auto count = [&](TunedState state) {
      return std::count_if(kernels->begin(), kernels->end(),
                           [&](const TunedKernel &kernel) { return kernel.state == state; });
    };
    const auto stale = count(TunedState::Stale), regressed = count(TunedState::Regressed);
    const std::string text =
        fmt::format("{}: {} tuned, {} stale, {} regressed", (folder / "kopt.lock").string(),
                    count(TunedState::Tuned), stale, regressed);
    if (stale + regressed > 0)
      checks_.push_back(failed("kopt.lock", CheckOutcome::Optional, text,
                               "'kopt check' names them; tune them again"));
    else
      checks_.push_back(passed("kopt.lock", text));
  }

  /// kopt ci compares commits; everything else works without git.
  void checkRepository() {
    if (!isThere(patchRoot({places_.root}) / ".git"))
      return;
    const auto repository = Repository::open(processes_, places_.root);
    const Result<bool> dirty =
        repository ? repository->isDirty() : Result<bool>(tl::unexpected(repository.error()));
    if (!dirty) {
      Error error = dirty.error();
      // The hint of kopt ci is to start it elsewhere, which is of no use here.
      error.hint = repository || error.code != ErrorCode::Usage
                       ? "'kopt ci' needs git; nothing else does"
                       : "git says what it wants; 'kopt ci' needs it, nothing else does";
      checks_.push_back(failed("git", CheckOutcome::Optional, error));
      return;
    }
    checks_.push_back(
        passed("git", *dirty ? fmt::format("{}, with changes that are not committed: 'kopt apply' "
                                           "would add its own to them",
                                           repository->top().string())
                             : fmt::format("{}, nothing uncommitted", repository->top().string())));
  }

  ProcessRunner &processes_;
  const ProjectPlaces &places_;
  std::vector<MachineCheck> checks_;
};

} // namespace

std::vector<MachineCheck> checkProject(ProcessRunner &processes, const ProjectPlaces &places) {
  return ProjectChecks(processes, places).check();
}

} // namespace kopt
