// SPDX-License-Identifier: Apache-2.0
#include "driver/app/integrate/ApplyFlow.h"

#include "driver/app/ReportFlow.h"
#include "driver/report/SessionReport.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

namespace {

bool isAllowed(WinState state, const ApplyOptions &options) {
  return state == WinState::Confirmed || (state == WinState::Modelled && options.modelled) ||
         (state == WinState::Unconfirmed && options.unconfirmed);
}

/// The error for a win whose state requires a flag to apply it; `reason` says why.
tl::unexpected<Error> needsFlag(const std::string &name, WinState state,
                                const std::string &reason) {
  const std::string flag = flagOf(state);
  return makeError(
      ErrorCode::Usage,
      fmt::format("nothing of '{}' was confirmed in the program, so nothing is applied "
                  "by default: {}",
                  name, reason),
      fmt::format("'kopt apply --run-id {} {}' applies it all the same", name, flag));
}

tl::unexpected<Error> noWin(const std::string &name) {
  return makeError(ErrorCode::Usage, fmt::format("'{}' has no winner to apply", name),
                   fmt::format("'kopt report --run-id {}' lists what was tried", name));
}

Result<std::vector<AppliedFile>> applySession(const SessionRecord &session,
                                              const ApplyOptions &options) {
  const auto open = std::find_if(session.wins.begin(), session.wins.end(), [](const auto &win) {
    return win.state == WinState::Modelled || win.state == WinState::Unconfirmed;
  });
  const bool offers = open != session.wins.end() && !session.offered.empty();
  const bool takesOffer = offers && isAllowed(open->state, options);
  if (!takesOffer && session.confirmed.empty())
    return offers ? needsFlag(session.name, open->state, open->reason) : noWin(session.name);
  return applyPatch(takesOffer ? session.offered : session.confirmed, session.root,
                    options.checkOnly);
}

/// The state of a run's winner. Without a session, as in runs of an older kopt, it is unconfirmed.
SessionWin stateOf(const RunHistory &history) {
  if (history.session)
    return *history.session->winOf(history.run.id);
  SessionWin win;
  if (recordedObject(history.run.deviceJson).value("modelled", false))
    win.state = WinState::Modelled;
  win.reason = win.state == WinState::Modelled ? "its time is modelled; tune on a GPU to measure it"
                                               : "the run did not get as far as the program";
  return win;
}

/// The error for a winner that cannot be applied by itself.
tl::unexpected<Error> notAlone(const RunHistory &history, const std::string &reason) {
  return makeError(
      ErrorCode::Usage,
      fmt::format("the winner of '{}' is not applied by itself: {}", history.run.name, reason),
      history.session ? fmt::format("'kopt apply --run-id {}' applies what holds of all kernels",
                                    history.session->name)
                      : "run kopt tune again");
}

Result<std::vector<AppliedFile>> applyWinner(const RunHistory &history,
                                             const ApplyOptions &options) {
  const RunRecord &run = history.run;
  if (run.patchText.empty())
    return noWin(run.name);
  if (run.edits.empty())
    return makeError(
        ErrorCode::StaleInput,
        fmt::format("run '{}' was recorded by an older kopt, which did not store its edits",
                    run.name),
        "run kopt tune again, or use git apply with the winner.patch of the run's folder");
  const SessionWin win = stateOf(history);
  if (win.state == WinState::Dropped || win.ownSpecialization)
    return notAlone(history, win.ownSpecialization ? "it changes this instantiation alone, as "
                                                     "others share its text or launch"
                                                   : win.reason);
  if (!isAllowed(win.state, options))
    return needsFlag(run.name, win.state, win.reason);
  // Without git, the session knows what the project is.
  std::filesystem::path root = patchRoot({run.file});
  if (!exists(root / run.edits.front().path) && history.session)
    root = history.session->root;
  return applyPatch(run.edits, root, options.checkOnly);
}

} // namespace

Result<std::vector<AppliedFile>> applyRun(const std::filesystem::path &root,
                                          const std::string &name, const ApplyOptions &options) {
  KOPT_TRY(const std::optional<SessionRecord> session, findSession(root, name));
  if (session)
    return applySession(*session, options);
  KOPT_TRY(const RunHistory history, findRun(root, name, LatestRun::Finished));
  return applyWinner(history, options);
}

Result<HeaderChange> applyToHeaders(const std::filesystem::path &root, const std::string &name,
                                    const ApplyOptions &options, const HeaderRequest &request) {
  KOPT_TRY(std::optional<SessionRecord> session, findSession(root, name));
  std::vector<const SessionWin *> wins;
  if (session) {
    const SessionWin *refused = nullptr;
    for (const SessionWin &win : session->wins)
      if (isAllowed(win.state, options))
        wins.push_back(&win);
      else if (!refused && win.state != WinState::Dropped)
        refused = &win;
    if (wins.empty())
      return refused ? needsFlag(session->name, refused->state, refused->reason)
                     : noWin(session->name);
    return writeHeaders(*session, wins, request);
  }
  KOPT_TRY(const RunHistory history, findRun(root, name, LatestRun::Finished));
  const SessionWin *win = history.session ? history.session->winOf(history.run.id) : nullptr;
  if (!win)
    return history.run.patchText.empty()
               ? noWin(history.run.name)
               : notAlone(history,
                          "it was never composed with the others, as the header mode needs");
  if (win->state == WinState::Dropped)
    return notAlone(history, win->reason);
  if (!isAllowed(win->state, options))
    return needsFlag(history.run.name, win->state, win->reason);
  return writeHeaders(*history.session, {win}, request);
}

} // namespace kopt
