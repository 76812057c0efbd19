// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/replays/OwnLaunches.h"

#include "driver/judge/derive/TurningLaunches.h"
#include "driver/judge/replays/DerivedOptions.h"
#include "driver/workload/ApplyCandidate.h"
#include "driver/workload/OtherScalars.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// Why the launch is too large to run; empty if it is not.
Result<std::string> whyTooLarge(CheckContext &context, const Launch &launch) {
  const DeviceInfo &device = context.runner().device();
  const std::uint64_t bytes = memoryOf(launch);
  std::uint64_t most = device.modelled ? kLargestModelled : kLargestOnGpu;
  if (!device.modelled && device.memoryBytes > 0)
    most = std::min(most, device.memoryBytes / 4);
  if (bytes > most)
    return fmt::format("it takes {} MiB", bytes >> 20);
  return device.modelled ? whyTooMuch(context, launch) : Result<std::string>(std::string());
}

/// The requirement that does not hold for a derived problem with the candidate's constants, if any.
std::optional<std::string> brokenThere(const CheckContext &context, const Candidate &candidate,
                                       const Launch &launch) {
  const auto &declaration = context.subject().declaration;
  if (!declaration)
    return std::nullopt;
  Bindings values = launch.bindings;
  for (const auto &[name, value] : candidate.constants)
    values[name] = value;
  return brokenRequirement(sourceOf(context.subject()), launch, std::move(values));
}

/// Compares again within what `widen` gives if the results differ.
Result<std::optional<Failure>> compareWidening(CheckContext &context, Examination &seen,
                                               const Launch &own, const Expected &expected,
                                               const RunOptions &options, CheckId check,
                                               const std::vector<Slack> &slack, const auto &widen) {
  KOPT_TRY(auto failure,
           context.compare(seen.built, own, expected, options, check, seen.trial, slack));
  if (!failure || failure->verdict != Verdict::WrongResult || failure->check != check)
    return failure;
  const auto widened = [&] {
    const StageTimer timer(seen.trial, "verify/own error");
    return widen();
  };
  KOPT_TRY(const auto wider, widened());
  if (!wider)
    return failure;
  return context.compare(seen.built, own, expected, options, check, seen.trial, *wider);
}

} // namespace

Result<Launch> applyToDerived(const CheckContext &context, const Candidate &candidate,
                              const Launch &launch) {
  if (const auto broken = brokenThere(context, candidate, launch))
    return makeError(ErrorCode::Usage, fmt::format("'require {}' does not hold there", *broken));
  return applyToLaunch(context.subject().kernel, launch, candidate);
}

std::optional<Failure> failureToLaunch(const CheckContext &context, const Candidate &candidate,
                                       const Launch &launch, CheckId check) {
  if (brokenThere(context, candidate, launch))
    return std::nullopt;
  const auto why = whyNotLaunched(context.subject().kernel, launch, candidate);
  if (!why)
    return std::nullopt;
  return Failure{check, Verdict::RunFailed,
                 fmt::format("launch '{}', on which the original runs: {}", launch.name, *why)};
}

Result<std::optional<Failure>> compareDerived(CheckContext &context, Weighing &weighing,
                                              Examination &seen, const Replay &replay,
                                              const Launch &own, const RunOptions &options,
                                              CheckId check) {
  return compareWidening(context, seen, own, replay.expected, options, check, replay.slack, [&] {
    return weighing.widened(context, replay.derived.launch, replay.expected, replay.slack);
  });
}

Result<std::optional<Failure>> compareOwn(CheckContext &context, Weighing &weighing,
                                          Examination &seen, const Launch &original,
                                          const Launch &own, const Expected &expected,
                                          const RunOptions &options, CheckId check) {
  return compareWidening(context, seen, own, expected, options, check, {}, [&] {
    return weighing.widenedForWorkload(context, original, expected, {}, seen.trial);
  });
}

Result<std::optional<Failure>> checkOwnLaunchSizes(CheckContext &context, DerivedReplays &replays,
                                                   Examination &seen, CheckRecord &record) {
  const bool isModelled = context.runner().device().modelled;
  const Launch &heaviest = context.baseline().launches[context.heaviest()];
  std::vector<std::string> tried;
  for (TurningLaunch &turn :
       turningLaunches(sourceOf(context.subject()), heaviest, seen.candidate)) {
    if (!isModelled && !turn.isRefused && seen.depth != Depth::Win)
      continue;
    KOPT_TRY(const std::string tooLarge, whyTooLarge(context, turn.derived.launch));
    const auto gap = [&](const std::string &why) {
      addGap(seen.trial.assurance,
             {CheckId::Sizes,
              fmt::format("with {} {}, which was not tried: {}; if no caller uses such "
                          "numbers, say so with a 'require' clause",
                          turn.derived.title, turn.what, why)});
    };
    if (!tooLarge.empty()) {
      gap(tooLarge);
      continue;
    }
    const std::string title = turn.derived.title;
    KOPT_TRY(const auto replay, replays.prepare(context, std::move(turn.derived),
                                                context.seed() + 91, "derived-turn"));
    if (!replay)
      continue; // the original does not run on it
    addStages(seen.trial, "verify", replay->expected.seconds, replay->expected.stages);
    const Launch &launch = replay->derived.launch;
    if (turn.isRefused) {
      const std::string why =
          fmt::format("launch '{}', on which the original runs: {}", launch.name, turn.what);
      if (replays.weighing().policy() == AssurancePolicy::Strict || turn.times <= kNear)
        return Failure{CheckId::Sizes, Verdict::RunFailed, why};
      addGap(seen.trial.assurance, {CheckId::Sizes, why});
      continue;
    }
    const auto own = applyToDerived(context, seen.candidate, launch);
    if (!own)
      continue; // the candidate's constants are not meant for that size
    KOPT_TRY(auto failure, compareDerived(context, replays.weighing(), seen, *replay, *own,
                                          derivedOptions(context, *own, replay->expected.inputSeed,
                                                         kOtherPoison, "derived"),
                                          CheckId::Sizes));
    if (failure) {
      failure->reason += "; " + turn.what;
      KOPT_TRY(failure, replays.weighing().weigh(context, seen, *replay, std::move(*failure)));
    }
    if (failure)
      return failure;
    tried.push_back(title);
  }
  for (const std::string &title : tried)
    record.detail += fmt::format("; also where its own launch changes: {}", title);
  return std::nullopt;
}

} // namespace kopt
