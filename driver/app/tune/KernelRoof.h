// SPDX-License-Identifier: Apache-2.0
// What a kernel has to do at least, and whether that is all it does.
#pragma once

#include "driver/diagnose/RuleBook.h"
#include "driver/judge/Judge.h"
#include "driver/model/Run.h"
#include "driver/search/Strategy.h"

#include <optional>

namespace kopt {

/// A kernel of which nothing is worth a trial.
struct AtRoof {
  Decision stop; ///< a Stop, with its evidence
  std::string finding;
};

class KernelRoof {
public:
  /// `uses`: nothing if the front end cannot tell. The rates are those that were measured when the
  /// run began.
  KernelRoof(const Specialization &kernel, std::optional<ParameterUses> uses,
             const DeviceInfo &device, const RunRecord &run);

  /// What stands beside the counters of the run's trials, which are those of the heaviest launch.
  Counters known(const Workload &workload) const;

  /// Nothing: something is left, or it is not known. One launch has counters; all have to move
  /// their bytes as fast as it does, in the state of the caches in which they are timed.
  std::optional<AtRoof> reached(const Baseline &baseline, const RuleBook &rules) const;

private:
  double bytesOf(const Launch &launch) const;

  const Specialization &kernel_;
  std::optional<ParameterUses> uses_;
  Counters device_;
};

} // namespace kopt
