// SPDX-License-Identifier: Apache-2.0
// The state of one kernel's tuning while TuneSession works on it.
#pragma once

#include "driver/app/TuneSession.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace kopt {

struct TuneSession::Search {
  explicit Search(const TuneSubject &subject) : subject(subject) {}

  const TuneSubject &subject;
  Workload workload;
  std::vector<Launch> heldOut;  ///< captured launches that only the confirmation sees
  std::optional<double> target; ///< the kernel's own, where the settings have none
  TuneOutcome outcome;
  std::unique_ptr<LocalJudge> evaluator;
  JudgeOptions options; ///< the evaluator's
  std::vector<std::unique_ptr<Proposer>> proposers;
  std::vector<bool> exhausted;
  std::vector<Trial> history; ///< of this run so far, the baseline first
  std::size_t incumbent = 0;  ///< index into history
  int round = 0, roundsSinceGain = 0;
  std::map<std::pair<std::string, Purpose>, Trial>
      recorded; ///< by hash and purpose: trials of the run that is resumed
  std::multiset<std::string>
      recordedDecisions; ///< of the run that is resumed, as decisionKey() names them

  static std::string decisionKey(const Decision &decision) {
    return fmt::format("{}/{}/{}", decision.round, decision.kind, decision.text);
  }

  SearchState state() const {
    SearchState state;
    state.round = round;
    state.roundsSinceGain = roundsSinceGain;
    for (const auto &proposer : proposers)
      state.proposers.push_back(proposer->name());
    state.exhausted = exhausted;
    state.history = &history;
    state.incumbent = &history[incumbent];
    return state;
  }
};

} // namespace kopt
