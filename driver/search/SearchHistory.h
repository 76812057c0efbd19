// SPDX-License-Identifier: Apache-2.0
// What a search knows: the fold of the events of its run. Strategies decide by it, and proposers
// read it.
#pragma once

#include "driver/model/Event.h"
#include "driver/model/Trial.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace kopt {

/// A proposer that fails this many times in a row is not asked again in the run.
inline constexpr int kMostFailures = 3;

/// True of a candidate that computes what it should, as far as its trial shows.
bool isRight(const Trial &trial);

/// An Ask and what became of it.
struct Asked {
  Ask ask;
  bool isAnswered = false;
  std::size_t offered = 0;         ///< candidates of the answer
  std::vector<std::size_t> trials; ///< indices of their trials

  bool isDone() const { return isAnswered && trials.size() == offered; }
};

/// A candidate that was offered and has no trial yet.
struct WaitingCandidate {
  int ask = 0;
  std::string hash; ///< of its content
  Candidate candidate;
};

struct SearchHistory {
  std::vector<Trial> trials;            ///< oldest first; trials[0] is the baseline
  std::vector<Event> events;            ///< of the search, oldest first
  std::vector<Asked> asked;             ///< in the order of their ids, which are from 1
  std::deque<WaitingCandidate> waiting; ///< in the order of arrival
  std::size_t incumbent = 0;            ///< index of the last accepted trial
  int round = 0;                        ///< asks that failed, or all of whose candidates are judged
  std::map<std::string, int> failures;  ///< in a row, by proposer

  /// Adds what the event changes. A Judged comes with its trial.
  void apply(const Event &event, const Trial *judged = nullptr);

  const Trial &best() const { return trials.at(incumbent); }
  /// Candidates that wait for their trial, and those that unanswered asks may bring.
  std::size_t comingTrials() const;
  /// True if nothing is asked that is not answered and judged.
  bool isIdle() const;
  /// True if the proposer is not asked again.
  bool isGivenUp(const std::string &proposer) const;
  /// The trial of that candidate; null if there is none.
  const Trial *find(const std::string &candidateHash) const;
};

} // namespace kopt
