// SPDX-License-Identifier: Apache-2.0
// The end of a tuning: what was checked and what was not, and the winner's patch.
#pragma once

#include "driver/model/Decision.h"
#include "driver/model/Run.h"
#include "driver/model/Trial.h"
#include "driver/model/TuneSubject.h"
#include "driver/model/Workload.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The referenced records outlive it.
struct TunedKernel {
  const TuneSubject &subject;
  const Workload &workload; ///< as the baseline learned it
  const ExtractionResult &extraction;
  const DeviceInfo &device;
  const std::optional<Trial> &winner; ///< as it was confirmed
};

/// How the baseline and the winner were checked, and what could not be checked.
std::vector<Decision> verificationOf(const TunedKernel &tuned);

/// Puts the winner's edits of the user's files into the run, and the same as a patch that `git am`
/// takes. Returns the edits with the files' own paths. Fails with StaleInput where a file changed
/// meanwhile.
Result<std::vector<SourceEdit>> addWinnerPatch(const TunedKernel &tuned, RunRecord &run);

} // namespace kopt
