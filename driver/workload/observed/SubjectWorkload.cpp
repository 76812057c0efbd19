// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/SubjectWorkload.h"

#include "driver/source/Expression.h"
#include "driver/workload/DeclaredNames.h"
#include "driver/workload/WorkloadBuilder.h"
#include "driver/workload/derived/DerivedLaunches.h"
#include "driver/workload/observed/TraceWorkload.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// The captured launch that breaks the requirement; null if none does.
const Launch *breaking(const std::string &requirement, const std::vector<Launch> &launches) {
  const auto found = std::ranges::find_if(launches, [&](const Launch &launch) {
    const auto value = evaluateExpression(requirement, launch.bindings);
    return isCaptured(launch) && value && *value == 0;
  });
  return found == launches.end() ? nullptr : &*found;
}

} // namespace

TuneDeclaration keptByLaunches(TuneDeclaration declaration, const std::vector<Launch> &launches) {
  std::erase_if(declaration.requirements,
                [&](const std::string &one) { return breaking(one, launches) != nullptr; });
  return declaration;
}

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
  for (const std::string &requirement : subject.declaration.requirements)
    if (const Launch *launch = breaking(requirement, result.workload.launches))
      result.notes.push_back(
          fmt::format("note: 'require {}' is not used: the program's launch '{}' does "
                      "not keep it",
                      requirement, launch->name));
  return result;
}

} // namespace kopt
