// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/SubjectWorkload.h"

#include "driver/workload/DeclaredNames.h"
#include "driver/workload/WorkloadBuilder.h"
#include "driver/workload/observed/TraceWorkload.h"

namespace kopt {

Result<SubjectWorkload> workloadOf(const TuneSubject &subject,
                                   const std::optional<ObservedTrace> &observed,
                                   DeviceKind device) {
  SubjectWorkload result;
  if (!observed) {
    KOPT_TRY(result.workload,
             buildWorkload(subject.kernel, subject.specialization, subject.declaration, device));
    result.notes = shadowedConstants(subject.kernel, subject.specialization, subject.declaration);
    return result;
  }
  KOPT_TRY(TraceWorkload captured,
           workloadFromTrace(*observed, subject.kernel, subject.specialization, subject.declaration,
                             device, kKindsOfLaunches));
  result.workload = std::move(captured.workload);
  result.heldOut = std::move(captured.heldOut);
  result.programSeconds = std::move(captured.programSeconds);
  result.notes = std::move(captured.notes);
  return result;
}

} // namespace kopt
