// SPDX-License-Identifier: Apache-2.0
#include "driver/app/resume/FrozenPoint.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

bool readNumber(std::string_view text, int &number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

/// Copies the exchanges for the asks from `first` to before `last`.
Status copyCalls(Store &store, std::int64_t from, std::int64_t to, int first, int last) {
  KOPT_TRY(const std::vector<ModelCall> calls, store.modelCalls(from));
  for (const ModelCall &call : calls)
    if (call.ask && *call.ask >= first && *call.ask < last)
      KOPT_CHECK(store.recordModelCall(to, call));
  return {};
}

} // namespace

std::string FrozenPoint::prefix() const { return fmt::format("{}-at-{}", run, ask); }

std::map<int, std::set<std::string>> FrozenPoint::turns() const {
  std::map<int, std::set<std::string>> turns;
  for (int sample = 0; sample < samples; ++sample)
    for (const std::set<std::string> &variant : variants)
      turns.emplace(ask + int(turns.size()), variant);
  return turns;
}

std::string FrozenPoint::identity() const { return fmt::format("{}:{} {}", run, ask, turns()); }

Result<FrozenPoint> parseFrozenPoint(const std::string &text) {
  const std::vector<std::string> parts = split(text, ':');
  FrozenPoint point;
  if (parts.size() != 2 || parts[0].empty() || !readNumber(parts[1], point.ask))
    return makeError(ErrorCode::Usage, fmt::format("\"{}\" is no recorded ask", text),
                     "write RUN:ASK, as in scale-1:4; `kopt explain RUN` has the numbers of asks");
  point.run = parts[0];
  return point;
}

Result<std::vector<Ask>> thaw(Store &store, const FrozenPoint &point, std::int64_t from,
                              std::int64_t to) {
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
  KOPT_CHECK(copyCalls(store, from, to, 0, point.ask));
  std::vector<Ask> asks;
  for (const auto &turn : point.turns()) {
    asks.push_back(std::get<Ask>(end->what));
    asks.back().id = turn.first;
  }
  return asks;
}

Status takeOver(Store &store, const FrozenPoint &point, const std::vector<RunRecord> &runs,
                std::int64_t to) {
  const auto earlier = std::find_if(runs.rbegin(), runs.rend(), [&](const RunRecord &run) {
    const auto config = nlohmann::json::parse(run.configJson, nullptr, false);
    return config.is_object() && config.value("at", "") == point.identity();
  });
  return earlier == runs.rend()
             ? Status()
             : copyCalls(store, earlier->id, to, point.ask, std::numeric_limits<int>::max());
}

} // namespace kopt
