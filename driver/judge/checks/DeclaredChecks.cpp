// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/Checks.h"

#include "driver/judge/derive/DerivedLaunches.h"
#include "driver/judge/replays/OwnLaunches.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// Runs the declared launches on the inputs that the baseline's results are kept for, with two
/// poisons: results that depend on stale memory or on luck differ between them.
class OutputsCheck final : public Check {
public:
  explicit OutputsCheck(std::shared_ptr<DerivedReplays> replays) : replays_(std::move(replays)) {}
  CheckId id() const override { return CheckId::Outputs; }
  bool runsWorkload() const override { return true; }
  Depth from() const override { return Depth::Look; }
  Status learn(CheckContext &, Trial &) override { return {}; }
  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen,
                                     CheckRecord &record) override {
    // The other poison is that of the fresh inputs, too.
    const std::vector<std::uint64_t> poisons = seen.depth == Depth::Look || isBrief(context, seen)
                                                   ? std::vector{kPoison}
                                                   : std::vector{kPoison, kOtherPoison};
    for (std::size_t i = 0; i < seen.built.launches.size(); ++i)
      for (const std::uint64_t poison : poisons) {
        const RunOptions options =
            context.options(context.expected[i].inputSeed, poison, i, fmt::format("run-{}", i));
        KOPT_TRY(auto failure,
                 compareOwn(context, replays_->weighing(), seen, context.baseline().launches[i],
                            seen.built.launches[i], context.expected[i], options, id()));
        if (failure)
          return failure;
      }
    record.detail = fmt::format("{} launches{}", seen.built.launches.size(),
                                poisons.size() > 1 ? " on two poisons" : "");
    return std::nullopt;
  }

private:
  std::shared_ptr<DerivedReplays> replays_;
};

/// True if a part of a buffer that the workload's launch writes all of was left as it was.
bool leavesUnwritten(const Launch &launch, const Expected &seen) {
  for (std::size_t b = 0; b < std::min(launch.buffers.size(), seen.unwritten.size()); ++b)
    if (launch.buffers[b].output && seen.unwritten[b] > 0)
      return true;
  return false;
}

/// Runs the workload's launches on inputs drawn from the frozen candidate's own hash, or on
/// captured inputs moved by it: no candidate can be written for them.
class FreshCheck final : public Check {
public:
  explicit FreshCheck(std::shared_ptr<DerivedReplays> replays) : replays_(std::move(replays)) {}
  CheckId id() const override { return CheckId::Fresh; }
  bool runsWorkload() const override { return true; }
  Depth from() const override { return Depth::Search; }
  Status learn(CheckContext &, Trial &) override { return {}; }
  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen,
                                     CheckRecord &record) override {
    std::size_t launches = 0;
    for (int draw = 0; draw < seen.strength.freshDraws; ++draw)
      for (std::size_t i = 0; i < seen.built.launches.size(); ++i) {
        const std::uint64_t seed = seen.freshSeed + i + std::uint64_t(draw) * 0x10001;
        const Launch &original = context.baseline().launches[i];
        RunOptions options = context.options(seed, kPoison, i, fmt::format("fresh-{}", i));
        // Captured inputs are not drawn but moved in their last places, in a way that no candidate
        // can know.
        options.jitter = isCaptured(original);
        if (isCaptured(original))
          options = context.forTrying(options, context.baselineSeconds[i]);
        KOPT_TRY(auto fresh, context.tryExpect(original, options));
        // Inputs moved like this may decide what is written: a kernel may multiply by a captured
        // 1 / 13 to find an index.
        if (isCaptured(original) && (!fresh || leavesUnwritten(original, *fresh)))
          continue;
        if (!fresh) {
          KOPT_TRY(fresh, context.expect(original, options)); // fails, and says how
        }
        ++launches;
        addStages(seen.trial, "verify", fresh->seconds, fresh->stages);
        options.poisonSeed = kOtherPoison;
        options.slot = fmt::format("run-{}", i);
        KOPT_TRY(auto failure, compareOwn(context, replays_->weighing(), seen, original,
                                          seen.built.launches[i], *fresh, options, id()));
        if (!failure)
          continue;
        KOPT_TRY(const AskedAgain *again,
                 replays_->weighing().askAgain(context, original, *fresh, {}));
        if (again->why.empty())
          return failure;
        --launches; // these inputs are no test
      }
    if (launches == 0)
      return notRun(
          record,
          "the original does not run on captured inputs moved in their last place, does not "
          "write all of an output, or does not repeat its own result");
    record.detail = fmt::format("{} launches", launches);
    return std::nullopt;
  }

private:
  std::shared_ptr<DerivedReplays> replays_;
};

} // namespace

std::unique_ptr<Check> makeOutputsCheck(std::shared_ptr<DerivedReplays> replays) {
  return std::make_unique<OutputsCheck>(std::move(replays));
}
std::unique_ptr<Check> makeFreshCheck(std::shared_ptr<DerivedReplays> replays) {
  return std::make_unique<FreshCheck>(std::move(replays));
}

} // namespace kopt
