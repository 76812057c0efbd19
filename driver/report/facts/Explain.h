// SPDX-License-Identifier: Apache-2.0
// Explains a run: each event in plain sentences, in order, from the records alone.
#pragma once

#include "driver/report/facts/RunStory.h"

#include <string>
#include <vector>

namespace kopt {

/// One event and its reason.
struct Explanation {
  std::string kind; ///< start, baseline, rules, ask, offer, failed, trial, accept, keep, stop,
                    ///< compare, confirm, reject, checked, unchecked, note, program, end
  int round = 0;
  double seconds = 0;                 ///< of evaluation up to then
  std::string text;                   ///< whole sentences
  std::vector<std::string> details{}; ///< one line each
  std::vector<Evidence> evidence{};   ///< as stored
};
KOPT_FIELDS(Explanation, kind, round, seconds, text, details, evidence)

/// Explains the whole run, from the baseline to the confirmation in the program.
std::vector<Explanation> explainRun(const RunHistory &history);

/// As text: a paragraph for each explanation, with indented details.
std::string inText(const std::vector<Explanation> &explanations);

} // namespace kopt
