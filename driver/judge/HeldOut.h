// SPDX-License-Identifier: Apache-2.0
// A judge whose confirmations also cover captured launches that played no part in the search.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/judge/JudgeOptions.h"

#include <functional>
#include <memory>
#include <vector>

namespace kopt {

/// Makes a judge for the same kernel on another workload.
using MakeJudge = std::function<Result<std::unique_ptr<Judge>>(const Workload &workload,
                                                               const JudgeOptions &options)>;

/// Stores a trial on the held-out launches beside the confirmation. Fails as the store does.
using RecordTrial = std::function<Status(const Trial &)>;

/// If a confirmed candidate is wrong, fails or is slower on the held-out launches, that becomes its
/// verdict; otherwise a finding records the result. What those launches do not show is a gap of its
/// assurance, too. The held-out launches have the workload's tolerance and equal weights. `record`,
/// which may be empty, receives their trial, with Purpose::HeldOut.
class HeldOutJudge final : public Judge {
public:
  HeldOutJudge(std::unique_ptr<Judge> inner, std::vector<Launch> heldOut, JudgeOptions options,
               MakeJudge makeJudge, RecordTrial record = {})
      : inner_(std::move(inner)), heldOut_(std::move(heldOut)), options_(std::move(options)),
        makeJudge_(std::move(makeJudge)), record_(std::move(record)) {}

  Result<Baseline> baseline() override;
  void begin(const std::vector<Candidate> &candidates) override { inner_->begin(candidates); }
  Result<Trial> judge(const Candidate &candidate, Purpose purpose,
                      Stage upTo = Stage::Time) override;
  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override {
    return inner_->compare(candidate, other);
  }
  Status addCounters(Trial &trial) override { return inner_->addCounters(trial); }
  void remember(const Trial &trial) override { inner_->remember(trial); }

private:
  std::unique_ptr<Judge> inner_;
  std::vector<Launch> heldOut_;
  JudgeOptions options_;
  MakeJudge makeJudge_;
  Result<Trial> judgeHeldOut(const Candidate &candidate);

  RecordTrial record_;
  Workload workload_;                ///< as measured with the baseline
  std::unique_ptr<Judge> onHeldOut_; ///< null until needed; it has its own baseline
  std::vector<Trial> heldOutTrials_;
};

} // namespace kopt
