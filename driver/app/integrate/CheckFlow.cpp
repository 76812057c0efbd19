// SPDX-License-Identifier: Apache-2.0
#include "driver/app/integrate/CheckFlow.h"

#include "driver/integrate/header/HeaderFiles.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <fmt/format.h>
#include <set>

namespace kopt {

namespace fs = std::filesystem;

namespace {

TunedKernel checkEntry(const overlay::Entry &entry, const fs::path &folder,
                       overlay::Sources &sources) {
  TunedKernel kernel{entry.kernel,   entry.place,       (folder / entry.variants).string(),
                     entry.run,      entry.archs,       entry.speedup,
                     entry.modelled, TunedState::Tuned, {},
                     entry.regressed};
  kernel.changes = overlay::locate(entry, sources).changes;
  if (kernel.changes.empty())
    for (const overlay::Edit &edit : entry.edits) {
      overlay::Change change;
      if (!overlay::newTextOf(entry, edit, folder.string(), sources, change))
        kernel.changes.push_back(change);
    }
  if (!kernel.changes.empty())
    kernel.state = TunedState::Stale;
  else if (!kernel.regressed.empty())
    kernel.state = TunedState::Regressed;
  return kernel;
}

} // namespace

Result<overlay::Lock> readLock(const fs::path &folder) {
  if (const fs::path path = folder / "kopt.lock"; !isThere(path))
    return makeError(ErrorCode::Usage, fmt::format("there is no {}", path.string()),
                     "'kopt apply --mode header' writes it; or give the folder that it is in",
                     folder.string());
  return lockIn(folder);
}

Result<std::vector<TunedKernel>> checkLock(const fs::path &folder, const fs::path &buildFolder) {
  KOPT_TRY(const overlay::Lock lock, readLock(folder));
  overlay::Sources sources(folder.parent_path().string(), buildFolder.string());
  std::vector<TunedKernel> kernels;
  for (const overlay::Entry &entry : lock.entries)
    kernels.push_back(checkEntry(entry, folder, sources));
  return kernels;
}

Result<std::vector<fs::path>> lockFoldersOf(const fs::path &buildFolder) {
  const fs::path list = buildFolder / "kopt" / "locks.txt";
  std::set<fs::path> folders;
  if (isThere(list)) {
    KOPT_TRY(const std::string text, readFile(list));
    for (const std::string &line : split(text, '\n'))
      if (!line.empty() && isThere(fs::path(line) / "kopt.lock"))
        folders.insert(line);
  }
  if (folders.empty())
    return makeError(ErrorCode::Usage,
                     fmt::format("no target of {} has tuned kernels", buildFolder.string()),
                     "give the folder with kopt.lock, or a build folder whose project calls "
                     "kopt_tune_kernels()",
                     buildFolder.string());
  return std::vector<fs::path>(folders.begin(), folders.end());
}

} // namespace kopt
