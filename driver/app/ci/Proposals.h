// SPDX-License-Identifier: Apache-2.0
// `kopt ci --propose`: tunes the kernels that a change touches and writes a patch for each win.
#pragma once

#include "driver/app/ci/CiFlow.h"
#include "driver/config/Config.h"

#include <filesystem>
#include <vector>

namespace kopt {

struct ProposalSettings {
  std::filesystem::path root;   ///< .kopt/ lives here
  std::filesystem::path output; ///< folders of runs, and ci/KERNEL.patch
  ResolvedOptions options;      ///< of the search; the time budget is for all kernels together
  AssurancePolicy assurance = AssurancePolicy::Standard;
  std::size_t most = 2; ///< patches
};

/// Tunes the kernels one after another, in the order of kernelsToTune(), until there are enough
/// patches or the time is over. A kernel that cannot be tuned becomes a note in the report. Fails
/// with Environment or Interrupted, as TuneSession.
Status addGateProposals(const Services &services, const CiRequest &request,
                        const ProposalSettings &settings, GateReport &report);

/// Indices of the kernels of the report that are worth tuning: those that became slower and those
/// that take longest come first.
std::vector<std::size_t> kernelsToTune(const GateReport &report);

} // namespace kopt
