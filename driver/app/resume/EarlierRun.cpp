// SPDX-License-Identifier: Apache-2.0
#include "driver/app/resume/EarlierRun.h"

#include "driver/llm/contract/Contract.h"
#include "driver/search/Proposer.h"

#include <algorithm>
#include <set>

namespace kopt {
namespace {

constexpr std::size_t kMostBest = 4; ///< candidates that are judged again

/// The candidate as a change of the baseline.
Candidate alone(Candidate candidate) {
  candidate.parents.clear();
  return candidate;
}

double speedupOf(const Trial &trial) { return trial.speedup ? trial.speedup->estimate : 0; }

/// What the model handed in and no trial is of, the last answer's first, at most kMostCandidates.
std::vector<Candidate> notJudged(const std::vector<Event> &events,
                                 const std::vector<Trial> &trials) {
  std::set<std::string> known;
  for (const Trial &trial : trials)
    known.insert(trial.candidateHash);
  std::vector<Candidate> found;
  for (auto event = events.rbegin(); event != events.rend(); ++event)
    if (const auto *offered = std::get_if<Offered>(&event->what);
        offered && offered->role == kModelRole)
      for (const Candidate &candidate : offered->candidates)
        if (found.size() < kMostCandidates && known.insert(candidate.contentHash()).second)
          found.push_back(alone(candidate));
  return found;
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
  KOPT_TRY(const std::vector<Event> events, store.events(same->id));
  KOPT_TRY(const std::vector<ModelCall> calls, store.modelCalls(same->id));
  if (!calls.empty() && calls.back().isOpen()) {
    earlier.open = calls.back();
    for (const Event &event : events)
      if (const auto *ask = std::get_if<Ask>(&event.what); ask && ask->id == earlier.open->ask)
        earlier.asked = ask->parents.front();
  }
  std::vector<Candidate> unjudged = notJudged(events, trials);
  const auto mayNot = [](const Candidate &candidate) {
    return candidate.options && candidate.options->needPermission();
  };
  std::erase_if(unjudged, mayNot);
  std::erase_if(trials, [&](const Trial &trial) {
    return mayNot(trial.candidate) || trial.purpose != Purpose::Search ||
           trial.candidate.proposer.empty() ||
           (trial.verdict != Verdict::Faster && trial.candidateHash != earlier.asked);
  });
  std::ranges::stable_sort(trials, [&](const Trial &a, const Trial &b) {
    const bool isAsked = a.candidateHash == earlier.asked;
    return isAsked != (b.candidateHash == earlier.asked) ? isAsked : speedupOf(a) > speedupOf(b);
  });
  // Where a reply waits, what it brings comes next: only what it is about and the fastest go
  // before.
  const bool isFastest = trials.size() < 2 || trials[0].candidateHash != earlier.asked ||
                         speedupOf(trials[0]) >= speedupOf(trials[1]);
  const std::size_t most = !earlier.open ? kMostBest : isFastest ? 1 : 2;
  for (std::size_t i = 0; i < std::min(trials.size(), most); ++i)
    earlier.best.candidates.push_back(alone(trials[i].candidate));
  std::vector<Candidate> &best = earlier.best.candidates;
  best.insert(best.begin() + (best.empty() ? 0 : 1), unjudged.begin(), unjudged.end());
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
