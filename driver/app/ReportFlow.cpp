// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ReportFlow.h"

#include "driver/store/Store.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

Result<RunHistory> findRun(const std::filesystem::path &root, const std::string &name,
                           LatestRun latest) {
  const std::filesystem::path database = root / ".kopt" / "kopt.db";
  std::error_code ignored;
  if (!std::filesystem::exists(database, ignored))
    return makeError(ErrorCode::Usage, "no run is recorded in this folder",
                     "run 'kopt tune' first, or change to the folder where it ran",
                     database.string());
  KOPT_TRY(const auto store, openStore(database));
  KOPT_TRY(const std::vector<RunRecord> runs, store->runs());
  std::vector<std::string> names;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    names.push_back(run->name);
    if (run->name == name ||
        (name == "latest" && (latest == LatestRun::Any || run->state == RunState::Finished)))
      return loadRun(*store, *run);
  }
  if (name == "latest")
    return makeError(ErrorCode::Usage, "no run has finished",
                     names.empty() ? "run 'kopt tune' first"
                                   : "name one with --run-id; recorded are: " + join(names, ", "),
                     database.string());
  return makeError(ErrorCode::Usage, fmt::format("unknown run '{}'", name),
                   names.empty() ? "no run is recorded" : "recorded are: " + join(names, ", "),
                   database.string());
}

Result<std::optional<SessionRecord>> findSession(const std::filesystem::path &root,
                                                 const std::string &name) {
  const std::filesystem::path database = root / ".kopt" / "kopt.db";
  std::error_code ignored;
  if (!std::filesystem::exists(database, ignored))
    return std::nullopt; // findRun() says so
  KOPT_TRY(const auto store, openStore(database));
  KOPT_TRY(const std::vector<SessionRecord> sessions, store->sessions());
  if (name != "latest") {
    for (const SessionRecord &session : sessions)
      if (session.name == name)
        return session;
    return std::nullopt;
  }
  KOPT_TRY(const std::vector<RunRecord> runs, store->runs());
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->state != RunState::Finished)
      continue;
    for (auto session = sessions.rbegin(); session != sessions.rend(); ++session)
      if (session->winOf(run->id))
        return *session;
    return std::nullopt;
  }
  return std::nullopt;
}

} // namespace kopt
