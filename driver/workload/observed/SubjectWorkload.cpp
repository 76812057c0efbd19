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

void addBrokenRequirements(const TuneSubject &subject, SubjectWorkload &made) {
  for (const std::string &requirement : subject.declaration.requirements)
    if (const Launch *launch = breaking(subject, requirement, made.workload.launches))
      made.notes.push_back(
          fmt::format("note: 'require {}' is not used: the program's launch '{}' does "
                      "not keep it",
                      requirement, launch->name));
}

/// Adds the launches of one command, which have `part` of those of all commands.
void add(const std::string &label, double part, SubjectWorkload own, SubjectWorkload &all) {
  const auto take = [&](std::vector<Launch> &from, std::vector<Launch> &to) {
    for (Launch &launch : from) {
      const auto seconds = own.programSeconds.find(launch.name);
      launch.name = label + launch.name;
      launch.weight *= part;
      if (seconds != own.programSeconds.end())
        all.programSeconds[launch.name] = seconds->second;
      to.push_back(std::move(launch));
    }
  };
  take(own.workload.launches, all.workload.launches);
  take(own.heldOut, all.heldOut);
  for (std::string &note : own.notes)
    if (std::ranges::find(all.notes, note) == all.notes.end())
      all.notes.push_back(std::move(note));
  own.workload.launches = std::move(all.workload.launches);
  all.workload = std::move(own.workload);
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
  addBrokenRequirements(subject, result);
  return result;
}

std::string labelOf(const std::string &command) { return command + ": "; }

Result<SubjectWorkload> workloadOf(const TuneSubject &subject, const std::vector<ObservedRun> &runs,
                                   DeviceKind device) {
  if (runs.empty())
    return workloadOf(subject, std::nullopt, device);
  std::vector<std::pair<std::string, TraceWorkload>> each;
  double launches = 0;
  for (const ObservedRun &run : runs) {
    const bool isLast = &run == &runs.back() && each.empty(); // whose error says what is missing
    if (!isLast && !isLaunched(run.trace, subject.specialization))
      continue;
    KOPT_TRY(TraceWorkload own, workloadFromTrace(run.trace, subject.kernel, subject.specialization,
                                                  subject.declaration, device, kKindsOfLaunches));
    launches += own.launches;
    each.emplace_back(runs.size() > 1 ? labelOf(run.command) : "", std::move(own));
  }
  SubjectWorkload all;
  for (auto &[label, own] : each)
    add(label, own.launches / launches, std::move(own), all);
  addBrokenRequirements(subject, all);
  return all;
}

} // namespace kopt
