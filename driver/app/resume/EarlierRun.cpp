// SPDX-License-Identifier: Apache-2.0
#include "driver/app/resume/EarlierRun.h"

#include <algorithm>

namespace kopt {
namespace {

constexpr std::size_t kMostBest = 4; ///< candidates that are judged again

/// The candidate as a change of the baseline.
Candidate alone(Candidate candidate) {
  candidate.parents.clear();
  return candidate;
}

} // namespace

Result<std::optional<EarlierRun>> findEarlierRun(Store &store, const std::vector<RunRecord> &runs,
                                                 const RunRecord &run) {
  const auto same = std::find_if(runs.rbegin(), runs.rend(), [&](const RunRecord &each) {
    return each.kernel == run.kernel && each.sliceText == run.sliceText &&
           each.state != RunState::Failed;
  });
  if (same == runs.rend())
    return std::nullopt;
  EarlierRun earlier{same->name, {}};
  KOPT_TRY(std::vector<Trial> trials, store.trials(same->id));
  KOPT_TRY(const std::vector<ModelCall> calls, store.modelCalls(same->id));
  if (!calls.empty() && calls.back().isOpen()) {
    earlier.open = calls.back();
    KOPT_TRY(const std::vector<Event> events, store.events(same->id));
    for (const Event &event : events)
      if (const auto *ask = std::get_if<Ask>(&event.what); ask && ask->id == earlier.open->ask)
        earlier.asked = ask->parents.front();
  }
  std::erase_if(trials, [&](const Trial &trial) {
    return trial.purpose != Purpose::Search || trial.candidate.proposer.empty() ||
           (trial.verdict != Verdict::Faster && trial.candidateHash != earlier.asked);
  });
  std::ranges::stable_sort(trials, [&](const Trial &a, const Trial &b) {
    const bool isAsked = a.candidateHash == earlier.asked;
    return isAsked != (b.candidateHash == earlier.asked)
               ? isAsked
               : a.speedup && b.speedup && a.speedup->estimate > b.speedup->estimate;
  });
  for (std::size_t i = 0; i < std::min(trials.size(), kMostBest); ++i)
    earlier.best.candidates.push_back(alone(trials[i].candidate));
  return earlier;
}

std::vector<Ask> asksOf(const EarlierRun &earlier, const std::string &baseline, std::size_t limit) {
  std::vector<Ask> asks;
  if (!earlier.best.candidates.empty())
    asks.push_back({.role = GivenProposer::kName,
                    .parents = {baseline},
                    .technique = "",
                    .limit = earlier.best.candidates.size()});
  if (earlier.open && !earlier.asked.empty())
    asks.push_back(
        {.role = kModelRole, .parents = {earlier.asked}, .technique = "", .limit = limit});
  return asks;
}

} // namespace kopt
