// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/model/TuneSubject.h"
#include "driver/model/Workload.h"
#include "driver/workload/observed/TraceWorkload.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The subject's declaration without the requirements that one of the program's own launches
/// breaks: the kernel has to be right there, too. Declared launches keep all of them.
TuneDeclaration keptByLaunches(const TuneSubject &subject, const std::vector<Launch> &launches);

/// The program's own launches if it was observed, with those held out; otherwise the declared ones.
/// Fails as workloadFromTrace() or buildWorkload() does.
Result<SubjectWorkload> workloadOf(const TuneSubject &subject,
                                   const std::optional<ObservedTrace> &observed, DeviceKind device);

/// The same for a program that several commands run: the launches of all of them, each named after
/// its command. Commands that do not launch the subject are left out; one at least has to.
Result<SubjectWorkload> workloadOf(const TuneSubject &subject, const std::vector<ObservedRun> &runs,
                                   DeviceKind device);

/// How the name of a launch of one of several commands begins.
std::string labelOf(const std::string &command);

} // namespace kopt
