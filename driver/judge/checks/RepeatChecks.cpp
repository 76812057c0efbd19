// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/Checks.h"

#include "driver/judge/replays/DerivedOptions.h"
#include "driver/judge/replays/OwnLaunches.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kopt {
namespace {

/// The most threads and elements of a launch that is repeated as it is on the emulated device. A
/// larger one is replaced by a derived launch.
constexpr std::uint64_t kMostRepeated = 1u << 15;
constexpr int kFewestRepeats = 3;
constexpr double kLongSeconds = 10; ///< if kFewestRepeats take longer, a derived launch is used

/// How many times a candidate is launched, at most `wanted`.
int repeatsOf(const CheckContext &context, const DerivedReplays &replays, int wanted,
              double seconds) {
  if (context.runner().device().modelled)
    return wanted;
  const double most = seconds / std::max(1e-3, replays.baseSeconds(context));
  return std::min(wanted, std::max(kFewestRepeats, int(std::min(most, 1e6))));
}

/// The launch to repeat: the workload's heaviest, or one derived from it if the heaviest is large
/// (emulated device) or takes too long (GPU). Null if there is none.
const Launch *launchToRepeat(CheckContext &context, const DerivedReplays &replays) {
  const Launch &heaviest = context.baseline().launches[context.heaviest()];
  if (context.runner().device().modelled)
    return costOf(heaviest) <= kMostRepeated ? &heaviest : replays.small();
  if (replays.isLight())
    return &replays.base(context);
  const bool isLong = replays.baseSeconds(context) * kFewestRepeats > kLongSeconds;
  const Launch *small = isLong ? replays.small() : nullptr;
  return small ? small : &heaviest;
}

constexpr const char *kTooLarge = "every launch has too many threads and elements to be repeated";

class RepeatCheck final : public Check {
public:
  explicit RepeatCheck(std::shared_ptr<DerivedReplays> replays) : replays_(std::move(replays)) {}
  CheckId id() const override { return CheckId::Repeat; }

  Status learn(CheckContext &context, Trial &baseline) override {
    KOPT_CHECK(replays_->learnAll(context, baseline));
    launch_ = launchToRepeat(context, *replays_);
    if (!launch_)
      return {};
    isStable_ = true;
    spread_.assign(launch_->buffers.size(), {0, true});
    for (std::size_t which = 0; which < expected_.size(); ++which) {
      KOPT_TRY(
          expected_[which],
          context.expect(*launch_, options(context, which, 0, fmt::format("repeat-{}", which))));
      for (int i = 1; i < repeatsOf(context, *replays_, 5, GpuSeconds::kRepeats); ++i) {
        RunOptions next = options(context, which, i, "repeat-next");
        next.known = expected_[which].digest;
        KOPT_TRY(const Expected again, context.expect(*launch_, next));
        for (std::size_t b = 0; !again.isKnown && b < launch_->buffers.size(); ++b)
          if (!launch_->buffers[b].readOnly)
            KOPT_CHECK(widen(b, expected_[which].buffers[b], again.buffers[b]));
      }
    }
    return {};
  }

  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen,
                                     CheckRecord &record) override {
    if (!launch_)
      return notRun(record, kTooLarge);
    const auto applied = applyToDerived(context, seen.candidate, *launch_);
    if (!applied)
      return notRun(record, applied.error().what);
    const Launch &launch = *applied;
    const int repeats = repeatsOf(context, *replays_, seen.strength.repeats, GpuSeconds::kRepeats);
    std::array<RunOutcome, 2> first;
    std::array<std::vector<Slack>, 2> allowed{spread_, spread_};
    for (int i = 0; i < repeats; ++i) {
      const std::size_t which = std::size_t(i % 2);
      const std::string slot = i < 2 ? fmt::format("repeat-own-{}", which) : "repeat-next";
      RunOptions own = context.forCandidate(options(context, which, i, slot), launch);
      own.known = first[which].digest;
      KOPT_TRY(const RunOutcome outcome,
               context.runCandidate(seen.built.module, launch, own, seen.trial));
      const std::string where =
          fmt::format("launch '{}', time {} of {}", launch.name, i + 1, repeats);
      if (outcome.status != RunStatus::Ok)
        return failureOf(outcome.status, id(), where + ": " + outcome.detail);
      addStages(seen.trial, "verify", 0, outcome.stages);
      if (outcome.isKnown)
        continue; // as the first time, which was compared
      if (i < 2)
        first[which] = outcome;
      const StageTimer timer(seen.trial, "verify/judge");
      const auto judgeWithin = [&] {
        return judge(context, launch, where, expected_[which].buffers, first[which].buffers,
                     outcome.buffers, allowed[which]);
      };
      KOPT_TRY(auto failure, judgeWithin());
      if (failure) {
        Weighing &weighing = replays_->weighing();
        KOPT_TRY(const auto wider, weighing.widenedForWorkload(context, *launch_, expected_[which],
                                                               spread_, seen.trial));
        KOPT_TRY(const AskedAgain *again,
                 weighing.askAgain(context, *launch_, expected_[which], spread_));
        isStable_ = isStable_ && again->isSame;
        allowed[which] = wider.value_or(spread_);
        KOPT_TRY(failure, judgeWithin());
      }
      if (failure)
        return failure;
    }
    record.detail =
        fmt::format("{} launches{}", repeats,
                    isStable_ ? ", the same bits each time" : "; the original varies, too");
    return std::nullopt;
  }

private:
  RunOptions options(CheckContext &context, std::size_t which, int time, std::string slot) const {
    RunOptions options =
        context.options(context.seed() + 1000 + which, 0x1001 + 0x333 * std::uint64_t(time),
                        context.heaviest(), std::move(slot));
    options.freshModule = time % 3 == 2;
    return options;
  }

  Status widen(std::size_t buffer, const std::filesystem::path &a, const std::filesystem::path &b) {
    KOPT_TRY(const bool same, sameBytes(a, b));
    if (same)
      return {};
    isStable_ = false;
    KOPT_TRY(const auto difference, largestDifference(launch_->buffers[buffer], a, b, nullptr));
    spread_[buffer].absolute = std::max(spread_[buffer].absolute, 2 * difference.value_or(0));
    return {};
  }

  Result<std::optional<Failure>> judge(CheckContext &context, const Launch &launch,
                                       const std::string &where,
                                       const std::vector<std::filesystem::path> &expected,
                                       const std::vector<std::filesystem::path> &first,
                                       const std::vector<std::filesystem::path> &now,
                                       const std::vector<Slack> &allowed) const {
    KOPT_TRY(const auto mismatch,
             firstMismatch(launch.buffers, context.subject().workload.tolerance, expected, now,
                           allowed));
    if (mismatch)
      return Failure{id(), Verdict::WrongResult, where + ": " + *mismatch};
    if (!isStable_)
      return std::nullopt;
    const Tolerance bitwise{TolerancePolicy::Strict, 0, 0};
    KOPT_TRY(const auto change, firstMismatch(launch.buffers, bitwise, first, now));
    if (change)
      return Failure{
          id(), Verdict::WrongResult,
          fmt::format(
              "{}: its result changes from launch to launch, but the original's does not: {}",
              where, *change)};
    return std::nullopt;
  }

  std::shared_ptr<DerivedReplays> replays_;
  const Launch *launch_ = nullptr;
  std::array<Expected, 2> expected_; ///< for two draws of inputs
  bool isStable_ = true;
  std::vector<Slack> spread_; ///< spread of the original's own results, for each buffer
};

class ScheduleCheck final : public Check {
public:
  explicit ScheduleCheck(std::shared_ptr<DerivedReplays> replays) : replays_(std::move(replays)) {}
  CheckId id() const override { return CheckId::Schedule; }

  Status learn(CheckContext &context, Trial &baseline) override {
    KOPT_CHECK(replays_->learnAll(context, baseline));
    launch_ = launchToRepeat(context, *replays_);
    if (!launch_) {
      why_ = kTooLarge;
      mayApply_ = true;
      return {};
    }
    KOPT_TRY(expected_, context.expect(*launch_, options(context, 0, "schedule")));
    for (const std::uint64_t order : {2, 7, 12}) {
      KOPT_TRY(const auto other,
               context.tryExpect(*launch_, options(context, order, "schedule-next")));
      if (!other) {
        why_ = "the original itself fails with its threads in another order: " + other.error().what;
        return {};
      }
      KOPT_TRY(const auto mismatch,
               firstMismatch(launch_->buffers, context.subject().workload.tolerance,
                             expected_.buffers, other->buffers));
      if (mismatch) {
        why_ = "the original's result depends on the order of its threads: " + *mismatch;
        return {};
      }
    }
    for (const Replay &replay : replays_->replays())
      if (replay.derived.kind == Derivation::Contents && !replay.derived.isExtreme) {
        KOPT_TRY(const bool stands, standsReversed(context, replay));
        if (stands)
          anyOrder_.push_back(&replay);
      }
    return {};
  }

  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen,
                                     CheckRecord &record) override {
    if (!why_.empty())
      return mayApply_ ? notRun(record, why_) : notApplicable(record, why_);
    auto applied = applyToDerived(context, seen.candidate, *launch_);
    if (!applied)
      return notRun(record, applied.error().what);
    Launch &launch = *applied;
    const int orders = 4 * seen.strength.freshDraws;
    launch.name += ", threads in another order";
    for (int i = 0; i < orders; ++i) {
      // Even orders begin with the last block, odd ones stride through the blocks.
      const std::uint64_t order = (seen.freshSeed >> 8) * 2 + 2 + std::uint64_t(i);
      KOPT_TRY(auto failure, compareOwn(context, replays_->weighing(), seen, *launch_, launch,
                                        expected_, options(context, order, "schedule-next"), id()));
      if (failure)
        return failure;
    }
    // Threads depend on each other most where values are equal or collide. Run these contents with
    // the last block first.
    std::size_t contents = 0;
    for (const Replay *replay : anyOrder_) {
      auto derived = applyToDerived(context, seen.candidate, replay->derived.launch);
      if (!derived)
        continue; // the contents check deals with it
      derived->name += ", threads in another order";
      KOPT_TRY(auto failure, compareDerived(context, replays_->weighing(), seen, *replay, *derived,
                                            reversed(context, *replay), id()));
      if (failure)
        return failure;
      ++contents;
    }
    record.detail =
        fmt::format("{} orders, and the reverse one on {} other contents", orders, contents);
    return std::nullopt;
  }

private:
  RunOptions options(CheckContext &context, std::uint64_t order, std::string slot) const {
    RunOptions options = context.options(context.seed() + 2000, kPoison + order, context.heaviest(),
                                         std::move(slot));
    options.scheduleSeed = order;
    return options;
  }

  static RunOptions reversed(CheckContext &context, const Replay &replay) {
    RunOptions options = derivedOptions(context, replay.derived.launch, replay.expected.inputSeed,
                                        kOtherPoison, "schedule-next");
    options.scheduleSeed = 2;
    return options;
  }

  static Result<bool> standsReversed(CheckContext &context, const Replay &replay) {
    KOPT_TRY(const auto other, context.tryExpect(replay.derived.launch, reversed(context, replay)));
    if (!other)
      return false;
    KOPT_TRY(const auto mismatch,
             firstMismatch(replay.derived.launch.buffers, context.subject().workload.tolerance,
                           replay.expected.buffers, other->buffers, replay.slack));
    return !mismatch;
  }

  std::shared_ptr<DerivedReplays> replays_;
  const Launch *launch_ = nullptr;
  Expected expected_;
  std::vector<const Replay *>
      anyOrder_;          ///< launches whose result in the original is the same in reverse order
  std::string why_;       ///< why the check cannot run; empty if it can
  bool mayApply_ = false; ///< it could run with a smaller launch
};

} // namespace

std::unique_ptr<Check> makeRepeatCheck(std::shared_ptr<DerivedReplays> replays) {
  return std::make_unique<RepeatCheck>(std::move(replays));
}
std::unique_ptr<Check> makeScheduleCheck(std::shared_ptr<DerivedReplays> replays) {
  return std::make_unique<ScheduleCheck>(std::move(replays));
}

} // namespace kopt
