// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/model/Objective.h"
#include "driver/support/Result.h"

#include <optional>
#include <string>

namespace kopt {

/// What a search is after.
struct Goal {
  Objective objective = Objective::Mean;
  std::optional<double> seconds{}; ///< that the objective has to come down to; nothing: the least
  std::string inWords() const;     ///< "the slowest launch, in at most 120 us"
};

/// Parses "worst", "target:120us" (of the mean), "p95,target:0.3ms". Fails with Usage, saying what
/// is allowed.
Result<Goal> parseGoal(const std::string &text);

} // namespace kopt
