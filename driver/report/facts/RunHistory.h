// SPDX-License-Identifier: Apache-2.0
// A run as recorded in the database. Reports, pages and explanations are made from it alone.
#pragma once

#include "driver/model/Diagnosis.h"
#include "driver/store/Store.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// One run with all of its records.
struct RunHistory {
  RunRecord run;
  std::vector<Trial> trials; ///< in recorded order: the baseline first; includes confirmations
  std::vector<Event> events;
  std::vector<ModelCall> modelCalls;
  std::optional<SessionRecord> session{}; ///< the last session that took its winner

  const Trial *baseline() const;       ///< null if it was not measured
  const Trial *winner() const;         ///< null if nothing was accepted
  const Trial *confirmation() const;   ///< of the winner, on fresh samples; null if there is none
  const SessionWin *inProgram() const; ///< what became of the winner; null if not known
  /// Index of the search's trial of that candidate; nothing if there is none.
  std::optional<std::size_t> indexOf(const std::string &candidateHash) const;
};

/// The factors of a winner's speedup: what was recalled from earlier runs, and what this run found.
struct GainParts {
  double recalled = 1, own = 1;
};
/// `winner`: with the speedup that counts. Recalled is what RecallProposer offered, at the speedup
/// that it has in this run.
GainParts gainParts(const std::vector<Trial> &trials, const Trial &winner);

Result<RunHistory> loadRun(Store &store, const RunRecord &run);

/// The seconds of each of the search's evaluations.
std::vector<double> evaluationSeconds(const RunHistory &history);
/// For each stage that took at least 1% of the time of the search's evaluations: its name, for how
/// many candidates, and the median, longest and total times.
std::vector<std::vector<std::string>> evaluationCosts(const RunHistory &history);
/// For each turn of a language model: its purpose and ask, the model, the calls, the tokens of
/// input, of output and from the cache, and the dollars, if the price is known. Calls that wait for
/// their reply do not count.
std::vector<std::vector<std::string>> modelCosts(const RunHistory &history);

/// The wall time of all sessions of the run, and the limit of the last.
Spent timeSpent(const RunHistory &history);
/// The findings of the winner's first evaluation and of its confirmation, each once.
std::vector<std::string> remarksOf(const RunHistory &history);

/// A JSON object that a run stores as text; an empty object if the text is not one.
nlohmann::json recordedObject(const std::string &text);
/// The name of a recorded device, "an unknown device" without one.
std::string deviceName(const nlohmann::json &device);
/// Its sandbox layers that were active around the candidates, or those that were missing, with why.
/// Runs of earlier versions did not record them.
std::string sandboxLayers(const nlohmann::json &device, bool isActive);

/// `kopt apply` of the run, with the flag that a winner needs which was not confirmed.
std::string applyCommand(const RunHistory &history);

/// "faster", "wrong result".
std::string verdictInWords(Verdict verdict);

/// The result of a rule for some counters. A rule that lacks a counter is NotJudged, not Silent.
enum class RuleState { Fires, Silent, NotJudged };
RuleState stateOf(const Diagnosis &diagnosis, const std::string &rule);

} // namespace kopt
