// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/RunHistory.h"

#include "driver/judge/Statistics.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>

namespace kopt {
namespace {

const Trial *findTrial(const std::vector<Trial> &trials, const std::string &hash, Purpose purpose) {
  for (const Trial &trial : trials)
    if (trial.candidateHash == hash && trial.purpose == purpose)
      return &trial;
  return nullptr;
}

/// True for a candidate of the search whose stages were timed.
bool isTimedEvaluation(const RunHistory &history, const Trial &trial) {
  return &trial != history.baseline() && trial.purpose == Purpose::Search && !trial.stages.empty();
}

} // namespace

const Trial *RunHistory::baseline() const {
  return !trials.empty() && trials.front().candidate.proposer == "baseline" ? &trials.front()
                                                                            : nullptr;
}

const Trial *RunHistory::winner() const {
  return run.winnerHash.empty() ? nullptr : findTrial(trials, run.winnerHash, Purpose::Search);
}

const Trial *RunHistory::confirmation() const {
  return run.winnerHash.empty() ? nullptr
                                : findTrial(trials, run.winnerHash, Purpose::Confirmation);
}

const SessionWin *RunHistory::inProgram() const {
  return session ? session->winOf(run.id) : nullptr;
}

std::optional<std::size_t> RunHistory::indexOf(const std::string &candidateHash) const {
  const Trial *trial = findTrial(trials, candidateHash, Purpose::Search);
  return trial ? std::optional(std::size_t(trial - trials.data())) : std::nullopt;
}

GainParts gainParts(const std::vector<Trial> &trials, const Trial &winner) {
  GainParts parts{1, winner.speedup ? winner.speedup->estimate : 1};
  if (winner.candidate.proposer == "recall")
    return {parts.own, 1};
  std::vector<std::string> ancestors = winner.candidate.parents;
  std::set<std::string> seen;
  while (!ancestors.empty()) {
    const Trial *one = findTrial(trials, ancestors.back(), Purpose::Search);
    ancestors.pop_back();
    if (!one || !seen.insert(one->candidateHash).second)
      continue;
    if (one->candidate.proposer == "recall" && one->speedup)
      parts.recalled = std::max(parts.recalled, one->speedup->estimate);
    ancestors.insert(ancestors.end(), one->candidate.parents.begin(), one->candidate.parents.end());
  }
  parts.own /= parts.recalled;
  return parts;
}

Spent timeSpent(const RunHistory &history) {
  Spent all;
  for (const Event &event : history.events)
    if (const auto *spent = std::get_if<Spent>(&event.what)) {
      for (const auto &[name, seconds] : spent->session)
        all.session[name] += seconds;
      for (const auto &[name, seconds] : spent->kernel)
        all.kernel[name] += seconds;
      all.limit = spent->limit;
    }
  return all;
}

std::vector<std::string> remarksOf(const RunHistory &history) {
  std::vector<std::string> remarks;
  for (const Trial *trial : {history.winner(), history.confirmation()})
    for (const Finding &finding : trial ? trial->findings : std::vector<Finding>()) {
      std::string remark = std::string(toString(finding.severity)) + ": " + finding.message +
                           (finding.where.empty() ? "" : " (" + finding.where + ")");
      if (std::ranges::find(remarks, remark) == remarks.end())
        remarks.push_back(std::move(remark));
    }
  return remarks;
}

nlohmann::json recordedObject(const std::string &text) {
  nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  return value.is_object() ? value : nlohmann::json::object();
}

std::string deviceName(const nlohmann::json &device) {
  const std::string name = textIn(device, "name");
  return name.empty() ? "an unknown device" : name;
}

std::string sandboxLayers(const nlohmann::json &device, bool isActive) {
  std::vector<std::string> layers;
  const auto list = device.find("sandbox");
  if (list == device.end() || !list->is_array())
    return {};
  for (const nlohmann::json &layer : *list)
    if (layer.is_object() && layer.value("active", false) == isActive)
      layers.push_back(textIn(layer, "layer") +
                       (isActive ? std::string() : " (" + textIn(layer, "detail") + ")"));
  return join(layers, ", ");
}

std::string applyCommand(const RunHistory &history) {
  const SessionWin *win = history.inProgram();
  std::string command = "kopt apply --run-id " + history.run.name;
  if (recordedObject(history.run.deviceJson).value("modelled", false))
    command += " --modelled";
  else if (!win || win->state != WinState::Confirmed)
    command += " --unconfirmed";
  return command;
}

std::vector<double> evaluationSeconds(const RunHistory &history) {
  std::vector<double> all;
  for (const Trial &trial : history.trials)
    if (isTimedEvaluation(history, trial))
      all.push_back(trial.seconds);
  return all;
}

std::vector<std::vector<std::string>> evaluationCosts(const RunHistory &history) {
  std::map<std::string, std::vector<double>> stages;
  for (const Trial &trial : history.trials)
    if (isTimedEvaluation(history, trial))
      for (const auto &[name, seconds] : trial.stages)
        stages[name].push_back(seconds);
  const std::vector<double> whole = evaluationSeconds(history);
  const double together = std::accumulate(whole.begin(), whole.end(), 0.0);
  std::vector<std::vector<std::string>> rows;
  for (const auto &[name, seconds] : stages)
    if (const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
        sum >= 0.01 * together)
      rows.push_back({name, std::to_string(seconds.size()), formatDuration(median(seconds)),
                      formatDuration(*std::ranges::max_element(seconds)), formatDuration(sum)});
  return rows;
}

std::vector<std::vector<std::string>> modelCosts(const RunHistory &history) {
  struct Sum {
    std::array<long, 4> counts{}; // calls, tokens
    double dollars = 0;
    bool isPriced = true;
  };
  std::map<std::tuple<int, std::string, std::string>, Sum> sums;
  for (const ModelCall &call : history.modelCalls) {
    if (call.isOpen())
      continue;
    Sum &sum = sums[{call.ask.value_or(0), call.purpose, call.model}];
    const std::array<long, 4> counts{1, call.inputTokens, call.outputTokens, call.cachedTokens};
    std::ranges::transform(sum.counts, counts, sum.counts.begin(), std::plus());
    sum.dollars += call.dollars.value_or(0);
    sum.isPriced &= call.dollars.has_value();
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto &[key, sum] : sums) {
    const auto &[ask, purpose, model] = key;
    rows.push_back({ask > 0 ? fmt::format("{}, ask {}", purpose, ask) : purpose, model});
    for (const long count : sum.counts)
      rows.back().push_back(std::to_string(count));
    rows.back().push_back(sum.isPriced ? fmt::format("{:.4f}", sum.dollars) : "");
  }
  return rows;
}

std::string verdictInWords(Verdict verdict) {
  std::string words;
  for (const char c : std::string_view(toString(verdict))) {
    if (std::isupper(static_cast<unsigned char>(c)) && !words.empty())
      words += ' ';
    words += char(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

RuleState stateOf(const Diagnosis &diagnosis, const std::string &rule) {
  for (const RuleHit &hit : diagnosis.hits)
    if (hit.id == rule)
      return RuleState::Fires;
  for (const std::string &skipped : diagnosis.skipped)
    if (skipped.starts_with(rule + ":"))
      return RuleState::NotJudged;
  return RuleState::Silent;
}

Result<RunHistory> loadRun(Store &store, const RunRecord &run) {
  RunHistory history;
  history.run = run;
  KOPT_TRY(history.trials, store.trials(run.id));
  KOPT_TRY(history.events, store.events(run.id));
  KOPT_TRY(history.modelCalls, store.modelCalls(run.id));
  KOPT_TRY(std::vector<SessionRecord> sessions, store.sessions());
  for (SessionRecord &session : sessions)
    if (session.winOf(run.id))
      history.session = std::move(session);
  return history;
}

} // namespace kopt
