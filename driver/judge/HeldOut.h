// SPDX-License-Identifier: Apache-2.0
// A judge whose confirmations also cover the captured launches that chose nothing.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/judge/JudgeOptions.h"

#include <functional>
#include <memory>
#include <vector>

namespace kopt {

/// Makes a judge of the same kernel on another workload.
using MakeJudge = std::function<Result<std::unique_ptr<Judge>>(const Workload &workload,
                                                               const JudgeOptions &options)>;

/// Keeps a trial on the held-out launches, beside the confirmation. Fails as the store does.
using RecordTrial = std::function<Status(const Trial &)>;

/// Where a confirmed candidate is wrong, fails or is slower on the held-out launches, that becomes
/// its verdict; else a finding records the result. What those launches do not show is missing of
/// its assurance, too. The workload's tolerance holds for the held-out launches too, which all
/// weigh the same. `record`, which may be empty, gets their trial, with Purpose::HeldOut.
class HeldOutJudge final : public Judge {
public:
  HeldOutJudge(std::unique_ptr<Judge> inner, std::vector<Launch> heldOut, JudgeOptions options,
               MakeJudge makeJudge, RecordTrial record = {})
      : inner_(std::move(inner)), heldOut_(std::move(heldOut)), options_(std::move(options)),
        makeJudge_(std::move(makeJudge)), record_(std::move(record)) {}

  Result<Baseline> baseline() override;
  void begin(const std::vector<Candidate> &candidates) override { inner_->begin(candidates); }
  Result<Trial> judge(const Candidate &candidate, Purpose purpose) override;
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
  Workload workload_;                ///< as the baseline learned it
  std::unique_ptr<Judge> onHeldOut_; ///< once it was needed: it has its own baseline
  std::vector<Trial> heldOutTrials_;
};

} // namespace kopt
