// SPDX-License-Identifier: Apache-2.0
// Tests whether a workload can tell a wrong kernel from the right one: wrong versions of the
// original go through the same checks as a candidate. If one passes, a wrong candidate might pass,
// too.
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/judge/replays/DerivedReplays.h"
#include "driver/model/Adequacy.h"
#include "driver/source/Frontend.h"

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

struct AdequacySettings {
  BuildRequest build;            ///< for the original, without text and output
  std::filesystem::path scratch; ///< where mutants are built
  std::filesystem::path cache;   ///< folder in which reports are kept; empty: they are not kept
  std::string toolchain;         ///< its name: part of a report's identity
  unsigned threads = 1;          ///< mutants built at a time
  std::size_t atMost = 24;
  /// After this time, remaining mutants are not tried, and those that passed are not examined more
  /// closely.
  double mostSeconds = std::numeric_limits<double>::infinity();
};

/// Runs mutants of the context's baseline through the checks, which have learned from it. For a
/// mutant that passes and that has no excuse, derives other launches until one notices it; these
/// are the report's additions, which the caller adds to the replays. Uses a cached report of the
/// same kernel, workload, device and checks; a report that ran out of time is not cached. Fails
/// with Environment or Internal.
Result<AdequacyReport> testAdequacy(CheckContext &context,
                                    const std::vector<std::unique_ptr<Check>> &checks,
                                    const DerivedReplays &replays, Frontend &frontend,
                                    Toolchain &toolchain, const AdequacySettings &settings);

/// Adds to `jobs` the compilations that testAdequacy() will need.
void compileMutantsAhead(std::shared_ptr<const Subject> subject, std::uint64_t seed,
                         Frontend &frontend, Toolchain &toolchain, AdequacySettings settings,
                         JobQueue &jobs);

} // namespace kopt
