// SPDX-License-Identifier: Apache-2.0
// Whether a workload can tell a wrong kernel from the right one: wrong versions of the original go
// through the same checks as a candidate. Where one passes, so might a wrong candidate.
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/judge/checks/DerivedReplays.h"
#include "driver/model/Adequacy.h"
#include "driver/source/Frontend.h"

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

struct AdequacySettings {
  BuildRequest build;            ///< of the original: everything but text and output
  std::filesystem::path scratch; ///< where mutants are built
  std::filesystem::path cache;   ///< folder in which reports are kept; empty: none is
  std::string toolchain;         ///< its name: part of a report's identity
  unsigned threads = 1;          ///< mutants built at a time
  std::size_t atMost = 24;
  /// Mutants that are left then are not tried, and those that passed are not looked at closely.
  double mostSeconds = std::numeric_limits<double>::infinity();
};

/// Judges mutants of the context's baseline by the checks, which have learned it. For one that
/// passes and that nothing excuses other launches are derived until one tells it: they are the
/// report's additions, which the caller adds to the replays. A report of the same kernel, workload,
/// device and checks is taken from the cache, where the time did not end it. Fails with Environment
/// or Internal.
Result<AdequacyReport> testAdequacy(CheckContext &context,
                                    const std::vector<std::unique_ptr<Check>> &checks,
                                    const DerivedReplays &replays, Frontend &frontend,
                                    Toolchain &toolchain, const AdequacySettings &settings);

/// Has what it will have compiled compiled by `jobs`, on other threads.
void compileMutantsAhead(std::shared_ptr<const Subject> subject, std::uint64_t seed,
                         Frontend &frontend, Toolchain &toolchain, AdequacySettings settings,
                         JobQueue &jobs);

} // namespace kopt
