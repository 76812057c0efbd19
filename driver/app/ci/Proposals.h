// SPDX-License-Identifier: Apache-2.0
// `kopt ci --propose`: the kernels that a change touches, tuned; one patch each.
#pragma once

#include "driver/app/ci/CiFlow.h"
#include "driver/app/config/Config.h"

#include <filesystem>
#include <vector>

namespace kopt {

struct ProposalSettings {
  std::filesystem::path root;   ///< .kopt/ lives here
  std::filesystem::path output; ///< folders of runs, and ci/KERNEL.patch
  ResolvedOptions options;      ///< of the search; its seconds are for all kernels together
  AssurancePolicy assurance = AssurancePolicy::Standard;
  std::size_t most = 2; ///< patches
};

/// Tunes one kernel after the other, those first that became slower and that take longest, until
/// there are as many patches as wanted or the time is over. A kernel that cannot be tuned is a note
/// of the report. Fails with Environment or Interrupted, as a tuning does.
Status addGateProposals(const Services &services, const CiRequest &request,
                        const ProposalSettings &settings, GateReport &report);

/// Kernels of the report worth tuning, in that order, as indices.
std::vector<std::size_t> kernelsToTune(const GateReport &report);

} // namespace kopt
