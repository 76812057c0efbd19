// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/replays/LaunchTries.h"

#include "driver/judge/replays/DerivedOptions.h"
#include "driver/judge/replays/ReplayLimits.h"
#include "driver/support/Log.h"
#include "driver/workload/ScalarArguments.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace kopt {

LaunchTries::Change LaunchTries::changeOf(const Specialization &specialization, const Launch &from,
                                          const DerivedLaunch &derived) {
  Change change{derived.kind, {}};
  const auto were = integersOf(specialization, from),
             are = integersOf(specialization, derived.launch);
  const std::vector<Argument> &arguments = derived.launch.arguments;
  for (std::size_t i = 0; i < std::min(from.arguments.size(), arguments.size()); ++i) {
    const auto *before = std::get_if<ValueArg>(&from.arguments[i]);
    const auto *after = std::get_if<ValueArg>(&arguments[i]);
    if (!before || !after || before->bytes == after->bytes)
      continue;
    const auto is = are.find(specialization.params[i].name);
    change.scalars.emplace(i, is != are.end() && is->second > were.at(is->first));
  }
  return change;
}

/// True if a launch that changes this probably hangs, as one did that made the change `hung`: it
/// changes the same scalars in the same direction, and maybe others, or it is of the same kind and
/// both change none.
bool LaunchTries::isAlike(const Change &change, const Change &hung) {
  if (hung.scalars.empty())
    return change.scalars.empty() && change.kind == hung.kind;
  return std::ranges::includes(change.scalars, hung.scalars);
}

void LaunchTries::begin(std::vector<DerivedLaunch> launches, bool isCostly) {
  left_.assign(std::make_move_iterator(launches.begin()), std::make_move_iterator(launches.end()));
  isCostly_ = isCostly;
}

/// Why a launch is not worth a try; empty if it is.
std::string LaunchTries::whyNot(const DerivedLaunch &launch, const Change &change, bool isModelled,
                                bool isLate) const {
  const auto known = std::ranges::find_if(failed_, [&](const Failed &one) {
    return one.isHang ? isAlike(change, one.change) : change == one.change;
  });
  if (known != failed_.end())
    return fmt::format("the original {} on a similar one: {}", known->isHang ? "hangs" : "crashes",
                       known->title);
  if (isModelled)
    return "";
  const auto tries = tries_.find(launch.kind);
  const bool isKnownKind =
      kinds_.contains(launch.kind) || (tries != tries_.end() && tries->second >= kMostTries);
  if (isCostly_ && !launch.isPart && !launch.isSmall &&
      (isKnownKind || std::ranges::any_of(failed_, &Failed::isHang)) && isLate)
    return fmt::format("the original takes too long to be tried on more than {}", taken_);
  return launch.unbounded
             ? "it may be an index, and a GPU does not report accesses outside a buffer"
             : "";
}

Status LaunchTries::run(CheckContext &context, const Launch &base, const Limits &limits,
                        const std::function<Result<std::optional<NotATest>>(DerivedLaunch)> &take,
                        std::vector<NotDerived> &missing) {
  const bool isModelled = context.runner().device().modelled;
  const OwnTime time(context);
  for (std::deque<DerivedLaunch> pending = std::exchange(left_, {}); !pending.empty();
       pending.pop_front()) {
    DerivedLaunch &launch = pending.front();
    const bool isPart = launch.isPart;
    // At least one launch has to be found, however long it takes, unless a search waits for it or
    // the original hangs.
    const bool mayStop = taken_ > 0 || std::ranges::any_of(failed_, &Failed::isHang);
    const double seconds = mayStop ? limits.seconds : kUntilFound * limits.seconds;
    const bool isLate = !isModelled && (mayStop || !limits.isLast) && time.seconds() > seconds;
    if (isCostly_ &&
        (isPart ? !limits.isLast : taken_ >= limits.most || (isLate && !limits.isLast))) {
      left_.push_back(std::move(launch));
      continue;
    }
    const Change change = changeOf(context.subject().specialization, base, launch);
    NotDerived unfit{launch.kind, launch.title, whyNot(launch, change, isModelled, isLate),
                     launch.asLaunched};
    if (unfit.why.empty()) {
      KOPT_TRY(unfit.why, whyTooMuch(context, launch.launch));
    }
    if (!unfit.why.empty()) {
      missing.push_back(std::move(unfit));
      continue;
    }
    const Derivation kind = launch.kind;
    ++tries_[kind];
    const LoggedStage logged(fmt::format("derive {}: {}", toString(kind), launch.title));
    KOPT_TRY(auto reason, take(std::move(launch)));
    if (!reason) {
      kinds_.insert(kind);
      taken_ += !isPart;
      continue;
    }
    const bool isHang = reason->ended == RunStatus::TimedOut;
    if (isHang || (reason->ended == RunStatus::Fault && !isModelled && !change.scalars.empty()))
      failed_.push_back({change, unfit.title, isHang});
    unfit.why = std::move(reason->why);
    if (!isPart)
      missing.push_back(std::move(unfit));
  }
  return {};
}

Result<std::string> whyTooMuch(CheckContext &context, const Launch &launch) {
  if (costOf(launch) <= 4 * kMost ||
      costOf(launch) <= costOf(context.baseline().launches[context.heaviest()]))
    return std::string();
  RunOptions options = derivedOptions(context, launch, context.seed(), kPoison, "derived-large");
  const double expected = double(options.instructionLimit) /
                          (20 * kLeniency); // a limit is 20 times the expected number
  if (expected <= kReplayInstructions)
    return std::string();
  options.instructionLimit = std::uint64_t(kReplayInstructions);
  KOPT_TRY(const auto ran, context.tryExpect(launch, options));
  return ran ? std::string()
             : fmt::format("the original does not finish within {:.2g} instructions on the "
                           "emulated device: {}",
                           kReplayInstructions, ran.error().what);
}

} // namespace kopt
