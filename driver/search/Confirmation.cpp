// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Confirmation.h"

#include <algorithm>

namespace kopt {
namespace {

constexpr std::size_t kConfirmations = 3;

std::vector<const Trial *> fastestFirst(const SearchHistory &history) {
  std::vector<const Trial *> trials;
  for (const Trial &trial : history.trials)
    if (trial.verdict == Verdict::Faster && trial.speedup)
      trials.push_back(&trial);
  std::ranges::stable_sort(trials, std::greater(),
                           [](const Trial *trial) { return trial->speedup->estimate; });
  if (trials.size() > kConfirmations)
    trials.resize(kConfirmations);
  return trials;
}

} // namespace

Result<std::optional<Trial>> confirmWinner(const SearchHistory &history, Judge &judge,
                                           DecisionLog &decisions) {
  for (const Trial *chosen : fastestFirst(history)) {
    KOPT_TRY(const Trial confirmed, judge.judge(chosen->candidate, Purpose::Confirmation));
    const bool held = confirmed.verdict == Verdict::Faster;
    Decision decision;
    decision.round = history.round;
    decision.what = Confirm{chosen->candidateHash, chosen->candidate.title, held, confirmed.reason};
    if (confirmed.speedup)
      decision.evidence = {{"speedup low", chosen->candidateHash, confirmed.speedup->low}};
    KOPT_CHECK(decisions.record(decision));
    if (!held)
      continue;
    Trial winner = *chosen;
    KOPT_CHECK(judge.addCounters(winner));
    winner.speedup = confirmed.speedup;
    winner.timings = confirmed.timings;
    winner.checks = confirmed.checks; // all of them: the search leaves out those for winners
    winner.assurance = confirmed.assurance;
    winner.reason = confirmed.reason;
    return winner;
  }
  return std::nullopt;
}

} // namespace kopt
