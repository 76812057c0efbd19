// SPDX-License-Identifier: Apache-2.0
// The end of tuning a kernel: the list of what was checked and what was not, and the winner's
// patch.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/model/Event.h"
#include "driver/model/Run.h"
#include "driver/model/Trial.h"
#include "driver/model/TuneSubject.h"
#include "driver/model/Workload.h"

#include <optional>
#include <vector>

namespace kopt {

/// The referenced records must outlive it.
struct SearchedKernel {
  const TuneSubject &subject;
  const Workload &workload; ///< as completed by the baseline
  const ExtractionResult &extraction;
  const DeviceInfo &device;
  const std::optional<Trial> &winner; ///< the confirmed trial
  std::filesystem::path build{};      ///< the build folder, for patchRoot()
};

/// How the baseline and the winner were checked, and what could not be checked.
std::vector<Event> verificationOf(const SearchedKernel &searched);

/// Adds the winner's edits of the user's files to the run, and the same change as a patch for `git
/// am`. Returns the edits, with the paths of the user's files. Fails with StaleInput if a file has
/// changed meanwhile.
Result<std::vector<SourceEdit>> addWinnerPatch(const SearchedKernel &searched, RunRecord &run);

/// Records the trial unless the run already has it, as a run that was killed before its
/// confirmation may.
Status recordOnce(Store &store, std::int64_t run, const Trial &trial);

/// The objective of the baseline's launches, whose weights are their shares of the time.
double baselineSeconds(const Baseline &baseline);

} // namespace kopt
