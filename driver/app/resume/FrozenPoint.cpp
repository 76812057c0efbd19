// SPDX-License-Identifier: Apache-2.0
#include "driver/app/resume/FrozenPoint.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kopt {
namespace {

bool readNumber(std::string_view text, int &number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

} // namespace

std::string FrozenPoint::name() const {
  return fmt::format("{}-at-{}{}{}-{}", run, ask, without.empty() ? "" : "-without-",
                     fmt::join(without, "-"), sample);
}

Result<FrozenPoint> parseFrozenPoint(const std::string &text) {
  const std::vector<std::string> parts = split(text, ':');
  FrozenPoint point;
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty() ||
      !readNumber(parts[1], point.ask) ||
      (parts.size() == 3 && !readNumber(parts[2], point.sample)))
    return makeError(ErrorCode::Usage, fmt::format("\"{}\" is no recorded ask", text),
                     "write RUN:ASK or RUN:ASK:SAMPLE, as in scale-1:4; `kopt explain RUN` has the "
                     "numbers of asks");
  point.run = parts[0];
  return point;
}

Result<Ask> thaw(Store &store, const FrozenPoint &point, std::int64_t from, std::int64_t to) {
  KOPT_TRY(const std::vector<Event> events, store.events(from));
  const auto isIt = [&](const Event &event) {
    const auto *ask = std::get_if<Ask>(&event.what);
    return ask && ask->id == point.ask && ask->role == "llm";
  };
  const auto end = std::ranges::find_if(events, isIt);
  if (end == events.end())
    return makeError(ErrorCode::Usage,
                     fmt::format("run {} has no ask {} of a model", point.run, point.ask));
  std::set<std::string> judged, profiled;
  for (auto event = events.begin(); event != end; ++event) {
    if (const auto *trial = std::get_if<Judged>(&event->what))
      judged.insert(trial->candidate);
    else if (const auto *counters = std::get_if<Profiled>(&event->what))
      profiled.insert(counters->candidate);
  }
  KOPT_TRY(const std::vector<Trial> trials, store.trials(from));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    Trial trial = trials[i];
    if (i > 0 && (trial.purpose != Purpose::Search || !judged.contains(trial.candidateHash)))
      continue;
    if (i > 0 && !profiled.contains(trial.candidateHash)) { // they were read later
      trial.counters.clear();
      trial.diagnosis = {};
    }
    trial.id = 0;
    KOPT_CHECK(store.recordTrial(to, trial));
  }
  for (auto event = events.begin(); event != end; ++event)
    KOPT_CHECK(store.recordEvent(to, *event));
  KOPT_TRY(const std::vector<ModelCall> calls, store.modelCalls(from));
  for (const ModelCall &call : calls)
    if (call.ask && *call.ask < point.ask)
      KOPT_CHECK(store.recordModelCall(to, call));
  return std::get<Ask>(end->what);
}

} // namespace kopt
