// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/SessionFacts.h"

#include "driver/judge/Statistics.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

std::size_t countOf(const SessionRecord &session, WinState state) {
  return std::size_t(std::count_if(session.wins.begin(), session.wins.end(),
                                   [&](const SessionWin &win) { return win.state == state; }));
}

WinState offeredState(const SessionRecord &session) {
  return countOf(session, WinState::Modelled) > 0 ? WinState::Modelled : WinState::Unconfirmed;
}

std::string flagOf(WinState state) {
  return state == WinState::Modelled      ? "--modelled"
         : state == WinState::Unconfirmed ? "--unconfirmed"
                                          : "";
}

std::string headlineOf(const SessionRecord &session) {
  const std::size_t all = session.wins.size(), held = countOf(session, WinState::Confirmed);
  const std::string wins = all == 1 ? "win" : "wins";
  if (held > 0)
    return fmt::format("{} of {} {} hold{} in the program", held, all, wins, held == 1 ? "s" : "");
  if (const std::size_t modelled = countOf(session, WinState::Modelled); modelled > 0)
    return fmt::format("{} of {} {} {} modelled, none was measured", modelled, all, wins,
                       modelled == 1 ? "is" : "are");
  if (const std::size_t open = countOf(session, WinState::Unconfirmed); open > 0)
    return fmt::format("{} of {} {} {} not confirmed in the program", open, all, wins,
                       open == 1 ? "was" : "were");
  return all == 1 ? "the win did not hold" : fmt::format("none of {} wins held", all);
}

std::vector<std::string> runsInWords(const SessionWin &win) {
  const auto words = [](const Speedup *speedup) {
    return speedup ? inWords(*speedup) : std::string("not measured");
  };
  std::vector<std::string> gains;
  for (const RunGain &run : win.runs)
    gains.push_back(fmt::format("by '{}': {} in isolation, {} in the program", run.command,
                                words(run.isolated ? &*run.isolated : nullptr),
                                words(run.program ? &run.program->speedup : nullptr)));
  return gains;
}

std::string patchName(const SessionRecord &session) {
  if (!session.confirmed.empty())
    return "confirmed.patch";
  if (session.offered.empty())
    return {};
  return std::string(toString(offeredState(session))) + ".patch";
}

} // namespace kopt
