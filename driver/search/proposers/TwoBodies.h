// SPDX-License-Identifier: Apache-2.0
// Candidates with two bodies of a kernel, of which a condition on the launch chooses one.
#pragma once

#include "driver/search/Proposer.h"
#include "driver/search/proposers/RepairConditions.h"
#include "driver/source/Frontend.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// `usual`, with the body of `special` where the condition holds. `variables` are the parameters in
/// it. Without technique, title and rationale. Nothing if more than the body and constants that
/// only the body uses differ, or if the two cannot stand in one function. The launch is that of
/// `usual`.
Result<std::optional<Candidate>> withTwoBodies(Frontend &frontend, const SearchProblem &problem,
                                               const Candidate &special, const Candidate &usual,
                                               const std::string &condition,
                                               std::vector<std::string> variables);

/// The technique of a candidate that was repaired.
inline constexpr const char *kRepairTechnique = "guard";

/// The candidate where all properties hold that tell the workload's launches from `wrong`, and the
/// original elsewhere. If it has a launch of its own, the launch depends on the condition, too.
/// Nothing if no properties tell them apart, if the two cannot stand in one function, or if the
/// host cannot ask for a property that its launch depends on. `right`: other launches that it is
/// right on.
Result<std::optional<Candidate>> repaired(Frontend &frontend, const SearchProblem &problem,
                                          const Candidate &candidate,
                                          const std::vector<Counterexample> &wrong,
                                          const std::vector<Counterexample> &right);

/// A candidate that was refused on launches that the workload does not have.
struct Repairable {
  const Trial *trial = nullptr;             ///< of the candidate as it was proposed
  std::vector<Counterexample> wrong, right; ///< also of its repairs so far
};

/// Those of a run whose last repair, if any, was refused as well, the latest first.
std::vector<Repairable> repairables(const std::vector<Trial> &trials);

} // namespace kopt
