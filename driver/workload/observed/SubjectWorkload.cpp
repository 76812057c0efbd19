// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/SubjectWorkload.h"

#include "driver/workload/DeclaredNames.h"
#include "driver/workload/OtherScalars.h"
#include "driver/workload/WorkloadBuilder.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// The captured launch that breaks the requirement; null if none does.
const Launch *breaking(const TuneSubject &subject, const std::string &requirement,
                       const std::vector<Launch> &launches) {
  TuneDeclaration alone;
  alone.requirements = {requirement};
  const DerivationSource source{subject.kernel, subject.specialization, &alone};
  const auto found = std::ranges::find_if(launches, [&](const Launch &launch) {
    return isCaptured(launch) && brokenRequirement(source, launch, launch.bindings);
  });
  return found == launches.end() ? nullptr : &*found;
}

} // namespace

TuneDeclaration keptByLaunches(const TuneSubject &subject, const std::vector<Launch> &launches) {
  TuneDeclaration kept = subject.declaration;
  std::erase_if(kept.requirements, [&](const std::string &one) {
    return breaking(subject, one, launches) != nullptr;
  });
  return kept;
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
  KOPT_TRY(result, workloadFromTrace(*observed, subject.kernel, subject.specialization,
                                     subject.declaration, device, kKindsOfLaunches));
  for (const std::string &requirement : subject.declaration.requirements)
    if (const Launch *launch = breaking(subject, requirement, result.workload.launches))
      result.notes.push_back(
          fmt::format("note: 'require {}' is not used: the program's launch '{}' does "
                      "not keep it",
                      requirement, launch->name));
  return result;
}

} // namespace kopt
