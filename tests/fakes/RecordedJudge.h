// SPDX-License-Identifier: Apache-2.0
// A judge that runs nothing and answers from the trials of an earlier run.
#pragma once

#include "driver/judge/Judge.h"

#include <fmt/format.h>
#include <map>
#include <utility>

namespace kopt {

class RecordedJudge final : public Judge {
public:
  /// The first trial of each candidate and purpose counts.
  RecordedJudge(Baseline baseline, const std::vector<Trial> &trials)
      : baseline_(std::move(baseline)) {
    for (const Trial &trial : trials)
      trials_.emplace(std::pair(trial.candidateHash, trial.purpose), trial);
  }

  Result<Baseline> baseline() override { return baseline_; }

  /// Fails with StaleInput if there is no record of the candidate.
  Result<Trial> judge(const Candidate &candidate, Purpose purpose, Stage = Stage::Time) override {
    const auto found = trials_.find({candidate.contentHash(), purpose});
    if (found == trials_.end())
      return makeError(
          ErrorCode::StaleInput,
          fmt::format("the record has no trial of '{}' for {}", candidate.title, toString(purpose)),
          "record it on a device: kopt tune");
    return found->second;
  }

  /// Computed from the recorded speedups of the search.
  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override {
    KOPT_TRY(const Trial one, judge(candidate, Purpose::Search));
    KOPT_TRY(const Trial two, judge(other, Purpose::Search));
    if (!one.speedup || !two.speedup)
      return std::nullopt;
    Speedup speedup = *one.speedup;
    speedup.estimate = one.speedup->estimate / two.speedup->estimate;
    speedup.low = one.speedup->low / two.speedup->high;
    speedup.high = one.speedup->high / two.speedup->low;
    return speedup;
  }

  /// A recorded trial keeps the counters that it was recorded with.
  Status addCounters(Trial &) override { return {}; }

private:
  Baseline baseline_;
  std::map<std::pair<std::string, Purpose>, Trial> trials_; ///< by candidate hash
};

} // namespace kopt
