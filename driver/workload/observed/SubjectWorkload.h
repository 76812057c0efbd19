// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/model/TuneSubject.h"
#include "driver/model/Workload.h"
#include "driver/workload/observed/TraceFolder.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What a kernel is judged on.
struct SubjectWorkload {
  Workload workload;
  std::vector<Launch> heldOut; ///< captured launches for the final validation only
  /// What launches like those of that name took in the program, at the mean, where that is known.
  std::map<std::string, double> programSeconds;
  std::vector<std::string> notes; ///< for people: what was left out of a trace, and why;
                                  ///< constants that a clause gives another value
};

/// The program's own launches where it was observed, with those held out; else the declared ones.
/// Fails as workloadFromTrace() or buildWorkload().
Result<SubjectWorkload> workloadOf(const TuneSubject &subject,
                                   const std::optional<ObservedTrace> &observed, DeviceKind device);

} // namespace kopt
