// SPDX-License-Identifier: Apache-2.0
// Finds code of a candidate that no launch reached and so none verified. A candidate that is wrong
// only for one size or one value passes every test that lacks that size or value, but some of its
// code never runs. A correct candidate may have such code, too: a loop for longer rows, a fallback
// for unaligned pointers.
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/judge/checks/DerivedReplays.h"
#include "driver/source/Frontend.h"

namespace kopt {

struct CoverageSettings {
  BuildRequest build;            ///< for the original, without text and output
  std::filesystem::path scratch; ///< where versions that record are built
  AssurancePolicy assurance = AssurancePolicy::Standard;
};

/// Builds a version of the candidate that records the outcomes of its conditions, and runs it on
/// all launches that the candidate was verified on. If an outcome never occurs, derives launches
/// with the numbers of its condition, and larger launches, until it does, and judges the candidate
/// on those. An outcome that is still missing then is a gap of the assurance. Under
/// AssurancePolicy::Strict a case that a number of the candidate's own singles out
/// (CoveragePoint::special) is refused. An outcome does not count as missing if it never occurs in
/// the original either, however the original spells the condition. On a GPU the check does not run
/// at Depth::Search, because it costs a build.
std::unique_ptr<Check> makeCoverageCheck(std::shared_ptr<DerivedReplays> replays,
                                         Frontend &frontend, Toolchain &toolchain,
                                         CoverageSettings settings);

} // namespace kopt
