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

Result<std::optional<Speedup>> RecordedJudge::compare(const Candidate &candidate,
                                                      const Candidate &other) {
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

} // namespace kopt
