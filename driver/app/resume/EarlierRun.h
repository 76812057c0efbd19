// SPDX-License-Identifier: Apache-2.0
// What a run left that cannot be resumed as it was, since it had another workload, device or
// driver: its trials say nothing of this one, so what was best is judged again, and the reply that
// it waited for is still to be read.
#pragma once

#include "driver/model/Run.h"
#include "driver/search/proposers/GivenProposer.h"
#include "driver/store/Store.h"

#include <optional>

namespace kopt {

struct EarlierRun {
  std::string name;
  /// Changes of the baseline: the fastest, what its model had handed in and nobody judged, and then
  /// the next fastest.
  GivenCandidates best;
  std::optional<ModelCall> open{}; ///< waits for its reply
  std::string asked{};             ///< hash of the candidate of `best`, or the baseline's, that the
                                   ///< open call is about
};

/// Of the last of `runs` with the same text and kernel as `run`; nothing if there is none. Fails as
/// Store's functions do.
Result<std::optional<EarlierRun>> findEarlierRun(Store &store, const std::vector<RunRecord> &runs,
                                                 const RunRecord &run);

/// What a new run asks for first, then: the best again, then the model whose reply is waited for.
std::vector<Ask> asksOf(const EarlierRun &earlier, const std::string &baseline, std::size_t limit);

} // namespace kopt
