// SPDX-License-Identifier: Apache-2.0
// `kopt check --measure`: judges the variants of kopt.lock against the originals again, and records
// those that should no longer be used.
#pragma once

#include "driver/app/trial/TrialFlow.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

struct MeasureRequest {
  std::filesystem::path folder;      ///< contains kopt.lock
  std::filesystem::path buildFolder; ///< contains generated files; empty: not known
  /// How each variant is judged. Files, kernels and candidates are those of the lock.
  TrialRequest trial;
};

struct MeasuredVariant {
  std::string kernel, place;
  std::string notMeasured; ///< why not; empty: it was
  Verdict verdict = Verdict::Ambiguous;
  std::string reason; ///< of the verdict
  /// Why the build should use the original again; empty: no reason was found.
  std::string regressed;
};

/// Judges each variant that is not stale, and one that is slower or refused a second time with
/// another seed. Where both agree, writes that to the lock as `regressed`; a variant that is faster
/// loses such a mark. A modelled time counts only for variants whose gain is modelled too. Fails as
/// checkLock() and runTrials(); the lock then has what was found before.
Result<std::vector<MeasuredVariant>> measureLock(Services services, const MeasureRequest &request);

} // namespace kopt
