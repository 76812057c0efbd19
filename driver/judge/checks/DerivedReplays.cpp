// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/DerivedReplays.h"
#include "driver/workload/ApplyCandidate.h"

#include "driver/judge/checks/DerivedOptions.h"

#include "driver/source/Expression.h"
#include "driver/support/Hash.h"
#include "driver/workload/derived/LaunchFamily.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kopt {
namespace {

/// Threads and elements of a derived launch. Small, for there are some twenty of them for each
/// candidate: together they cost a GPU some 30 ms and the emulated device about as much.
constexpr std::uint64_t kMost = 16384;
constexpr double kInstructions = 5e7; ///< of a launch, on the emulated device: some 0.2 s
constexpr double kJump =
    16; ///< times what the others move by: an element that moves more has jumped
constexpr std::uint32_t kDraws = 3; ///< of moved inputs, to see which elements jump
/// Elements of an output, over all draws of moved inputs, from which its noise is known: of a
/// single sum one draw may happen to move next to nothing.
constexpr std::uint64_t kNoiseElements = 32;
constexpr std::uint64_t kMostNoiseDraws = 8;
/// Results may be sums of all elements of a launch, and their errors grow with the root of how many
/// there are. What is tolerated is meant for some thousand.
constexpr std::uint64_t kManyElements = 32768;
constexpr double kManyTerms = 4;
constexpr double kNoise = 4; ///< times what the original's own result moves by

DerivationSource sourceOf(const Subject &subject) {
  return {subject.kernel, subject.specialization,
          subject.declaration ? &*subject.declaration : nullptr};
}

/// Why a launch that has more elements than the declared one takes too long to be run for each
/// candidate; empty: it does not.
std::string whyTooMuch(const CheckContext &bench, const Launch &launch) {
  if (costOf(launch) <= 4 * kMost ||
      costOf(launch) <= costOf(bench.baseline().launches[bench.heaviest()]))
    return "";
  const double expected = double(derivedOptions(bench, launch, 0, 0, "").instructionLimit) /
                          (20 * kLeniency); // a limit is 20 times what is expected
  return expected <= kInstructions
             ? ""
             : fmt::format("it would take the emulated device about {:.2g} instructions", expected);
}

class ReplayGate final : public Check {
public:
  ReplayGate(Derivation kind, std::shared_ptr<DerivedReplays> replays)
      : kind_(kind), replays_(std::move(replays)) {}
  std::string name() const override { return toString(kind_); }
  Status learn(CheckContext &bench, Trial &baseline) override {
    return replays_->learn(bench, baseline);
  }

  Result<std::optional<Failure>> check(CheckContext &bench, Examination &seen,
                                       CheckRecord &record) override {
    KOPT_TRY(auto failure, checkAll(bench, seen, record));
    if (failure)
      seen.trial.findings.push_back({name(), Severity::Note, remedyOf(kind_), ""});
    return failure;
  }

private:
  /// Nobody declared the launch that a candidate fails on: what to declare where it is none that
  /// there can be.
  static std::string remedyOf(Derivation kind) {
    const std::string made = "the launch is not declared but derived from one that is; ";
    switch (kind) {
    case Derivation::Contents:
      return made + "where inputs are never like that say which there are (fill PARAM = …), and "
                    "where results may differ as much how far "
                    "they may (tolerance relative=…)";
    case Derivation::Scalars:
    case Derivation::Sizes:
      return made + "where no caller has such numbers say so, as in require n % 128 == 0";
    case Derivation::Alignment:
      return made + "pointers may begin anywhere that their type may, and be the same where a "
                    "launch passes the same";
    }
    return made;
  }

  Result<std::optional<Failure>> checkAll(CheckContext &bench, Examination &seen,
                                          CheckRecord &record) {
    std::vector<const DerivedReplays::Replay *> ran;
    bool isAdvised = false; // once says it; on a GPU each such failure costs a context
    std::vector<std::string> skipped;
    for (const NotDerived &missing : replays_->missing())
      if (missing.kind == kind_)
        skipped.push_back(fmt::format("{}: {}", missing.title, missing.why));
    for (const DerivedReplays::Replay &replay : replays_->replays()) {
      if (replay.derived.kind != kind_ || (replay.derived.advisory && isAdvised))
        continue;
      const auto launch = launchOf(bench, seen, replay.derived.launch);
      if (!launch) {
        skipped.push_back(fmt::format("{}: {}", replay.derived.title, launch.error().what));
        continue;
      }
      KOPT_TRY(auto failure, bench.compare(seen.built, *launch, replay.expected,
                                           derivedOptions(bench, *launch, replay.expected.inputSeed,
                                                          kOtherPoison, "derived"),
                                           name(), seen.trial, replay.slack));
      ran.push_back(&replay);
      if (!failure)
        continue;
      if (!replay.derived.advisory || failure->verdict != Verdict::RunFailed)
        return failure;
      advise(*failure, seen.trial);
      isAdvised = true;
    }
    if (!ran.empty()) {
      KOPT_TRY(auto failure, checkFresh(bench, seen, ran));
      if (failure)
        return failure;
    }
    if (ran.empty())
      record.state = CheckState::NotRun;
    record.detail = fmt::format("{} launches", ran.size());
    for (const std::string &text : skipped)
      record.detail += "; not run: " + text;
    return std::nullopt;
  }

  /// The candidate's own launch of a derived problem. Nothing where its constants are not meant for
  /// that size.
  static Result<Launch> launchOf(const CheckContext &bench, const Examination &seen,
                                 const Launch &launch) {
    if (const auto &declaration = bench.subject().declaration) {
      Bindings values = launch.bindings;
      for (const auto &[name, value] : seen.candidate.constants)
        values[name] = value;
      for (const std::string &requirement : declaration->requirements)
        if (const auto holds = evaluateExpression(requirement, values); holds && *holds == 0)
          return makeError(ErrorCode::Usage,
                           fmt::format("'require {}' does not hold there", requirement));
    }
    return applyToLaunch(bench.subject().kernel, launch, seen.candidate);
  }

  /// A candidate that needs more than the original says is told so; where nobody passes such
  /// pointers it is still right.
  static void advise(const Failure &failure, Trial &trial) {
    trial.findings.push_back(
        {"alignment", Severity::Warning,
         "the candidate needs better aligned pointers than the original: " + failure.reason +
             "; do not take it where pointers into the middle of an allocation are passed",
         ""});
  }

  /// One of the launches, chosen and drawn anew after the candidate was frozen; of sizes and
  /// scalars one with others.
  Result<std::optional<Failure>>
  checkFresh(CheckContext &bench, Examination &seen,
             const std::vector<const DerivedReplays::Replay *> &ran) {
    int refused = 0; // by the original, whose sizes the contents may be meant for: on a GPU each
                     // costs a context
    for (int draw = 0; draw < seen.strength.freshDraws && refused < 3; ++draw) {
      const std::uint64_t seed =
          mixed(seen.freshSeed + std::uint64_t(kind_), std::uint64_t(draw)) | 1;
      const DerivedReplays::Replay &replay = *ran[mixed(seed, 0) % ran.size()];
      if (replay.derived.advisory)
        continue;
      if (kind_ == Derivation::Scalars || kind_ == Derivation::Sizes) {
        KOPT_TRY(auto failure, checkDrawn(bench, seen, replay.derived.launch, seed, refused));
        if (failure)
          return failure;
      }
      const Launch &original = replay.derived.launch;
      const auto launch = launchOf(bench, seen, original);
      if (!launch)
        continue;
      if (std::any_of(replay.slack.begin(), replay.slack.end(),
                      [](const Slack &slack) { return slack.moved != nullptr; })) {
        KOPT_TRY(const auto drawn, replays_->prepare(bench, replay.derived, seed, "derived-fresh"));
        if (!drawn)
          continue; // a draw that the original does not stand
        KOPT_TRY(auto failure,
                 bench.compare(seen.built, *launch, drawn->expected,
                               derivedOptions(bench, *launch, seed, kOtherPoison, "derived"),
                               name(), seen.trial, drawn->slack));
        if (failure)
          return failure;
        continue; // which elements jump is known of those inputs alone
      }
      KOPT_TRY(const auto expected,
               bench.tryExpect(original,
                               derivedOptions(bench, original, seed, kPoison, "derived-fresh")));
      if (!expected)
        continue; // a draw that the original does not stand
      addStages(seen.trial, "verify", expected->seconds, expected->stages);
      std::vector<Slack> slack = replay.slack;
      for (Slack &allowed : slack)
        allowed.absolute *= 2; // known for other inputs of the same kind
      KOPT_TRY(auto failure,
               bench.compare(seen.built, *launch, *expected,
                             derivedOptions(bench, *launch, seed, kOtherPoison, "derived"), name(),
                             seen.trial, slack));
      if (failure)
        return failure;
    }
    return std::nullopt;
  }

  /// A launch with sizes or scalars that nobody can have known.
  Result<std::optional<Failure>> checkDrawn(CheckContext &bench, Examination &seen,
                                            const Launch &known, std::uint64_t seed, int &refused) {
    const DerivationSource source = sourceOf(bench.subject());
    auto drawn = kind_ == Derivation::Scalars ? drawScalars(source, known, seed)
                                              : drawSizes(source, known, seed);
    if (!drawn)
      return std::nullopt;
    if (!launchOf(bench, seen, drawn->launch))
      return std::nullopt; // its constants are not meant for that size
    KOPT_TRY(const auto replay, replays_->prepare(bench, std::move(*drawn), seed, "derived-fresh"));
    if (!replay) {
      ++refused;
      return std::nullopt;
    }
    addStages(seen.trial, "verify", replay->expected.seconds, replay->expected.stages);
    KOPT_TRY(const Launch launch, launchOf(bench, seen, replay->derived.launch));
    return bench.compare(seen.built, launch, replay->expected,
                         derivedOptions(bench, launch, seed, kOtherPoison, "derived"), name(),
                         seen.trial, replay->slack);
  }

  Derivation kind_;
  std::shared_ptr<DerivedReplays> replays_;
};

} // namespace

Status DerivedReplays::learn(CheckContext &bench, Trial &baseline) {
  if (std::exchange(learned_, true))
    return {};
  for (std::size_t i = 0; i < bench.expected.size(); ++i)
    for (std::size_t b = 0; b < bench.expected[i].buffers.size(); ++b)
      if (const auto &file = bench.expected[i].buffers[b]; !file.empty())
        KOPT_CHECK(
            largestDifference(bench.baseline().launches[i].buffers[b], file, file, &finite_));
  const Launch &heaviest = bench.baseline().launches[bench.heaviest()];
  DerivedLaunches derived = deriveLaunches(sourceOf(bench.subject()), heaviest, kMost);
  missing_ = std::move(derived.missing);
  for (DerivedLaunch &launch : derived.launches) {
    NotDerived unfit{launch.kind, launch.title, whyTooMuch(bench, launch.launch),
                     launch.asLaunched};
    if (launch.unbounded && !bench.runner().device().modelled)
      unfit.why = "it may be an index, and a GPU does not say where that leaves its buffer";
    if (!unfit.why.empty()) {
      missing_.push_back(std::move(unfit));
      continue;
    }
    KOPT_TRY(auto replay, prepare(bench, std::move(launch), bench.seed() + 77 + replays_.size(),
                                  fmt::format("derived-{}", replays_.size())));
    if (replay) {
      replays_.push_back(std::move(*replay));
      continue;
    }
    unfit.why = std::move(replay.error());
    missing_.push_back(std::move(unfit));
  }
  for (const NotDerived &item : missing_)
    if (item.asLaunched)
      baseline.findings.push_back({"launch-site", Severity::Warning,
                                   fmt::format("not tried: {}: {}", item.title, item.why), ""});
  for (const Derivation kind :
       {Derivation::Scalars, Derivation::Sizes, Derivation::Contents, Derivation::Alignment}) {
    const auto isKind = [&](const auto &item) { return item.derived.kind == kind; };
    if (std::none_of(replays_.begin(), replays_.end(), isKind)) {
      const auto why = std::find_if(missing_.begin(), missing_.end(),
                                    [&](const auto &item) { return item.kind == kind; });
      if (why != missing_.end())
        baseline.findings.push_back(
            {toString(kind), Severity::Note,
             fmt::format("no launches with other {}: {}", toString(kind), why->why), ""});
    }
  }
  return {};
}

namespace {

/// How often inputs are moved to see how far the results move.
std::uint64_t noiseDraws(const Launch &launch) {
  std::uint64_t draws = 1;
  for (const Buffer &buffer : launch.buffers)
    if (!buffer.readOnly && isFloating(buffer.scalar))
      draws = std::max(draws, kNoiseElements / std::max<std::uint64_t>(
                                                   1, buffer.bytes / elementBytes(buffer.scalar)));
  return std::min(draws, kMostNoiseDraws);
}

/// Which elements of the buffers jump: a few draws of moved inputs show most of them.
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

Result<tl::expected<DerivedReplays::Replay, std::string>>
DerivedReplays::prepare(CheckContext &bench, DerivedLaunch derived, std::uint64_t seed,
                        const std::string &slot) const {
  using Answer = tl::expected<Replay, std::string>;
  const auto unfit = [](std::string why) { return Answer(tl::unexpected(std::move(why))); };
  Launch &launch = derived.launch;
  const auto run = [&](std::uint64_t poison, std::uint32_t jitter, const std::string &name) {
    RunOptions options = derivedOptions(bench, launch, seed, poison, name);
    options.jitter = jitter;
    options.checkRaces = true;
    return bench.tryExpect(launch, options);
  };
  // What the kernel only writes in its own launch it may read in this one: y where beta is not 0.
  const auto hasOutputs = [&] { return std::ranges::any_of(launch.buffers, &Buffer::output); };
  const auto withOutputsFilled = [&] {
    for (Buffer &buffer : launch.buffers)
      buffer.output = false;
    return prepare(bench, std::move(derived), seed, slot);
  };
  KOPT_TRY(auto expected, run(kPoison, 0, slot));
  if (!expected && hasOutputs())
    return withOutputsFilled();
  if (!expected)
    return unfit("the original does not run on it: " + expected.error());
  // A smaller problem may leave part of an output alone; then its old contents count.
  bool partial = false;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    if (b < expected->unwritten.size() && expected->unwritten[b] > 0)
      partial = true, launch.buffers[b].output = false;
  if (partial) {
    KOPT_TRY(expected, run(kPoison, 0, slot));
    if (!expected)
      return unfit("the original does not run on it: " + expected.error());
  }
  KOPT_TRY(const auto again, run(kOtherPoison, 0, "derived-second"));
  if (!again)
    return unfit("the original does not run on it: " + again.error());
  Replay replay;
  const Tolerance &tolerance = bench.subject().workload.tolerance;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    replay.slack.push_back({0, true, derived.nonFinite});
    if (launch.buffers[b].readOnly)
      continue;
    KOPT_TRY(const auto mismatch, compareBuffers(launch.buffers[b], tolerance, expected->buffers[b],
                                                 again->buffers[b], replay.slack.back()));
    if (mismatch && hasOutputs())
      return withOutputsFilled();
    if (mismatch)
      return unfit("the original does not repeat its own result on it: " +
                   mismatch->describe(launch.buffers[b]));
  }
  std::vector<std::optional<double>> noise(launch.buffers.size(),
                                           0.0); // nothing: other than numbers differ
  std::vector<Movement> movement(launch.buffers.size());
  for (std::uint64_t draw = 0; draw < noiseDraws(launch); ++draw) {
    KOPT_TRY(const auto moved, run(kOtherPoison, std::uint32_t(draw + 1), "derived-second"));
    if (!moved)
      return unfit("the original does not run on it with inputs moved in their last place: " +
                   moved.error());
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      if (launch.buffers[b].readOnly)
        continue;
      bool finite = true;
      KOPT_TRY(const auto most, largestDifference(launch.buffers[b], expected->buffers[b],
                                                  moved->buffers[b], &finite));
      if (!finite && !derived.nonFinite && finite_)
        return unfit(fmt::format("the original makes infinities or NaNs of it in '{}'",
                                 launch.buffers[b].name));
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
        launch.buffers[b].scalar.starts_with("struct"); // its members have no common measure
    const bool jumps =
        !noise[b] ||
        (!isStruct && *noise[b] > kJump * std::max(movement[b].usual, movement[b].tolerated));
    if (jumps && (isStruct || !std::isfinite(movement[b].usual)))
      return unfit(fmt::format("the original's '{}' jumps when inputs move in their last place",
                               launch.buffers[b].name));
    replay.slack[b].absolute = kNoise * (jumps ? movement[b].usual : *noise[b]);
    if (tolerance.policy == TolerancePolicy::Default && costOf(launch) > kManyElements &&
        std::isfinite(movement[b].tolerated))
      replay.slack[b].absolute =
          std::max(replay.slack[b].absolute, kManyTerms * movement[b].tolerated);
    if (jumps)
      jumping.push_back(b);
  }
  KOPT_CHECK(learnJumps(*expected, launch, jumping, run, replay));
  if (derived.maybeConditional && bench.runner().device().modelled) {
    RunOptions reversed = derivedOptions(bench, launch, seed, kOtherPoison, "derived-second");
    reversed.scheduleSeed = 2;
    KOPT_TRY(const auto other, bench.tryExpect(launch, reversed));
    if (!other)
      return unfit("the original does not run on it with its threads in another order: " +
                   other.error());
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      if (launch.buffers[b].readOnly)
        continue;
      KOPT_TRY(const auto mismatch,
               compareBuffers(launch.buffers[b], tolerance, expected->buffers[b], other->buffers[b],
                              replay.slack[b]));
      if (mismatch)
        return unfit("the original's result depends on the order of its threads on it: " +
                     mismatch->describe(launch.buffers[b]));
    }
  }
  replay.expected = std::move(*expected);
  replay.derived = std::move(derived);
  return Answer(std::move(replay));
}

const Launch *DerivedReplays::small() const {
  for (const Replay &replay : replays_)
    if (replay.derived.kind == Derivation::Sizes || replay.derived.kind == Derivation::Contents)
      return &replay.derived.launch;
  return nullptr;
}

std::unique_ptr<Check> makeReplayCheck(Derivation kind, std::shared_ptr<DerivedReplays> replays) {
  return std::make_unique<ReplayGate>(kind, std::move(replays));
}

} // namespace kopt
