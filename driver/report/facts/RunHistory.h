// SPDX-License-Identifier: Apache-2.0
// A run as the database has it: all that reports, pages and explanations of it are made from.
#pragma once

#include "driver/model/Diagnosis.h"
#include "driver/store/Store.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// One run with everything that was recorded of it.
struct RunHistory {
  RunRecord run;
  std::vector<Trial> trials; ///< as recorded: the baseline first, confirmations among them
  std::vector<Decision> decisions;
  std::vector<ModelCall> modelCalls;
  std::optional<SessionRecord> session{}; ///< the last one that took its winner

  const Trial *baseline() const;     ///< null where it was not measured
  const Trial *winner() const;       ///< null where nothing was accepted
  const Trial *confirmation() const; ///< of the winner, on fresh samples; null where there is none
  const SessionWin *inProgram() const; ///< what became of the winner; null where nothing is known
  /// Index of the search's trial of that candidate; nothing where there is none.
  std::optional<std::size_t> indexOf(const std::string &candidateHash) const;
};

Result<RunHistory> loadRun(Store &store, const RunRecord &run);

/// A JSON object that a run has as text; an empty one where it has none.
nlohmann::json recordedObject(const std::string &text);

/// "faster", "wrong result".
std::string verdictInWords(Verdict verdict);

/// What the rules say of the baseline and of the winner. Where the rules cannot be read, `skipped`
/// of the first says so.
struct RunDiagnosis {
  Diagnosis before, after;
};
RunDiagnosis diagnoseRun(const RunHistory &history);
/// What the rules say of one trial's counters; those that are not numbers count as missing.
Diagnosis diagnoseTrial(const Trial &trial);

/// How a rule stands with some counters. One that lacks a counter is not known to be silent.
enum class RuleState { Fires, Silent, NotJudged };
RuleState stateOf(const Diagnosis &diagnosis, const std::string &rule);

} // namespace kopt
