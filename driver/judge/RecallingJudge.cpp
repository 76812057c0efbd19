// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/RecallingJudge.h"

#include <tuple>

namespace kopt {

Result<RecallingJudge> RecallingJudge::open(Judge &inner, Store &store, std::int64_t run,
                                            Finish finish) {
  RecallingJudge judge(inner, store, run, std::move(finish));
  KOPT_TRY(const std::vector<Trial> trials, store.trials(run));
  for (const Trial &trial : trials)
    judge.recorded_.emplace(Key{trial.candidateHash, trial.purpose}, trial);
  return judge;
}

Result<Trial> RecallingJudge::record(Trial trial, const Key &key) {
  std::tie(trial.candidateHash, trial.purpose) = key;
  if (finish_)
    finish_(trial, workload_);
  KOPT_TRY(Trial stored, store_.recordTrial(run_, trial));
  recorded_.emplace(key, stored);
  return stored;
}

Result<Baseline> RecallingJudge::baseline() {
  KOPT_TRY(Baseline baseline, inner_.baseline());
  workload_ = baseline.workload;
  const Key key{baseline.trial.candidateHash, Purpose::Search};
  if (const auto known = recorded_.find(key); known != recorded_.end())
    baseline.trial = known->second;
  else {
    KOPT_TRY(baseline.trial, record(std::move(baseline.trial), key));
  }
  return baseline;
}

void RecallingJudge::begin(const std::vector<Candidate> &candidates) {
  std::vector<Candidate> unknown;
  for (const Candidate &candidate : candidates)
    if (const auto known = recorded_.find(Key{candidate.contentHash(), Purpose::Search});
        known != recorded_.end())
      inner_.remember(known->second);
    else
      unknown.push_back(candidate);
  inner_.begin(unknown);
}

Result<Trial> RecallingJudge::judge(const Candidate &candidate, Purpose purpose, Stage upTo) {
  if (upTo < Stage::Time)
    return inner_.judge(candidate, purpose, upTo);
  const Key key{candidate.contentHash(), purpose};
  if (const auto known = recorded_.find(key); known != recorded_.end())
    return known->second;
  KOPT_TRY(Trial trial, inner_.judge(candidate, purpose));
  return record(std::move(trial), key);
}

Status RecallingJudge::addCounters(Trial &trial) {
  if (!trial.counters.empty())
    return {};
  KOPT_CHECK(inner_.addCounters(trial));
  if (finish_)
    finish_(trial, workload_);
  return store_.recordCounters(trial);
}

} // namespace kopt
