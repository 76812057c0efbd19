// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/replays/DerivedReplays.h"

#include "driver/judge/derive/DerivedLaunches.h"
#include "driver/judge/replays/DerivedOptions.h"
#include "driver/judge/replays/ReplayLimits.h"
#include "driver/model/Json.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <tuple>

namespace kopt {
namespace {

/// Launches with other contents have one name, whatever the sizes are.
std::string identityOf(const Launch &launch) {
  return launch.name + canonicalJson(launch.bindings);
}

} // namespace

const Launch &DerivedReplays::base(const CheckContext &context) const {
  return light_ ? replays_[*light_].derived.launch
                : context.baseline().launches[context.heaviest()];
}

double DerivedReplays::baseSeconds(const CheckContext &context) const {
  if (light_)
    return replays_[*light_].seconds;
  const std::size_t heaviest = context.heaviest();
  return heaviest < context.baselineSeconds.size() ? context.baselineSeconds[heaviest] : 0;
}

/// How many launches like base() a candidate can run in `seconds` of a GPU, or within
/// kCandidateInstructions on the emulated device; at least `fewest`.
std::size_t DerivedReplays::mostReplays(const CheckContext &context, double seconds,
                                        std::size_t fewest) const {
  const std::size_t heaviest = context.heaviest();
  double most = 0;
  if (!context.runner().device().modelled) {
    if (const double each = baseSeconds(context); each > 0)
      most = seconds / std::max(1e-4, each);
  } else if (heaviest < context.instructionLimits.size()) {
    const double expected = double(context.instructionLimits[heaviest]) / 20; // of a limit
    most = kCandidateInstructions / std::max(1.0, expected);
  }
  return std::max(fewest, std::size_t(std::min(most, 1e4)));
}

/// What other contents, scalars, sizes and addresses show of a kernel seldom depends on how large
/// the problem is, and a run on gigabytes takes most of a second. So launches are derived from one
/// of `ofHeaviest`, a smaller problem, if the original runs on one.
Status DerivedReplays::findLightBase(CheckContext &context,
                                     const std::vector<DerivedLaunch> &ofHeaviest) {
  const Launch &heaviest = context.baseline().launches[context.heaviest()];
  for (const double spare : kSpareMemory)
    for (const DerivedLaunch &one : ofHeaviest) {
      const double share = spare * double(one.launch.threads()) / double(heaviest.threads());
      if (!one.isSmall || share >= 1)
        continue;
      DerivedLaunch light = one;
      light.launch = withLessMemory(one.launch, kLeastLightBytes, share);
      light.isSmall = one.launch.threads() <= kSmallThreads;
      if (memoryOf(light.launch) > kMostLightBytes)
        continue;
      const LoggedStage logged("derive a smaller problem: " + light.title);
      KOPT_TRY(auto replay, prepare(context, std::move(light), context.seed() + 77, "derived-0"));
      if (!replay)
        continue;
      tries_.know(Derivation::Sizes);
      keptBytes_ += outputBytes(replay->derived.launch);
      light_ = replays_.size();
      replays_.push_back(std::move(*replay));
      return {};
    }
  return {};
}

/// `requirements` hold on all launches besides the user's.
DerivedLaunches DerivedReplays::derive(const CheckContext &context, const Launch &from,
                                       std::uint64_t most,
                                       const std::vector<std::string> &requirements) const {
  DerivationSource source = sourceOf(context.subject());
  TuneDeclaration declared = context.subject().declaration.value_or(TuneDeclaration());
  std::ranges::copy(requirements, std::back_inserter(declared.requirements));
  // What the program checks itself moves sizes to the ends of what it allows.
  const bool isStandard = weighing_.policy() == AssurancePolicy::Standard;
  if (isStandard)
    std::ranges::move(program_->requirements(), std::back_inserter(declared.requirements));
  if (isStandard || !requirements.empty())
    source.declaration = &declared;
  return deriveLaunches(source, from, most);
}

/// The launches in the order in which they are tried, the most telling first.
std::vector<DerivedLaunch> DerivedReplays::inOrder(const CheckContext &context,
                                                   std::vector<DerivedLaunch> launches) const {
  if (!isCostly_)
    return launches;
  if (context.subject().specialization.testsNonFinite)
    std::ranges::stable_partition(launches, &DerivedLaunch::nonFinite);
  if (!context.runner().device().modelled) // it runs none of these
    std::ranges::stable_partition(launches, std::logical_not(), &DerivedLaunch::unbounded);
  return inTurn(std::move(launches));
}

Status DerivedReplays::run(CheckContext &context, LaunchTries &tries,
                           const LaunchTries::Limits &limits, std::vector<NotDerived> &missing) {
  return tries.run(
      context, base(context), limits,
      [&](DerivedLaunch launch) { return take(context, std::move(launch)); }, missing);
}

Status DerivedReplays::learn(CheckContext &context) {
  if (learned_ >= Depth::Search)
    return {};
  learned_ = Depth::Search;
  const std::vector<Launch> &launches = context.baseline().launches;
  for (std::size_t i = 0; i < context.expected.size(); ++i)
    for (std::size_t b = 0; b < context.expected[i].buffers.size(); ++b)
      if (const auto &file = context.expected[i].buffers[b]; !file.empty())
        KOPT_CHECK(largestDifference(launches[i].buffers[b], file, file, &finite_));
  const Launch &heaviest = launches[context.heaviest()];
  isOfCaptured_ = isCaptured(heaviest);
  const std::vector<Launch> &ofProgram = context.subject().program;
  program_.emplace(sourceOf(context.subject()), ofProgram.empty() ? launches : ofProgram);
  std::vector<DerivedLaunch> own; // at the workload's size
  const double seconds = baseSeconds(context);
  if (isOfCaptured_ && !context.runner().device().modelled && seconds > GpuSeconds::kLightRun) {
    own = derive(context, heaviest, kLightThreads, {}).launches;
    KOPT_CHECK(findLightBase(context, own));
  }
  DerivedLaunches derived =
      derive(context, base(context), isOfCaptured_ ? kSmallProblem : kMost, {});
  missing_ = std::move(derived.missing);
  isCostly_ = isOfCaptured_ || std::ranges::any_of(derived.launches, [](const DerivedLaunch &one) {
                return !one.large && costOf(one.launch) > kCostly;
              });
  derived.launches = inOrder(context, std::move(derived.launches));
  if (isCostly_) {
    if (light_ && seconds <= GpuSeconds::kOwnRun)
      std::ranges::move(firstOfEach(std::move(own)),
                        std::inserter(derived.launches, derived.launches.begin()));
    inSearch_ = mostReplays(context, GpuSeconds::replays(Depth::Search), kFewestInSearch);
  }
  tries_.begin(std::move(derived.launches), isCostly_);
  KOPT_CHECK(
      run(context, tries_, {std::min(most_, inSearch_), GpuSeconds::kLearnForSearch}, missing_));
  // Launches that took long to learn also take long for each candidate.
  if (isCostly_)
    inSearch_ = std::max(kFewestInSearch, tries_.taken()) + (light_ ? 1 : 0);
  return {};
}

Status DerivedReplays::learnAll(CheckContext &context, Trial &trial, double seconds) {
  KOPT_CHECK(learn(context));
  if (isAllLearned())
    return {};
  learned_ = Depth::Win;
  const std::size_t most =
      std::min(most_, mostReplays(context, GpuSeconds::replays(Depth::Win), kFewest));
  KOPT_CHECK(run(context, tries_, {most, seconds, true}, missing_));
  for (const DerivedLaunch &launch : tries_.left())
    missing_.push_back(
        {launch.kind, launch.title,
         fmt::format("the time for a candidate is used up by {} other launches", tries_.taken()),
         launch.asLaunched});
  for (const NotDerived &item : missing_)
    if (item.asLaunched)
      trial.findings.push_back({"launch-site", Severity::Warning,
                                fmt::format("not tried: {}: {}", item.title, item.why), ""});
  return {};
}

Status DerivedReplays::learnWhere(CheckContext &context,
                                  const std::vector<std::string> &requirements) {
  if (requirements.empty() || !requirements_.insert(requirements).second)
    return {};
  const LoggedStage logged("derive launches where " + join(requirements, " && "));
  std::set<std::string> known;
  for (const Replay &replay : replays_)
    known.insert(identityOf(replay.derived.launch));
  std::vector<DerivedLaunch> launches = inOrder(
      context,
      derive(context, base(context), isOfCaptured_ ? kSmallProblem : kMost, requirements).launches);
  std::erase_if(launches,
                [&](const DerivedLaunch &one) { return known.contains(identityOf(one.launch)); });
  LaunchTries tries;
  tries.begin(std::move(launches), isCostly_);
  std::vector<NotDerived> unused;
  return run(context, tries,
             {std::min(most_, mostReplays(context, GpuSeconds::replays(Depth::Win), kFewest)),
              GpuSeconds::kLearn, true},
             unused);
}

Result<tl::expected<Replay, NotATest>> DerivedReplays::prepare(CheckContext &context,
                                                               DerivedLaunch derived,
                                                               std::uint64_t seed,
                                                               const std::string &slot) const {
  return makeReplay(context,
                    {base(context), baseSeconds(context), finite_, program_ ? &*program_ : nullptr},
                    std::move(derived), seed, slot);
}

Result<std::optional<NotATest>> DerivedReplays::take(CheckContext &context, DerivedLaunch launch) {
  const std::uint64_t bytes = outputBytes(launch.launch);
  const bool isKept =
      context.runner().device().modelled || !isOfCaptured_ || keptBytes_ + bytes <= mostKept_;
  KOPT_TRY(auto replay, prepare(context, std::move(launch), context.seed() + 77 + replays_.size(),
                                isKept ? fmt::format("derived-{}", replays_.size())
                                       : std::string("derived-large")));
  if (!replay)
    return std::optional(std::move(replay.error()));
  replay->isKept = isKept;
  if (isKept)
    keptBytes_ += bytes;
  replays_.push_back(std::move(*replay));
  return std::optional<NotATest>();
}

Result<std::shared_ptr<const Replay>> DerivedReplays::withResults(CheckContext &context,
                                                                  const Replay &replay) const {
  if (replay.isKept) // as it is, for each candidate: it may hold megabytes of contents
    return std::shared_ptr<const Replay>(std::shared_ptr<const Replay>(), &replay);
  const auto known = std::make_shared<Replay>(replay);
  const Launch &launch = replay.derived.launch;
  KOPT_TRY(known->expected,
           context.expect(launch, derivedOptions(context, launch, replay.expected.inputSeed,
                                                 kPoison, "derived-large")));
  return known;
}

std::vector<const DerivedLaunch *> DerivedReplays::smallOnes() const {
  std::vector<const DerivedLaunch *> ones, parts;
  for (const Replay &replay : replays_) {
    const DerivedLaunch &derived = replay.derived;
    if ((derived.kind != Derivation::Sizes && derived.kind != Derivation::Contents) ||
        !derived.beyond.empty() || weighing_.isUndefined(derived))
      continue;
    if (derived.isPart)
      parts.push_back(&derived);
    else if (!isOfCaptured_ || derived.isSmall || derived.launch.threads() <= kSmallThreads)
      ones.push_back(&derived);
  }
  // Of captured launches with few threads, the largest shows most; of small problems, the one that
  // keeps small sizes, which is derived first.
  if (isOfCaptured_)
    std::ranges::stable_sort(ones, std::greater(), [](const DerivedLaunch *one) {
      return std::tuple(one->isSmall, one->isSmall ? 0 : one->launch.grid.count());
    });
  ones.insert(ones.end(), parts.begin(), parts.end());
  return ones;
}

const Launch *DerivedReplays::small() const {
  const auto ones = smallOnes();
  return ones.empty() || ones.front()->isPart ? nullptr : &ones.front()->launch;
}

} // namespace kopt
