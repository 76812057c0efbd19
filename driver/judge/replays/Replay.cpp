// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/replays/Replay.h"

#include "driver/judge/context/ErrorStatistics.h"
#include "driver/judge/replays/DerivedOptions.h"
#include "driver/judge/replays/ReplayLimits.h"
#include "driver/support/ElementType.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>

namespace kopt {
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

bool isStruct(const Buffer &buffer) { return buffer.scalar.starts_with("struct"); }

/// Makes one replay. Its steps return why the launch is not a test, or nothing.
class ReplayMaker {
public:
  using Unfit = std::optional<NotATest>;

  ReplayMaker(CheckContext &context, const ReplayBase &base, DerivedLaunch derived,
              std::uint64_t seed, const std::string &slot)
      : context_(context), base_(base), replay_{std::move(derived), {}, {}}, seed_(seed),
        slot_(slot) {
    if (base.program && !replay_.derived.isPart)
      replay_.derived.beyond = base.program->whyNot(launch());
  }

  Result<tl::expected<Replay, NotATest>> make() {
    using Answer = tl::expected<Replay, NotATest>;
    KOPT_TRY(Unfit unfit, repeat());
    // A buffer that the kernel only writes in the workload's launch may be read in this one: y, if
    // beta is not 0.
    if (unfit && unfit->ended != RunStatus::TimedOut &&
        std::ranges::any_of(launch().buffers, &Buffer::output)) {
      for (Buffer &buffer : launch().buffers)
        buffer.output = false;
      KOPT_TRY(unfit, repeat());
    }
    for (const auto step : {&ReplayMaker::compareInPlace, &ReplayMaker::measureNoise,
                            &ReplayMaker::allow, &ReplayMaker::runReversed})
      if (!unfit) {
        KOPT_TRY(unfit, (this->*step)());
      }
    return unfit ? Answer(tl::unexpected(std::move(*unfit))) : Answer(std::move(replay_));
  }

private:
  Launch &launch() { return replay_.derived.launch; }
  const Tolerance &tolerance() const { return context_.subject().workload.tolerance; }
  const std::vector<std::filesystem::path> &results() const { return replay_.expected.buffers; }

  static Unfit doesNotRun(const Unfinished &end) {
    return NotATest{"the original does not run on it: " + end.what, end.status};
  }

  Result<tl::expected<Expected, Unfinished>> run(std::uint64_t poison, std::uint32_t jitter,
                                                 const std::string &name,
                                                 const ResultsDigest &known = {}) {
    RunOptions options = derivedOptions(context_, launch(), seed_, poison, name);
    options.jitter = jitter;
    options.known = known;
    options.checkRaces = !context_.racesItself;
    const double growth =
        double(costOf(launch())) / double(std::max<std::uint64_t>(1, costOf(base_.launch)));
    return context_.tryExpect(launch(),
                              context_.forTrying(options, std::max(1.0, growth) * base_.seconds));
  }

  /// Runs the launch until its results are known, and once more.
  Result<Unfit> repeat() {
    KOPT_TRY(auto expected, run(kPoison, 0, slot_));
    if (!expected)
      return doesNotRun(expected.error());
    // A smaller problem may leave part of an output unwritten; then the old contents count.
    bool isPartial = false;
    for (std::size_t b = 0; b < launch().buffers.size() && b < expected->unwritten.size(); ++b)
      if (expected->unwritten[b] > 0)
        isPartial = true, launch().buffers[b].output = false;
    if (isPartial) {
      KOPT_TRY(expected, run(kPoison, 0, slot_));
      if (!expected)
        return doesNotRun(expected.error());
    }
    replay_.expected = std::move(*expected);
    KOPT_TRY(const auto again, run(kOtherPoison, 0, "derived-second", replay_.expected.digest));
    if (!again)
      return doesNotRun(again.error());
    replay_.seconds = again->ownSeconds();
    replay_.slack.assign(launch().buffers.size(), {0, true, replay_.derived.nonFinite});
    if (again->isKnown)
      return Unfit();
    KOPT_TRY(const auto mismatch, firstMismatch(launch().buffers, tolerance(), results(),
                                                again->buffers, replay_.slack));
    return mismatch ? Unfit({"the original does not repeat its own result on it: " + *mismatch})
                    : Unfit();
  }

  Result<Unfit> compareInPlace() {
    const auto &inPlace = replay_.derived.inPlace;
    if (!inPlace)
      return Unfit();
    const Launch &apart = inPlace->apart;
    KOPT_TRY(const auto usual,
             context_.tryExpect(apart, context_.forTrying(derivedOptions(context_, apart, seed_,
                                                                         kPoison, "derived-second"),
                                                          base_.seconds)));
    if (!usual)
      return doesNotRun(usual.error());
    const std::size_t b = inPlace->both;
    KOPT_TRY(const auto mismatch,
             compareBuffers(launch().buffers[b], tolerance(), usual->buffers[inPlace->output],
                            results()[b], replay_.slack[b]));
    return mismatch ? Unfit({"the original has other results where they are one"}) : Unfit();
  }

  /// Moves the inputs in their last place.
  Result<Unfit> measureNoise() {
    noise_.assign(launch().buffers.size(), 0.0);
    movement_.assign(launch().buffers.size(), {});
    const bool isWhole = std::ranges::all_of(launch().buffers, [](const Buffer &buffer) {
      return buffer.readOnly || !(isFloating(buffer.scalar) || isStruct(buffer));
    });
    for (std::uint64_t draw = 0; draw < noiseDraws(launch()); ++draw) {
      KOPT_TRY(const auto moved, run(kOtherPoison, std::uint32_t(draw + 1), "derived-second",
                                     isWhole ? replay_.expected.digest : ""));
      if (!moved)
        return Unfit({"the original does not run on it with inputs moved in their last place: " +
                      moved.error().what});
      for (std::size_t b = 0; b < launch().buffers.size(); ++b) {
        const Buffer &buffer = launch().buffers[b];
        if (buffer.readOnly || moved->isKnown)
          continue;
        bool isFinite = true;
        KOPT_TRY(const auto most,
                 largestDifference(buffer, results()[b], moved->buffers[b], &isFinite));
        if (!isFinite && !replay_.derived.nonFinite && base_.isFinite)
          return Unfit({fmt::format("the original gives infinities or NaNs in '{}'", buffer.name)});
        noise_[b] = most && noise_[b] ? std::optional(std::max(*most, *noise_[b])) : std::nullopt;
        KOPT_TRY(const Movement more, movementOf(buffer, results()[b], moved->buffers[b]));
        movement_[b] = {std::max(movement_[b].usual, more.usual),
                        std::max(movement_[b].tolerated, more.tolerated)};
      }
    }
    return Unfit();
  }

  /// Sets the slack of each buffer.
  Result<Unfit> allow() {
    const DerivedLaunch &derived = replay_.derived;
    std::vector<std::size_t> jumping; // buffers
    for (std::size_t b = 0; b < launch().buffers.size(); ++b) {
      const Buffer &buffer = launch().buffers[b];
      // Members of a struct have no common scale.
      const bool jumps =
          !noise_[b] || (!isStruct(buffer) &&
                         *noise_[b] > kJump * std::max(movement_[b].usual, movement_[b].tolerated));
      // As on the workload's own launches, what is in a struct then has to be the same.
      const bool hasOwnContents =
          derived.kind == Derivation::Sizes || derived.kind == Derivation::Alignment;
      if (jumps && isStruct(buffer) && hasOwnContents)
        continue;
      if (jumps && (isStruct(buffer) || !std::isfinite(movement_[b].usual)))
        return Unfit({fmt::format("the original's '{}' jumps when inputs move in their last place",
                                  buffer.name)});
      double &absolute = replay_.slack[b].absolute;
      absolute = kNoise * (jumps ? movement_[b].usual : *noise_[b]);
      if (tolerance().policy == TolerancePolicy::Default && costOf(launch()) > kManyElements &&
          std::isfinite(movement_[b].tolerated))
        absolute = std::max(absolute, kManyTerms * movement_[b].tolerated);
      if (derived.isCoarse && !buffer.readOnly) {
        KOPT_TRY(const double magnitude, rootMeanSquare(buffer, results()[b]));
        absolute = std::max(absolute, kCoarse * magnitude);
      }
      if (jumps)
        jumping.push_back(b);
    }
    if (!jumping.empty() && outputBytes(launch()) > kMostMoved)
      return Unfit(
          {fmt::format("elements of the original's '{}' jump when inputs move in their last "
                       "place, and there are too many to remember which",
                       launch().buffers[jumping.front()].name)});
    KOPT_CHECK(learnJumps(jumping));
    return Unfit();
  }

  /// Learns which elements of the buffers jump: a few draws of moved inputs show most of them.
  Status learnJumps(const std::vector<std::size_t> &jumping) {
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
      KOPT_TRY(std::string furthest, furthestOf(launch().buffers[b], results()[b], files));
      replay_.slack[b].moved = std::make_shared<const std::string>(std::move(furthest));
    }
    return {};
  }

  Result<Unfit> runReversed() {
    if (!replay_.derived.maybeConditional || !context_.runner().device().modelled)
      return Unfit();
    RunOptions reversed = derivedOptions(context_, launch(), seed_, kOtherPoison, "derived-second");
    reversed.scheduleSeed = 2;
    KOPT_TRY(const auto other, context_.tryExpect(launch(), reversed));
    if (!other)
      return Unfit({"the original does not run on it with its threads in another order: " +
                    other.error().what});
    KOPT_TRY(const auto mismatch, firstMismatch(launch().buffers, tolerance(), results(),
                                                other->buffers, replay_.slack));
    return mismatch ? Unfit({"on it, the original's result depends on the order of its threads: " +
                             *mismatch})
                    : Unfit();
  }

  CheckContext &context_;
  const ReplayBase &base_;
  Replay replay_;
  const std::uint64_t seed_;
  const std::string &slot_;
  std::vector<std::optional<double>> noise_; ///< for each buffer; nothing: something else differs
  std::vector<Movement> movement_;
};

} // namespace

std::uint64_t outputBytes(const Launch &launch) {
  std::uint64_t bytes = 0;
  for (const Buffer &buffer : launch.buffers)
    bytes += buffer.readOnly ? 0 : buffer.bytes;
  return bytes;
}

Result<tl::expected<Replay, NotATest>> makeReplay(CheckContext &context, const ReplayBase &base,
                                                  DerivedLaunch derived, std::uint64_t seed,
                                                  const std::string &slot) {
  return ReplayMaker(context, base, std::move(derived), seed, slot).make();
}

} // namespace kopt
