// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/RecordedJudge.h"

#include <fmt/format.h>

namespace kopt {

RecordedJudge::RecordedJudge(Baseline baseline, const std::vector<Trial> &trials)
    : baseline_(std::move(baseline)) {
  for (const Trial &trial : trials)
    trials_.emplace(std::pair(trial.candidateHash, trial.purpose), trial);
}

Result<Trial> RecordedJudge::judge(const Candidate &candidate, Purpose purpose) {
  const auto found = trials_.find({candidate.contentHash(), purpose});
  if (found == trials_.end())
    return makeError(
        ErrorCode::StaleInput,
        fmt::format("the record has no trial of '{}' for {}", candidate.title, toString(purpose)),
        "record it on a device: kopt tune");
  return found->second;
}

} // namespace kopt
