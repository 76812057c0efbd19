// SPDX-License-Identifier: Apache-2.0
// Why a run went as it did: each decision in plain sentences, in order, from the records alone.
#pragma once

#include "driver/report/facts/RunStory.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kopt {

/// One thing that happened, and why.
struct Explanation {
  std::string kind; ///< start, baseline, rules, ask, offer, failed, trial, accept, keep, stop,
                    ///< compare, confirm, reject, checked, unchecked, note, program, end
  int round = 0;
  double seconds = 0;                 ///< of evaluation until then
  std::string text;                   ///< whole sentences
  std::vector<std::string> details{}; ///< a line each
  std::vector<Evidence> evidence{};   ///< as it was stored
};

/// The whole run, from the baseline to what the program said.
std::vector<Explanation> explainRun(const RunHistory &history);

/// One candidate: where it came from, what each stage found, what became of it. `which` is its
/// number in the report, or the beginning of its hash, four digits at least. Fails with Usage where
/// there is no such trial, or more than one.
Result<std::vector<Explanation>> explainTrial(const RunHistory &history, const std::string &which);

/// For people: a paragraph for each explanation, details indented.
std::string inText(const std::vector<Explanation> &explanations);
nlohmann::json toJson(const std::vector<Explanation> &explanations);

} // namespace kopt
