// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ReportFlow.h"

#include "driver/report/SessionReport.h"
#include "driver/store/Store.h"
#include "driver/support/CommandWords.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace kopt {

Result<RunHistory> findRun(const std::filesystem::path &root, const std::string &name,
                           LatestRun latest) {
  const std::filesystem::path database = root / ".kopt" / "kopt.db";
  if (!isThere(database))
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
  if (!isThere(database))
    return std::nullopt; // findRun() reports that
  KOPT_TRY(const auto store, openStore(database));
  KOPT_TRY(const std::vector<SessionRecord> sessions, store->sessions());
  if (name != "latest") {
    for (const SessionRecord &session : sessions)
      if (session.name == name)
        return session;
    return std::nullopt;
  }
  if (sessions.empty())
    return std::nullopt;
  const SessionRecord &last = sessions.back();
  KOPT_TRY(const std::vector<RunRecord> runs, store->runs());
  // A session only names its wins; other kernels of the same command have runs that began before
  // its end.
  const bool isPast = std::ranges::any_of(runs, [&](const RunRecord &run) {
    return run.state == RunState::Finished && run.startedUtc > last.finishedUtc;
  });
  return isPast ? std::nullopt : std::optional(last);
}

namespace {

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The command words that start a browser; empty if there is none.
Result<std::vector<std::string>> browserCommand() {
  // BROWSER may name several commands, separated by colons; use the first that exists. "%s" stands
  // for the file.
  for (const std::string &candidate : split(variable("BROWSER"), ':')) {
    if (trim(candidate).empty())
      continue;
    KOPT_TRY(const std::vector<std::string> words, splitCommand(candidate));
    if (findProgram(words.front()))
      return words;
  }
#ifdef __APPLE__
  return std::vector<std::string>{"open"};
#else
  const bool hasScreen = !variable("DISPLAY").empty() || !variable("WAYLAND_DISPLAY").empty();
  if (hasScreen && findProgram("xdg-open"))
    return std::vector<std::string>{"xdg-open"};
  return std::vector<std::string>();
#endif
}

} // namespace

Result<Page> renderPage(const std::filesystem::path &root, const std::string &name) {
  KOPT_TRY(const std::optional<SessionRecord> session, findSession(root, name));
  if (session && (name != "latest" || session->wins.size() > 1))
    return Page{session->name, "summary.html", renderSessionHtml(*session)};
  KOPT_TRY(const RunHistory history, findRun(root, session ? session->wins.front().runName : name));
  return Page{history.run.name, "report.html", renderHtml(history)};
}

Status openInBrowser(ProcessRunner &processes, const std::filesystem::path &file) {
  KOPT_TRY(std::vector<std::string> words, browserCommand());
  if (words.empty())
    return makeError(ErrorCode::Environment,
                     fmt::format("no browser to open '{}' with", file.string()),
                     "set BROWSER to a command, or open the file yourself: it needs nothing beside "
                     "it");
  bool hasFile = false;
  for (std::string &word : words)
    if (word.find("%s") != std::string::npos) {
      word = replaceAll(word, "%s", file.string());
      hasFile = true;
    }
  if (!hasFile)
    words.push_back(file.string());
  const std::string command = joinCommand(words);
  ProcessSpec spec;
  spec.argv = std::move(words);
  // The browser must outlive kopt, but the rest of a child's process group is killed with the
  // child. So wait until the browser has its own session.
  if (findProgram("setsid"))
    spec.argv.insert(spec.argv.begin(),
                     {"sh", "-c",
                      "setsid -f sh -c 'echo started; exec \"$@\" </dev/null >/dev/null 2>&1' sh "
                      "\"$@\" | read -r started",
                      "sh"});
  KOPT_TRY(const ProcessResult result, processes.run(spec));
  if (!result.ok())
    return makeError(ErrorCode::Environment,
                     fmt::format("'{}' ended with status {}", command, result.exitCode),
                     "set BROWSER to another command, or open the file yourself");
  return {};
}

} // namespace kopt
