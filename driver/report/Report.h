// SPDX-License-Identifier: Apache-2.0
// What a run found, for people. A pure function of the database: rendered again at any time, the
// text is the same.
#pragma once

#include "driver/model/Diagnosis.h"
#include "driver/store/Store.h"

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
};

/// "faster", "wrong result".
std::string verdictInWords(Verdict verdict);

Result<RunHistory> loadRun(Store &store, const RunRecord &run);

/// The verdict first, then the evidence for it, every trial with its reason, what could not be
/// checked, and how to apply and reproduce it.
std::string renderMarkdown(const RunHistory &history);
/// With the rules that fired on the baseline's and the winner's counters, where they are known
/// already.
std::string renderMarkdown(const RunHistory &history, const Diagnosis &before,
                           const Diagnosis &after);
Result<std::string> renderMarkdown(Store &store, const RunRecord &run);

/// The same facts for programs, every sample included.
std::string renderJson(const RunHistory &history);
std::string renderTrialJson(const Trial &trial);

} // namespace kopt
