// SPDX-License-Identifier: Apache-2.0
// A judge that runs nothing: it answers from the trials that some earlier run recorded.
#pragma once

#include "driver/judge/Judge.h"

#include <map>
#include <utility>

namespace kopt {

class RecordedJudge final : public Judge {
public:
  /// The first trial of each candidate and purpose counts.
  RecordedJudge(Baseline baseline, const std::vector<Trial> &trials);

  Result<Baseline> baseline() override { return baseline_; }
  /// Fails with StaleInput where the record does not have the candidate.
  Result<Trial> judge(const Candidate &candidate, Purpose purpose) override;
  /// Of the recorded speedups of the search.
  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override;
  /// A recorded trial has the counters that it was recorded with.
  Status addCounters(Trial &) override { return {}; }

private:
  Baseline baseline_;
  std::map<std::pair<std::string, Purpose>, Trial> trials_; ///< by candidate hash
};

} // namespace kopt
