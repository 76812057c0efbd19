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

/// The launches that a kernel is judged on.
struct SubjectWorkload {
  Workload workload;
  std::vector<Launch> heldOut; ///< captured launches for the final validation only
  /// Mean seconds in the program of the launches that the launch of that name represents, if known.
  std::map<std::string, double> programSeconds;
  std::vector<std::string> notes; ///< messages: what was left out of a trace, and why; constants to
                                  ///< which a clause gives another value
};

/// The subject's declaration without the requirements that one of the program's own launches
/// breaks: the kernel has to be right there, too. Declared launches keep all of them.
TuneDeclaration keptByLaunches(const TuneSubject &subject, const std::vector<Launch> &launches);

/// The program's own launches if it was observed, with those held out; otherwise the declared ones.
/// Fails as workloadFromTrace() or buildWorkload() does.
Result<SubjectWorkload> workloadOf(const TuneSubject &subject,
                                   const std::optional<ObservedTrace> &observed, DeviceKind device);

} // namespace kopt
