// SPDX-License-Identifier: Apache-2.0
// What no launch made the candidate do, no launch has verified. A candidate that is wrong for one
// size or one value alone is right in every test but the one that nobody thought of, and shows in
// this: some of its code never ran.
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/judge/checks/DerivedReplays.h"
#include "driver/source/Frontend.h"

namespace kopt {

struct CoverageSettings {
  BuildRequest build;            ///< of the original: everything but text and output
  std::filesystem::path scratch; ///< where recording versions are built
};

/// Builds the candidate with a record of the outcomes of its conditions, runs it on all that it was
/// verified on, and refuses one with an outcome that never occurred, unless the original has the
/// same condition, however it is spelled, with the same outcome missing. On a GPU it is not asked
/// at Depth::Search: it costs a build.
std::unique_ptr<Check> makeCoverageCheck(std::shared_ptr<DerivedReplays> replays,
                                         Frontend &frontend, Toolchain &toolchain,
                                         CoverageSettings settings);

} // namespace kopt
