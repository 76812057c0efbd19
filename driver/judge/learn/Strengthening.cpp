// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/learn/Strengthening.h"

#include "driver/judge/derive/DrawnLaunches.h"
#include "driver/judge/derive/LargerLaunches.h"
#include "driver/judge/replays/DerivedOptions.h"
#include "driver/support/Hash.h"

namespace kopt {
namespace {

using Addition = AdequacyReport::Addition;

/// The most threads and elements of a larger launch; limited because every candidate runs on it.
constexpr std::uint64_t kMostOnGpu = 1u << 20, kMostModelled = 1u << 16;
constexpr std::size_t kLarger = 48, kSteps = 6; ///< sizes that are made; sizes that are tried

std::optional<DerivedLaunch> derive(CheckContext &context, const DerivedReplays &replays,
                                    const Addition &addition) {
  const DerivationSource source = sourceOf(context.subject());
  if (addition.kind == AdditionKind::Larger) {
    auto larger =
        largerLaunches(source, context.baseline().launches[context.heaviest()],
                       context.runner().device().modelled ? kMostModelled : kMostOnGpu, kLarger);
    if (larger.empty())
      return std::nullopt;
    const std::size_t step = addition.seed % kSteps + 1; // the last step is the largest
    return std::move(larger[(step * larger.size() + kSteps - 1) / kSteps - 1]);
  }
  if (addition.base >= replays.replays().size())
    return std::nullopt;
  const DerivedLaunch &base = replays.replays()[addition.base].derived;
  if (base.isPart)
    return std::nullopt;
  if (addition.kind == AdditionKind::Sizes)
    return drawSizes(source, base.launch, addition.seed);
  if (addition.kind == AdditionKind::Scalars)
    return drawScalars(source, base.launch, addition.seed);
  DerivedLaunch again = base; // differs only in its inputs
  again.launch.name += ", other inputs";
  return again;
}

} // namespace

Result<std::optional<Replay>> remake(CheckContext &context, const DerivedReplays &replays,
                                     const Addition &addition, const std::string &slot) {
  auto derived = derive(context, replays, addition);
  if (!derived)
    return std::nullopt;
  KOPT_TRY(auto replay, replays.prepare(context, std::move(*derived), addition.seed | 1, slot));
  if (!replay)
    return std::nullopt;
  return std::optional(std::move(*replay));
}

Result<std::optional<Addition>>
findTellingLaunch(CheckContext &context, const DerivedReplays &replays, const Built &mutant,
                  std::uint64_t seed, std::size_t tries, const std::vector<Addition> &known,
                  const std::function<bool()> &isOutOfTime) {
  constexpr std::size_t kKinds = spellings(AdditionKind()).size();
  std::vector<Addition> wanted = known;
  for (std::size_t i = 0; i < tries; ++i) {
    const std::uint64_t random = mixed(seed, i);
    const std::size_t base =
        replays.replays().empty() ? 0 : (random >> 8) % replays.replays().size();
    const auto kind = AdditionKind(i % kKinds);
    wanted.push_back({kind, base, kind == AdditionKind::Larger ? i / kKinds : random});
  }
  Trial unused;
  for (const Addition &addition : wanted) {
    if (isOutOfTime())
      break;
    KOPT_TRY(const auto replay, remake(context, replays, addition, "derived-fresh"));
    if (!replay)
      continue;
    const Launch &launch = replay->derived.launch;
    KOPT_TRY(const auto failure,
             context.compare(mutant, launch, replay->expected,
                             derivedOptions(context, launch, replay->expected.inputSeed,
                                            kOtherPoison, "derived"),
                             CheckId::Mutants, unused, replay->slack));
    if (failure)
      return std::optional(addition);
  }
  return std::nullopt;
}

} // namespace kopt
