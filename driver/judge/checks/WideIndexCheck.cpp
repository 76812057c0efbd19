// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/WideIndexCheck.h"
#include "driver/judge/checks/OwnLaunches.h"

#include "driver/judge/checks/DerivedReplays.h"
#include "driver/support/Log.h"
#include "driver/workload/derived/WideIndices.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <regex>

namespace kopt {
namespace {

constexpr Duration kWideLimit{1};            ///< of a run on a GPU
constexpr std::uint64_t kLastThreads = 8192; ///< on the emulated device
constexpr std::uint64_t kWideInstructions = 50'000'000;
/// How far the candidate's part of the original's threads may be from that in the workload, for
/// blocks at the ends of their grids.
constexpr double kLikeBefore = 0.2;

/// True if some integer of the kernel's text may number more than 2^31 elements. Otherwise the
/// original would only fault, which costs a GPU's context.
bool mayBeWide(const std::string &text) {
  static const std::regex wide(
      R"(\b(long|unsigned|auto|s?size_t|ptrdiff_t|uint|ulong|u?int64_t|uint32_t|u?int64)\b)");
  return std::regex_search(text, wide);
}

RunOptions optionsOf(const CheckContext &context, const Launch &launch, double shareOfGrid) {
  RunOptions options = context.options(context.seed(), kPoison, context.heaviest(), "wide");
  options.repeating = true;
  options.checkRaces = false;
  if (!context.runner().device().modelled) {
    options.limit = kWideLimit;
    return options;
  }
  const std::uint64_t blocks = std::max<std::uint64_t>(2, kLastThreads / launch.block.count());
  options.lastBlocks = std::uint32_t(std::max(1.0, double(blocks) * shareOfGrid));
  options.instructionLimit = kWideInstructions;
  return options;
}

} // namespace

Status WideIndexCheck::learn(CheckContext &context) {
  if (std::exchange(learned_, true) || !mayBeWide(context.subject().sliceText))
    return {};
  const Launch &heaviest = context.baseline().launches[context.heaviest()];
  for (DerivedLaunch &wide : wideIndexLaunches(sourceOf(context.subject()), heaviest)) {
    const LoggedStage logged("derive a launch beyond 32-bit indices: " + wide.title);
    KOPT_TRY(const RunOutcome outcome, context.runner().run(context.baseline().module, wide.launch,
                                                            optionsOf(context, wide.launch, 1)));
    if (outcome.status == RunStatus::Ok) {
      wide_ = std::move(wide);
      return {};
    }
  }
  return {};
}

Result<std::optional<Failure>> WideIndexCheck::ask(CheckContext &context, Examination &seen,
                                                   CheckRecord &record) {
  const StageTimer timer(seen.trial, "verify/wide");
  KOPT_CHECK(learn(context));
  if (!wide_)
    return std::nullopt;
  const auto own = applyToDerived(context, seen.candidate, wide_->launch);
  if (!own)
    return std::nullopt; // the candidate's constants are not meant for that size
  // A candidate whose threads do more has fewer blocks. One whose grid does not grow with the
  // problem does other work in its last blocks than the original.
  const Launch &base = wide_->launch;
  const Launch &heaviest = context.baseline().launches[context.heaviest()];
  const Launch &usual = seen.built.launches[context.heaviest()];
  const auto shareOf = [](const Launch &candidate, const Launch &original) {
    return double(candidate.threads()) / double(original.threads());
  };
  if (context.runner().device().modelled &&
      std::abs(shareOf(*own, base) / shareOf(usual, heaviest) - 1) > kLikeBefore)
    return std::nullopt;
  const double share =
      shareOf(*own, base) * double(base.block.count()) / double(own->block.count());
  const auto pass = [&] {
    passed_.insert(seen.built.hash);
    record.detail += fmt::format("; with more than 2^31 elements ({}), it keeps within its buffers",
                                 wide_->title);
    return std::optional<Failure>();
  };
  if (passed_.contains(seen.built.hash))
    return pass();
  KOPT_TRY(const RunOutcome outcome,
           context.runner().run(seen.built.module, *own, optionsOf(context, base, share)));
  if (outcome.status == RunStatus::Fault)
    return Failure{"sizes", Verdict::RunFailed,
                   fmt::format("launch '{}', which has more than 2^31 elements: {}", base.name,
                               outcome.detail)};
  return outcome.status == RunStatus::Ok ? pass() : std::nullopt;
}

} // namespace kopt
