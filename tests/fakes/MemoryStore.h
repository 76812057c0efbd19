// SPDX-License-Identifier: Apache-2.0
// A store that forgets everything when it goes.
#pragma once

#include "driver/store/Store.h"

namespace kopt::fakes {

class MemoryStore final : public Store {
public:
  Result<RunRecord> beginRun(const RunRecord &run) override {
    runs_.push_back(run);
    runs_.back().id = std::int64_t(runs_.size());
    return runs_.back();
  }
  Status updateRun(const RunRecord &run) override {
    runs_.at(std::size_t(run.id) - 1) = run;
    return {};
  }
  Result<std::vector<RunRecord>> runs() override { return runs_; }
  Result<Trial> recordTrial(std::int64_t run, const Trial &trial) override {
    for (const Trial &old : trials_[run])
      if (old.candidateHash == trial.candidateHash && old.purpose == trial.purpose)
        return makeError(ErrorCode::Internal, "the trial exists already");
    trials_[run].push_back(trial);
    trials_[run].back().id = std::int64_t(trials_[run].size());
    return trials_[run].back();
  }
  Status recordCounters(const Trial &trial) override {
    for (auto &[run, trials] : trials_)
      for (Trial &recorded : trials)
        if (recorded.id == trial.id && recorded.candidateHash == trial.candidateHash)
          recorded = trial;
    return {};
  }
  Result<std::vector<Trial>> trials(std::int64_t run) override { return trials_[run]; }
  Result<std::optional<Trial>> baseline(std::int64_t run) override {
    return trials_[run].empty() ? std::nullopt : std::optional(trials_[run].front());
  }
  Status recordEvent(std::int64_t run, const Event &event) override {
    events_[run].push_back(event);
    events_[run].back().sequence = std::int64_t(events_[run].size());
    return {};
  }
  Result<std::vector<Event>> events(std::int64_t run) override { return events_[run]; }
  Status recordModelCall(std::int64_t run, const ModelCall &call) override {
    for (const ModelCall &earlier : calls_[run])
      if (earlier.requestHash == call.requestHash)
        return makeError(ErrorCode::Internal, "the same request was recorded twice");
    calls_[run].push_back(call);
    return {};
  }
  Result<std::vector<ModelCall>> modelCalls(std::int64_t run) override { return calls_[run]; }
  Result<SessionRecord> putSession(const SessionRecord &session) override {
    SessionRecord stored = session;
    if (stored.id == 0) {
      stored.id = std::int64_t(sessions_.size()) + 1;
      sessions_.push_back(stored);
    }
    sessions_.at(std::size_t(stored.id) - 1) = stored;
    return stored;
  }
  Result<std::vector<SessionRecord>> sessions() override { return sessions_; }
  Status forget(const std::vector<std::int64_t> &, const std::vector<std::int64_t> &) override {
    return makeError(ErrorCode::Internal, "nothing is forgotten here");
  }

private:
  std::vector<RunRecord> runs_;
  std::vector<SessionRecord> sessions_;
  std::map<std::int64_t, std::vector<Trial>> trials_;
  std::map<std::int64_t, std::vector<Event>> events_;
  std::map<std::int64_t, std::vector<ModelCall>> calls_;
};

} // namespace kopt::fakes
