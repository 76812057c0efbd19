// SPDX-License-Identifier: Apache-2.0
// A run as the database has it.
#include "driver/report/Report.h"

namespace kopt {
namespace {

const Trial *findTrial(const std::vector<Trial> &trials, const std::string &hash, Purpose purpose) {
  for (const Trial &trial : trials)
    if (trial.candidateHash == hash && trial.purpose == purpose)
      return &trial;
  return nullptr;
}

} // namespace

const Trial *RunHistory::baseline() const {
  return !trials.empty() && trials.front().candidate.proposer == "baseline" ? &trials.front()
                                                                            : nullptr;
}

const Trial *RunHistory::winner() const {
  return run.winnerHash.empty() ? nullptr : findTrial(trials, run.winnerHash, Purpose::Search);
}

const Trial *RunHistory::confirmation() const {
  return run.winnerHash.empty() ? nullptr
                                : findTrial(trials, run.winnerHash, Purpose::Confirmation);
}

Result<RunHistory> loadRun(Store &store, const RunRecord &run) {
  RunHistory history;
  history.run = run;
  KOPT_TRY(history.trials, store.trials(run.id));
  KOPT_TRY(history.decisions, store.decisions(run.id));
  KOPT_TRY(history.modelCalls, store.modelCalls(run.id));
  KOPT_TRY(std::vector<SessionRecord> sessions, store.sessions());
  for (SessionRecord &session : sessions)
    if (session.winOf(run.id))
      history.session = std::move(session);
  return history;
}

} // namespace kopt
