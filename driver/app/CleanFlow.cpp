// SPDX-License-Identifier: Apache-2.0
#include "driver/app/CleanFlow.h"

#include "driver/app/services/Installation.h"
#include "driver/store/Store.h"
#include "driver/support/FileSystem.h"

#include <algorithm>
#include <map>
#include <set>

namespace kopt {
namespace {

namespace fs = std::filesystem;

std::uintmax_t bytesOf(const fs::path &path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const std::uintmax_t bytes = fs::file_size(path, error);
    return error ? 0 : bytes;
  }
  std::uintmax_t bytes = 0;
  for (fs::recursive_directory_iterator file(path, error), end; !error && file != end;
       file.increment(error))
    if (file->is_regular_file(error) && !file->is_symlink(error))
      bytes += file->file_size(error);
  return bytes;
}

/// The ids of the runs and sessions that stay.
struct Kept {
  std::set<std::int64_t> runs, sessions;
};

Kept chosen(const std::vector<RunRecord> &runs, const std::vector<SessionRecord> &sessions,
            std::size_t keep) {
  Kept kept;
  std::map<std::pair<std::string, std::string>, std::size_t> ofKernel;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (ofKernel[{run->file, run->symbol}]++ < keep)
      kept.runs.insert(run->id);
  for (auto session = sessions.rbegin(); session != sessions.rend(); ++session) {
    const auto isKept = [&](const SessionWin &win) { return kept.runs.contains(win.run); };
    if (std::size_t(session - sessions.rbegin()) < keep ||
        std::ranges::any_of(session->wins, isKept))
      kept.sessions.insert(session->id);
  }
  for (const SessionRecord &session : sessions)
    for (const SessionWin &win : session.wins)
      if (kept.sessions.contains(session.id))
        kept.runs.insert(win.run);
  return kept;
}

} // namespace

Result<FolderUse> cleanBuilds(bool dryRun) {
  const FolderUse before = trimBuilds(buildCacheFolder());
  if (!dryRun && trimBuilds(buildCacheFolder(), 0).files > 0)
    return makeError(ErrorCode::Environment, "the build cache cannot be emptied",
                     "remove the folder by hand", buildCacheFolder().string());
  return before;
}

Result<Cleaned> cleanRuns(const CleanSettings &settings) {
  const fs::path database = settings.root / ".kopt" / "kopt.db";
  if (!isThere(database))
    return Cleaned();
  KOPT_TRY(const auto store, openStore(database));
  KOPT_TRY(const std::vector<RunRecord> runs, store->runs());
  KOPT_TRY(const std::vector<SessionRecord> sessions, store->sessions());
  const Kept kept = chosen(runs, sessions, settings.keep);

  Cleaned cleaned;
  std::vector<std::int64_t> oldRuns, oldSessions;
  std::vector<fs::path> folders;
  const auto sort = [&](const auto &records, const std::set<std::int64_t> &stay,
                        std::vector<std::int64_t> &go) {
    for (const auto &record : records) {
      if (stay.contains(record.id)) {
        cleaned.kept.push_back(record.name);
        continue;
      }
      cleaned.removed.push_back(record.name);
      go.push_back(record.id);
      folders.push_back(settings.output / record.name);
      cleaned.bytes += bytesOf(folders.back());
    }
  };
  sort(runs, kept.runs, oldRuns);
  sort(sessions, kept.sessions, oldSessions);
  if (settings.dryRun || cleaned.removed.empty())
    return cleaned;

  // The records first: a folder that is left over can be removed by hand.
  const std::uintmax_t before = bytesOf(database);
  KOPT_CHECK(store->forget(oldRuns, oldSessions));
  const std::uintmax_t after = bytesOf(database);
  cleaned.bytes += before > after ? before - after : 0;
  for (const fs::path &folder : folders) {
    std::error_code error;
    fs::remove_all(folder, error);
    if (error)
      return makeError(ErrorCode::Environment,
                       "the folder of an old run cannot be removed: " + error.message(),
                       "its records are gone; remove it by hand", folder.string());
  }
  return cleaned;
}

} // namespace kopt
