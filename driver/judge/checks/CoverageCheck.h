// SPDX-License-Identifier: Apache-2.0
// What no launch made the candidate do, no launch has verified. A candidate that is wrong for one
// size or one value alone is right in every test but the one that nobody thought of, and shows in
// this: some of its code never ran. An honest one may have such code, too: a loop for longer rows,
// a fallback for pointers that are not aligned.
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/judge/checks/DerivedReplays.h"
#include "driver/source/Frontend.h"

namespace kopt {

struct CoverageSettings {
  BuildRequest build;            ///< of the original: everything but text and output
  std::filesystem::path scratch; ///< where recording versions are built
  AssurancePolicy assurance = AssurancePolicy::Standard;
};

/// Builds the candidate with a record of the outcomes of its conditions and runs it on all that it
/// was verified on. Where an outcome never occurs, launches with the numbers of its condition and
/// larger ones are derived until it does, and the candidate is judged on those. What then is left
/// is a gap of its assurance; under AssurancePolicy::Strict a case that a number of the text's own
/// singles out (CoveragePoint::special) is refused by name. Nothing is missing that the original,
/// however it spells the condition, never does either. On a GPU it is not asked at Depth::Search:
/// it costs a build.
std::unique_ptr<Check> makeCoverageCheck(std::shared_ptr<DerivedReplays> replays,
                                         Frontend &frontend, Toolchain &toolchain,
                                         CoverageSettings settings);

} // namespace kopt
