// SPDX-License-Identifier: Apache-2.0
// A judge that runs nothing and answers from the trials of an earlier run.
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
  /// Fails with StaleInput if there is no record of the candidate.
  Result<Trial> judge(const Candidate &candidate, Purpose purpose) override;
  /// Computed from the recorded speedups of the search.
  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override;
  /// A recorded trial keeps the counters that it was recorded with.
  Status addCounters(Trial &) override { return {}; }

private:
  Baseline baseline_;
  std::map<std::pair<std::string, Purpose>, Trial> trials_; ///< by candidate hash
};

} // namespace kopt
