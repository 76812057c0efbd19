// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/DerivedReplays.h"

#include "driver/judge/checks/DerivedOptions.h"
#include "driver/judge/checks/ErrorStatistics.h"
#include "driver/judge/derive/DerivedLaunches.h"
#include "driver/model/Json.h"
#include "driver/support/ElementType.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"
#include "driver/workload/OtherScalars.h"
#include "driver/workload/ScalarArguments.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <regex>
#include <tuple>

namespace kopt {
namespace {

/// The most threads and elements of a derived launch. It is small because each candidate runs about
/// twenty of them: together they take about 30 ms on a GPU, and about as long on the emulated
/// device.
constexpr std::uint64_t kMost = 16384;
/// Threads and elements from which on a candidate runs on as many derived launches as there is time
/// for: of a grid that no argument makes smaller, and of all captured launches.
constexpr std::uint64_t kCostly = 64 * kMost;
constexpr double kReplayInstructions = 5e7; ///< of one launch on the emulated device, about 0.2 s
constexpr double kJump =
    16; ///< an element has jumped if it moves by more than this many times what the others do
constexpr std::uint32_t kDraws = 3; ///< draws of moved inputs, to see which elements jump
/// Elements of an output, over all draws of moved inputs, that are needed to know its noise: a
/// single sum may hardly move in one draw.
constexpr std::uint64_t kNoiseElements = 32;
constexpr std::uint64_t kMostNoiseDraws = 8;
/// Results may be sums of all elements of a launch, and their errors grow with the square root of
/// the number of elements. The default tolerance is meant for a few thousand.
constexpr std::uint64_t kManyElements = 32768;
constexpr double kManyTerms = 4;
constexpr double kNoise = 4; ///< times the movement of the original's own result
constexpr double kCoarse =
    1. / 16; ///< part of an output's magnitude, where only large errors count

/// Instructions of one candidate on the emulated device, over all launches derived from a captured
/// one; about 2e8 take a second.
constexpr double kCandidateInstructions = 5e8;
constexpr std::size_t kFewest = 4; ///< one for each kind
constexpr std::size_t kFewestInSearch = 1;
constexpr int kMostTries = 3; ///< launches of a kind that are tried when the seconds are used up
constexpr double kUntilFound = 3; ///< times the seconds for learning, until one is found
/// The most bytes of results of a launch with elements that jump: kopt has to remember which do.
constexpr std::uint64_t kMostMoved = std::uint64_t(256) << 20;
/// The most threads of a small problem that is derived from a captured launch.
constexpr std::uint64_t kSmallProblem = 4096;

/// Threads of the smaller problem from which launches are derived if the captured one is too large:
/// enough to fill a GPU's multiprocessors. Its buffers are cut in proportion to its threads, with
/// some to spare; a layout that does not follow the sizes may need more.
constexpr std::uint64_t kLightThreads = 1u << 18, kMostLightBytes = std::uint64_t(256) << 20;
constexpr std::uint64_t kLeastLightBytes = 64 << 10;
constexpr double kSpareMemory[] = {4, 64};

/// True if the kernel's text treats infinities or NaNs by themselves.
bool treatsNonFinite(const std::string &text) {
  static const std::regex names(
      R"(\b_*(is(inf|nan|finite)\w*|INFINITY|NAN|HUGE_VALF?|infinity|quiet_NaN)\b)");
  return std::regex_search(text, names);
}

std::uint64_t outputBytes(const Launch &launch) {
  std::uint64_t bytes = 0;
  for (const Buffer &buffer : launch.buffers)
    bytes += buffer.readOnly ? 0 : buffer.bytes;
  return bytes;
}

DerivedReplays::Change changeOf(const Specialization &specialization, const Launch &from,
                                const DerivedLaunch &derived) {
  DerivedReplays::Change change{derived.kind, {}};
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
bool isAlike(const DerivedReplays::Change &change, const DerivedReplays::Change &hung) {
  if (hung.scalars.empty())
    return change.scalars.empty() && change.kind == hung.kind;
  return std::ranges::includes(change.scalars, hung.scalars);
}

/// Launches with other contents have one name, whatever the sizes are.
std::string identityOf(const Launch &launch) {
  return launch.name + canonicalJson(launch.bindings);
}

} // namespace

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
      KOPT_TRY(auto replay, prepare(context, std::move(light), context.seed() + 77, slot_ + "-0"));
      if (!replay)
        continue;
      kinds_.insert(Derivation::Sizes);
      keptBytes_ += outputBytes(replay->derived.launch);
      light_ = replays_.size();
      replays_.push_back(std::move(*replay));
      return {};
    }
  return {};
}

Status DerivedReplays::learn(CheckContext &context) {
  if (std::exchange(learned_, true))
    return {};
  for (std::size_t i = 0; i < context.expected.size(); ++i)
    for (std::size_t b = 0; b < context.expected[i].buffers.size(); ++b)
      if (const auto &file = context.expected[i].buffers[b]; !file.empty())
        KOPT_CHECK(
            largestDifference(context.baseline().launches[i].buffers[b], file, file, &finite_));
  const Launch &heaviest = context.baseline().launches[context.heaviest()];
  isOfCaptured_ = isCaptured(heaviest);
  const std::vector<Launch> &ofProgram = context.subject().program;
  DerivationSource source = sourceOf(context.subject());
  declared_ = context.subject().declaration.value_or(TuneDeclaration());
  if (!where_.empty()) {
    std::ranges::copy(where_, std::back_inserter(declared_.requirements));
    source.declaration = &declared_;
  }
  program_.emplace(source, ofProgram.empty() ? context.baseline().launches : ofProgram);
  // What the program checks itself moves sizes to the ends of what it allows.
  TuneDeclaration checked = declared_;
  if (policy_ == AssurancePolicy::Standard) {
    std::ranges::move(program_->requirements(), std::back_inserter(checked.requirements));
    source.declaration = &checked;
  }
  std::vector<DerivedLaunch> own; // at the workload's size
  const double seconds = baseSeconds(context);
  if (isOfCaptured_ && !context.runner().device().modelled && seconds > GpuSeconds::kLightRun) {
    own = deriveLaunches(source, heaviest, kLightThreads).launches;
    KOPT_CHECK(findLightBase(context, own));
  }
  DerivedLaunches derived =
      deriveLaunches(source, base(context), isOfCaptured_ ? kSmallProblem : kMost);
  missing_ = std::move(derived.missing);
  isCostly_ = isOfCaptured_ || std::ranges::any_of(derived.launches, [](const DerivedLaunch &one) {
                return !one.large && costOf(one.launch) > kCostly;
              });
  if (isCostly_) {
    if (treatsNonFinite(context.subject().sliceText)) // most telling there
      std::ranges::stable_partition(derived.launches, &DerivedLaunch::nonFinite);
    if (!context.runner().device().modelled) // it runs none of these
      std::ranges::stable_partition(derived.launches, std::logical_not(),
                                    &DerivedLaunch::unbounded);
    derived.launches = inTurn(std::move(derived.launches));
    if (light_ && seconds <= GpuSeconds::kOwnRun)
      std::ranges::move(firstOfEach(std::move(own)),
                        std::inserter(derived.launches, derived.launches.begin()));
    inSearch_ = mostReplays(context, GpuSeconds::replays(Depth::Search), kFewestInSearch);
  }
  std::erase_if(derived.launches,
                [&](const DerivedLaunch &one) { return known_.contains(identityOf(one.launch)); });
  pending_.assign(std::make_move_iterator(derived.launches.begin()),
                  std::make_move_iterator(derived.launches.end()));
  KOPT_CHECK(learnLaunches(context, std::min(most_, inSearch_), GpuSeconds::kLearnForSearch));
  // Launches that took long to learn also take long for each candidate.
  if (isCostly_)
    inSearch_ = std::max(kFewestInSearch, taken_) + (light_ ? 1 : 0);
  return {};
}

Status DerivedReplays::learnAll(CheckContext &context, Trial &trial, double seconds) {
  KOPT_CHECK(learn(context));
  if (std::exchange(learnedAll_, true))
    return {};
  const std::size_t most =
      std::min(most_, mostReplays(context, GpuSeconds::replays(Depth::Win), kFewest));
  KOPT_CHECK(learnLaunches(context, most, seconds));
  for (DerivedLaunch &launch : pending_)
    missing_.push_back(
        {launch.kind, launch.title,
         fmt::format("the time for a candidate is used up by {} other launches", taken_),
         launch.asLaunched});
  pending_.clear();
  noteMissing(trial);
  return {};
}

Status DerivedReplays::learnWhere(CheckContext &context,
                                  const std::vector<std::string> &requirements) {
  if (requirements.empty() || !requirements_.insert(requirements).second)
    return {};
  const LoggedStage logged("derive launches where " + join(requirements, " && "));
  DerivedReplays where(most_, policy_, mostKept_);
  where.slot_ = fmt::format("where-{}", requirements_.size());
  for (const Replay &replay : replays_)
    where.known_.insert(identityOf(replay.derived.launch));
  where.where_ = requirements;
  Trial unused;
  KOPT_CHECK(where.learnAll(context, unused));
  for (Replay &replay : where.replays_)
    if (!where.known_.contains(identityOf(replay.derived.launch)))
      replays_.push_back(std::move(replay));
  return {};
}

/// Learns pending launches until candidates can run on `most` of them, or `seconds` of a GPU are
/// used up. Parts of a grid come last and do not count.
Status DerivedReplays::learnLaunches(CheckContext &context, std::size_t most, double seconds) {
  const bool isModelled = context.runner().device().modelled;
  const OwnTime time(context);
  std::deque<DerivedLaunch> left;
  for (; !pending_.empty(); pending_.pop_front()) {
    DerivedLaunch &launch = pending_.front();
    const bool isPart = launch.isPart;
    // At least one launch has to be found, however long it takes, unless a search waits for it or
    // the original hangs.
    const bool hasHung = std::ranges::any_of(failed_, &Failed::isHang);
    const bool mayStop = taken_ > 0 || hasHung;
    const double limit = mayStop ? seconds : kUntilFound * seconds;
    const bool isLate = !isModelled && (mayStop || !learnedAll_) && time.seconds() > limit;
    if (isCostly_ && (isPart ? !learnedAll_ : taken_ >= most || (isLate && !learnedAll_))) {
      left.push_back(std::move(launch));
      continue;
    }
    KOPT_TRY(std::string tooMuch, whyTooMuch(context, launch.launch));
    NotDerived unfit{launch.kind, launch.title, std::move(tooMuch), launch.asLaunched};
    if (launch.unbounded && !isModelled)
      unfit.why = "it may be an index, and a GPU does not report accesses outside a buffer";
    if (isCostly_ && !isModelled && !isPart && !launch.isSmall &&
        (kinds_.contains(launch.kind) || tries_[launch.kind] >= kMostTries || hasHung) && isLate)
      unfit.why = fmt::format("the original takes too long to be tried on more than {}", taken_);
    const Change change = changeOf(context.subject().specialization, base(context), launch);
    if (const auto known = std::ranges::find_if(failed_,
                                                [&](const Failed &one) {
                                                  return one.isHang ? isAlike(change, one.change)
                                                                    : change == one.change;
                                                });
        known != failed_.end())
      unfit.why = fmt::format("the original {} on a similar one: {}",
                              known->isHang ? "hangs" : "crashes", known->title);
    if (!unfit.why.empty()) {
      missing_.push_back(std::move(unfit));
      continue;
    }
    ++tries_[launch.kind];
    const LoggedStage logged(fmt::format("derive {}: {}", toString(launch.kind), launch.title));
    KOPT_TRY(auto reason, take(context, std::move(launch)));
    if (reason) {
      const bool isHang = reason->ended == RunStatus::TimedOut;
      if (isHang || (reason->ended == RunStatus::Fault && !isModelled && !change.scalars.empty()))
        failed_.push_back({change, unfit.title, isHang});
      unfit.why = std::move(reason->why);
      if (!isPart)
        missing_.push_back(std::move(unfit));
      continue;
    }
    taken_ += !isPart;
  }
  pending_ = std::move(left);
  return {};
}

Result<std::optional<NotATest>> DerivedReplays::take(CheckContext &context, DerivedLaunch launch) {
  const std::uint64_t bytes = outputBytes(launch.launch);
  const bool isKept =
      context.runner().device().modelled || !isOfCaptured_ || keptBytes_ + bytes <= mostKept_;
  KOPT_TRY(auto replay, prepare(context, std::move(launch), context.seed() + 77 + replays_.size(),
                                isKept ? fmt::format("{}-{}", slot_, replays_.size())
                                       : std::string("derived-large")));
  if (!replay)
    return std::optional(std::move(replay.error()));
  kinds_.insert(replay->derived.kind);
  replay->isKept = isKept;
  if (isKept)
    keptBytes_ += bytes;
  replays_.push_back(std::move(*replay));
  return std::optional<NotATest>();
}

void DerivedReplays::noteMissing(Trial &trial) const {
  for (const NotDerived &item : missing_)
    if (item.asLaunched)
      trial.findings.push_back({"launch-site", Severity::Warning,
                                fmt::format("not tried: {}: {}", item.title, item.why), ""});
}

Result<Expected> DerivedReplays::expectedOf(CheckContext &context, const Replay &replay) const {
  if (replay.isKept)
    return replay.expected;
  return context.expect(replay.derived.launch,
                        derivedOptions(context, replay.derived.launch, replay.expected.inputSeed,
                                       kPoison, "derived-large"));
}

namespace {

/// How many times inputs are moved to see how far the results move.
std::uint64_t noiseDraws(const Launch &launch) {
  std::uint64_t draws = 1;
  for (const Buffer &buffer : launch.buffers)
    if (!buffer.readOnly && isFloating(buffer.scalar))
      draws = std::max(draws, kNoiseElements / std::max<std::uint64_t>(
                                                   1, buffer.bytes / elementBytes(buffer.scalar)));
  return std::min(draws, kMostNoiseDraws);
}

/// Learns which elements of the buffers jump: a few draws of moved inputs show most of them.
template <class Run>
Status learnJumps(const Expected &expected, const Launch &launch,
                  const std::vector<std::size_t> &jumping, Run run,
                  DerivedReplays::Replay &replay) {
  std::vector<Expected> draws;
  for (std::uint32_t draw = 0; draw < kDraws && !jumping.empty(); ++draw) {
    KOPT_TRY(auto moved, run(kOtherPoison, draw + 1, fmt::format("derived-moved-{}", draw)));
    if (moved)
      draws.push_back(std::move(*moved));
  }
  for (const std::size_t b : jumping) {
    std::vector<std::filesystem::path> files;
    for (const Expected &moved : draws)
      files.push_back(moved.buffers[b]);
    KOPT_TRY(std::string furthest, furthestOf(launch.buffers[b], expected.buffers[b], files));
    replay.slack[b].moved = std::make_shared<const std::string>(std::move(furthest));
  }
  return {};
}

} // namespace

Result<tl::expected<DerivedReplays::Replay, NotATest>>
DerivedReplays::prepare(CheckContext &context, DerivedLaunch derived, std::uint64_t seed,
                        const std::string &slot) const {
  using Answer = tl::expected<Replay, NotATest>;
  const auto unfit = [](std::string why) {
    return Answer(tl::unexpected(NotATest{std::move(why)}));
  };
  const auto doesNotRun = [](const Unfinished &end) {
    return Answer(
        tl::unexpected(NotATest{"the original does not run on it: " + end.what, end.status}));
  };
  Launch &launch = derived.launch;
  if (program_ && !derived.isPart)
    derived.beyond = program_->whyNot(launch);
  const auto run = [&](std::uint64_t poison, std::uint32_t jitter, const std::string &name,
                       const ResultsDigest &known = {}) {
    RunOptions options = derivedOptions(context, launch, seed, poison, name);
    options.jitter = jitter;
    options.known = known;
    options.checkRaces = !context.racesItself;
    const double growth =
        double(costOf(launch)) / double(std::max<std::uint64_t>(1, costOf(base(context))));
    return context.tryExpect(
        launch, context.forTrying(options, std::max(1.0, growth) * baseSeconds(context)));
  };
  // A buffer that the kernel only writes in the workload's launch may be read in this one: y, if
  // beta is not 0.
  const auto hasOutputs = [&] { return std::ranges::any_of(launch.buffers, &Buffer::output); };
  const auto withOutputsFilled = [&] {
    for (Buffer &buffer : launch.buffers)
      buffer.output = false;
    return prepare(context, std::move(derived), seed, slot);
  };
  KOPT_TRY(auto expected, run(kPoison, 0, slot));
  if (!expected && hasOutputs() && expected.error().status != RunStatus::TimedOut)
    return withOutputsFilled();
  if (!expected)
    return doesNotRun(expected.error());
  // A smaller problem may leave part of an output unwritten; then the old contents count.
  bool partial = false;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    if (b < expected->unwritten.size() && expected->unwritten[b] > 0)
      partial = true, launch.buffers[b].output = false;
  if (partial) {
    KOPT_TRY(expected, run(kPoison, 0, slot));
    if (!expected)
      return doesNotRun(expected.error());
  }
  KOPT_TRY(const auto again, run(kOtherPoison, 0, "derived-second", expected->digest));
  if (!again)
    return doesNotRun(again.error());
  Replay replay;
  replay.seconds = again->ownSeconds();
  const Tolerance &tolerance = context.subject().workload.tolerance;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    replay.slack.push_back({0, true, derived.nonFinite});
    if (launch.buffers[b].readOnly || again->isKnown)
      continue;
    KOPT_TRY(const auto mismatch, compareBuffers(launch.buffers[b], tolerance, expected->buffers[b],
                                                 again->buffers[b], replay.slack.back()));
    if (mismatch && hasOutputs())
      return withOutputsFilled();
    if (mismatch)
      return unfit("the original does not repeat its own result on it: " +
                   mismatch->describe(launch.buffers[b]));
  }
  if (derived.inPlace) {
    const std::size_t b = derived.inPlace->both;
    const Launch &apart = derived.inPlace->apart;
    KOPT_TRY(const auto usual,
             context.tryExpect(apart, context.forTrying(derivedOptions(context, apart, seed,
                                                                       kPoison, "derived-second"),
                                                        baseSeconds(context))));
    if (!usual)
      return doesNotRun(usual.error());
    KOPT_TRY(const auto mismatch,
             compareBuffers(launch.buffers[b], tolerance, usual->buffers[derived.inPlace->output],
                            expected->buffers[b], replay.slack[b]));
    if (mismatch)
      return unfit("the original has other results where they are one");
  }
  std::vector<std::optional<double>> noise(launch.buffers.size(),
                                           0.0); // nothing: something else differs
  std::vector<Movement> movement(launch.buffers.size());
  const bool isWhole = std::ranges::all_of(launch.buffers, [](const Buffer &buffer) {
    return buffer.readOnly || !(isFloating(buffer.scalar) || buffer.scalar.starts_with("struct"));
  });
  for (std::uint64_t draw = 0; draw < noiseDraws(launch); ++draw) {
    KOPT_TRY(const auto moved, run(kOtherPoison, std::uint32_t(draw + 1), "derived-second",
                                   isWhole ? expected->digest : ""));
    if (!moved)
      return unfit("the original does not run on it with inputs moved in their last place: " +
                   moved.error().what);
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      if (launch.buffers[b].readOnly || moved->isKnown)
        continue;
      bool finite = true;
      KOPT_TRY(const auto most, largestDifference(launch.buffers[b], expected->buffers[b],
                                                  moved->buffers[b], &finite));
      if (!finite && !derived.nonFinite && finite_)
        return unfit(
            fmt::format("the original gives infinities or NaNs in '{}'", launch.buffers[b].name));
      noise[b] = most && noise[b] ? std::optional(std::max(*most, *noise[b])) : std::nullopt;
      KOPT_TRY(const Movement more,
               movementOf(launch.buffers[b], expected->buffers[b], moved->buffers[b]));
      movement[b] = {std::max(movement[b].usual, more.usual),
                     std::max(movement[b].tolerated, more.tolerated)};
    }
  }
  std::vector<std::size_t> jumping; // buffers
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    const bool isStruct =
        launch.buffers[b].scalar.starts_with("struct"); // members of a struct have no common scale
    const bool jumps =
        !noise[b] ||
        (!isStruct && *noise[b] > kJump * std::max(movement[b].usual, movement[b].tolerated));
    // As on the workload's own launches, what is in a struct then has to be the same.
    const bool hasOwnContents =
        derived.kind == Derivation::Sizes || derived.kind == Derivation::Alignment;
    if (jumps && isStruct && hasOwnContents)
      continue;
    if (jumps && (isStruct || !std::isfinite(movement[b].usual)))
      return unfit(fmt::format("the original's '{}' jumps when inputs move in their last place",
                               launch.buffers[b].name));
    replay.slack[b].absolute = kNoise * (jumps ? movement[b].usual : *noise[b]);
    if (tolerance.policy == TolerancePolicy::Default && costOf(launch) > kManyElements &&
        std::isfinite(movement[b].tolerated))
      replay.slack[b].absolute =
          std::max(replay.slack[b].absolute, kManyTerms * movement[b].tolerated);
    if (derived.isCoarse && !launch.buffers[b].readOnly) {
      KOPT_TRY(const double magnitude, rootMeanSquare(launch.buffers[b], expected->buffers[b]));
      replay.slack[b].absolute = std::max(replay.slack[b].absolute, kCoarse * magnitude);
    }
    if (jumps)
      jumping.push_back(b);
  }
  if (!jumping.empty() && outputBytes(launch) > kMostMoved)
    return unfit(fmt::format("elements of the original's '{}' jump when inputs move in their last "
                             "place, and there are too many to remember which",
                             launch.buffers[jumping.front()].name));
  KOPT_CHECK(learnJumps(*expected, launch, jumping, run, replay));
  if (derived.maybeConditional && context.runner().device().modelled) {
    RunOptions reversed = derivedOptions(context, launch, seed, kOtherPoison, "derived-second");
    reversed.scheduleSeed = 2;
    KOPT_TRY(const auto other, context.tryExpect(launch, reversed));
    if (!other)
      return unfit("the original does not run on it with its threads in another order: " +
                   other.error().what);
    KOPT_TRY(const auto mismatch, firstMismatch(launch.buffers, tolerance, expected->buffers,
                                                other->buffers, replay.slack));
    if (mismatch)
      return unfit("on it, the original's result depends on the order of its threads: " +
                   *mismatch);
  }
  replay.expected = std::move(*expected);
  replay.derived = std::move(derived);
  return Answer(std::move(replay));
}

std::vector<const DerivedLaunch *> DerivedReplays::smallOnes() const {
  std::vector<const DerivedLaunch *> ones, parts;
  for (const Replay &replay : replays_) {
    const DerivedLaunch &derived = replay.derived;
    if ((derived.kind != Derivation::Sizes && derived.kind != Derivation::Contents) ||
        !derived.beyond.empty() || isUndefined(derived))
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
