// SPDX-License-Identifier: Apache-2.0
// How DeviceJudge measures the user's own kernel. Nothing is compared with a baseline that does not
// build or does not repeat its results.
#include "driver/judge/DeviceJudge.h"

#include "driver/judge/PureOutputs.h"
#include "driver/judge/Statistics.h"
#include "driver/judge/checks/CompareBuffers.h"
#include "driver/judge/derive/DerivedLaunches.h"
#include "driver/support/ElementType.h"
#include "driver/support/Log.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <string>

namespace kopt {
namespace {

/// If a launch timed with a cold L2 takes at least this many times its seconds in the program, it
/// is timed with a warm L2, too. A candidate may need the cache where the baseline hardly does: one
/// whose baseline took 1 % longer with a cold L2 took 7 % longer itself.
constexpr double kColderBy = 1.005;

tl::unexpected<Error> baselineFailed(const Subject &subject, std::string what,
                                     std::string hint = "") {
  return makeError(ErrorCode::BaselineFailed, std::move(what), std::move(hint),
                   placeOf(subject.kernel));
}

/// As CheckContext::tryExpect(). Notes in the launch if the original reads shared memory that no
/// thread has set.
Result<tl::expected<Expected, Unfinished>> tryAllowingUnset(CheckContext &context, Launch &launch,
                                                            const RunOptions &options) {
  KOPT_TRY(auto ran, context.tryExpect(launch, options));
  if (ran || launch.readsUnsetShared || ran.error().status != RunStatus::UnsetShared)
    return ran;
  launch.readsUnsetShared = true;
  return context.tryExpect(launch, options);
}

} // namespace

Result<Expected> DeviceJudge::expect(std::size_t launch, std::uint64_t inputSeed,
                                     std::uint64_t poisonSeed, const std::string &slot) {
  return context_.expect(
      context_.baseline().launches[launch],
      context_.options(inputSeed, poisonSeed, launch, fmt::format("{}-{}", slot, launch)));
}

Status DeviceJudge::loadBaseline(const Built &built, Trial &trial) {
  context_.baseline() = built;
  KOPT_TRY(const bool loaded, load(context_.baseline(), trial));
  if (!loaded)
    return baselineFailed(subject(), fmt::format("kernel '{}' does not build as it is: {}",
                                                 subject().kernel.name, trial.reason));
  sharedOfBaseline_ = trial.resources->sharedBytes;
  return {};
}

/// Accepts that the original's threads race, if its results are the same in several orders of them:
/// all of them write the same, for example. Fails if they are not.
Status DeviceJudge::acceptRaces(std::size_t index, const std::string &what) {
  constexpr std::uint64_t kOrders = 5;
  Launch &launch = context_.baseline().launches[index];
  context_.racesItself = true;
  std::optional<Expected> first;
  for (std::uint64_t order = 0; order < kOrders; ++order) {
    RunOptions options =
        context_.options(options_.seed, kPoison, index, order == 0 ? "order-first" : "order-next");
    options.scheduleSeed = order;
    KOPT_TRY(auto ran, tryAllowingUnset(context_, launch, options));
    if (!ran)
      return baselineFailed(subject(),
                            fmt::format("kernel '{}' races in launch '{}', and with its threads in "
                                        "another order: {}",
                                        subject().kernel.name, launch.name, ran.error().what));
    KOPT_TRY(const auto mismatch,
             firstMismatch(launch.buffers, subject().workload.tolerance,
                           first ? first->buffers : std::vector<std::filesystem::path>(),
                           ran->buffers));
    if (mismatch)
      return baselineFailed(
          subject(),
          fmt::format("kernel '{}' races in launch '{}', and its results depend on the "
                      "order of its threads: {}",
                      subject().kernel.name, launch.name, what),
          "if the threads of a warp are meant to run in step, say so with "
          "__syncwarp(); on a GPU the kernel is judged as it runs there");
    if (!first)
      first = std::move(*ran);
  }
  race_ = what;
  return {};
}

/// Where a captured launch changes nothing, as one that adds zeros does: gives it drawn contents on
/// which it does. Returns false if there are none.
Result<bool> DeviceJudge::drawContents(std::size_t index, std::set<std::string> &read) {
  constexpr std::size_t kMost = 4;
  Launch &launch = context_.baseline().launches[index];
  const Launch captured = launch;
  std::vector<Launch> drawn = withDrawnContents(sourceOf(subject()), captured);
  drawn.resize(std::min(drawn.size(), kMost));
  for (Launch &other : drawn) {
    launch.buffers = std::move(other.buffers);
    KOPT_TRY(const auto ran,
             context_.tryExpect(launch, context_.options(options_.seed, kPoison, index, "drawn")));
    if (!ran)
      continue;
    KOPT_TRY(const bool writes, findPureOutputs(context_, index, *ran, read));
    if (writes) {
      drawnLaunches_.insert(launch.name);
      return true;
    }
  }
  launch = captured;
  return false;
}

Status DeviceJudge::classifyBuffers() {
  context_.baselineSeconds.clear();
  std::set<std::string> read; // buffers whose old contents the kernel reads
  for (std::size_t i = 0; i < context_.baseline().launches.size(); ++i) {
    Launch &launch = context_.baseline().launches[i];
    for (Buffer &buffer : launch.buffers)
      buffer.output = false;
    const auto run = [&] {
      return tryAllowingUnset(
          context_, launch,
          context_.options(options_.seed, kPoison, i, fmt::format("second-{}", i)));
    };
    KOPT_TRY(auto first, run());
    if (!first && first.error().status == RunStatus::Race) {
      KOPT_CHECK(acceptRaces(i, first.error().what));
      KOPT_TRY(first, run());
    }
    KOPT_TRY(const Expected reference, first ? Result<Expected>(std::move(*first))
                                             : expect(i, options_.seed, kPoison, "second"));
    context_.baselineSeconds.push_back(reference.ownSeconds());
    KOPT_TRY(bool writes, findPureOutputs(context_, i, reference, read));
    if (!writes && isCaptured(launch)) {
      KOPT_TRY(writes, drawContents(i, read));
    }
    if (!writes)
      return baselineFailed(subject(),
                            fmt::format("kernel '{}' writes to none of its buffers in launch '{}'",
                                        subject().kernel.name, launch.name),
                            "give the launch arguments with which it has work to do");
    context_.subject().workload.launches[i].buffers = launch.buffers;
    context_.subject().workload.launches[i].readsUnsetShared = launch.readsUnsetShared;
  }
  return {};
}

/// Records something that the workload cannot show for any candidate, and tells the user.
void DeviceJudge::addWorkloadGap(CheckId check, const std::string &what, Trial &trial) {
  gaps_.push_back({check, what});
  trial.findings.push_back({toString(check), Severity::Warning, what, placeOf(subject().kernel)});
}

/// As expect(), with more shared memory than the launch asks for: fewer blocks run at once, so sums
/// in any order take an order that only another version of the kernel would. Where that cannot be
/// launched, as it is.
Result<Expected> DeviceJudge::expectInOtherOrder(std::size_t launch) {
  constexpr std::uint32_t kMoreShared = 32u << 10;
  Launch sparse = context_.baseline().launches[launch];
  sparse.sharedBytes += kMoreShared;
  auto made = context_.expect(
      sparse, context_.options(options_.seed, kPoison, launch, fmt::format("sparse-{}", launch)));
  return made ? std::move(made) : expect(launch, options_.seed, kPoison, "second");
}

/// Runs the original several times on the same inputs. Buffers whose results differ a little are
/// compared with that spread allowed; buffers that differ more are not compared. Spreads that are
/// known already only grow. Returns false if nothing differs: then the results depend on memory
/// that no argument provides.
Result<bool> DeviceJudge::learnVariation(std::size_t index, int repeats) {
  constexpr double kLittle = 0.125; ///< part of the root mean square of a buffer's elements
  constexpr double kSpread = 2;     ///< times the spread that a few repeats show
  Launch &launch = context_.baseline().launches[index];
  KOPT_TRY(const Expected first, expect(index, options_.seed, kPoison, "expected"));
  std::vector<std::optional<double>> apart(launch.buffers.size(),
                                           0.0); // nothing: not finite
  std::vector<bool> differs(launch.buffers.size(), false);
  for (int i = 0; i < repeats; ++i) {
    KOPT_TRY(const Expected again, i % 2 == 0 ? expect(index, options_.seed, kPoison, "second")
                                              : expectInOtherOrder(index));
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      const Buffer &buffer = launch.buffers[b];
      if (buffer.readOnly)
        continue;
      KOPT_TRY(const auto mismatch, compareBuffers(buffer, subject().workload.tolerance,
                                                   first.buffers[b], again.buffers[b]));
      KOPT_TRY(const auto most,
               largestDifference(buffer, first.buffers[b], again.buffers[b], nullptr));
      differs[b] = differs[b] || mismatch.has_value();
      apart[b] = apart[b] && most ? std::optional(std::max(*apart[b], *most)) : std::nullopt;
    }
  }
  bool any = false;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    Buffer &buffer = launch.buffers[b];
    any = any || differs[b] || buffer.spread > 0 || buffer.varies;
    if (!differs[b])
      continue;
    KOPT_TRY(const double scale, rootMeanSquare(buffer, first.buffers[b]));
    if (isFloating(buffer.scalar) &&
        subject().workload.tolerance.policy != TolerancePolicy::Strict && apart[b] &&
        kSpread * *apart[b] <= kLittle * scale)
      buffer.spread = std::max(buffer.spread, kSpread * *apart[b]);
    else
      buffer.varies = true;
  }
  return any;
}

/// Reports what learnVariation() and classifyBuffers() learnt of a launch.
void DeviceJudge::reportVariation(const Launch &launch, Trial &trial) {
  if (drawnLaunches_.contains(launch.name))
    addWorkloadGap(CheckId::Outputs,
                   fmt::format("the original changes nothing in launch '{}' with the contents that "
                               "the program gave it, so it has drawn ones",
                               launch.name),
                   trial);
  if (launch.readsUnsetShared)
    addWorkloadGap(CheckId::Outputs,
                   fmt::format("the original reads shared memory that it did not set in launch "
                               "'{}', so such reads of a candidate show only where results "
                               "depend on them",
                               launch.name),
                   trial);
  for (const Buffer &buffer : launch.buffers)
    if (buffer.varies)
      addWorkloadGap(
          CheckId::Outputs,
          fmt::format("'{}' in launch '{}': the original's results differ each time, so it is not "
                      "compared; have it reviewed",
                      buffer.name, launch.name),
          trial);
    else if (buffer.spread > 0)
      addWorkloadGap(CheckId::Outputs,
                     fmt::format("differences below {:.3g} in '{}' of launch '{}': the original's "
                                 "own results are about half as far apart",
                                 buffer.spread, buffer.name, launch.name),
                     trial);
}

Status DeviceJudge::checkRepeatability(Trial &trial) {
  constexpr int kRepeats = 5, kMostRepeats = 20;
  if (!race_.empty())
    addWorkloadGap(
        CheckId::Races,
        fmt::format("the original races ({}), and has the same results in other orders of "
                    "its threads, so races of a candidate show only in its results",
                    race_),
        trial);
  for (std::size_t i = 0; i < context_.baseline().launches.size(); ++i) {
    const std::vector<Buffer> &buffers = context_.baseline().launches[i].buffers;
    const auto repeats = [&]() -> Result<std::string> {
      KOPT_TRY(Expected first, expect(i, options_.seed, kPoison, "expected"));
      KOPT_TRY(const Expected second, expect(i, options_.seed, kOtherPoison, "second"));
      // Captured data have been read by now.
      context_.baselineSeconds[i] = std::min(context_.baselineSeconds[i], second.ownSeconds());
      KOPT_TRY(auto mismatch,
               firstMismatch(buffers, subject().workload.tolerance, first.buffers, second.buffers));
      if (mismatch)
        return std::move(*mismatch);
      context_.expected.resize(i);
      context_.expected.push_back(std::move(first));
      return std::string();
    };
    KOPT_TRY(std::string why, repeats());
    if (why.empty()) {
      reportVariation(context_.baseline().launches[i], trial);
      continue;
    }
    // A few repeats can miss how far a sum in any order gets; more of them follow if they did.
    for (int count = kRepeats; !why.empty() && count <= kMostRepeats; count *= 2) {
      KOPT_TRY(const bool varies, learnVariation(i, count));
      if (!varies)
        break;
      KOPT_CHECK(classifyBuffers()); // the variation hid which buffers are pure outputs
      KOPT_TRY(why, repeats());
    }
    reportVariation(context_.baseline().launches[i], trial);
    const bool isNothingLeft = std::ranges::all_of(
        buffers, [](const Buffer &buffer) { return buffer.readOnly || buffer.varies; });
    if (why.empty() && !isNothingLeft)
      continue;
    return baselineFailed(
        subject(),
        isNothingLeft
            ? fmt::format("the results of kernel '{}' differ each time in every output of launch "
                          "'{}', so nothing can be compared",
                          subject().kernel.name, context_.baseline().launches[i].name)
            : fmt::format("kernel '{}' does not repeat its own result in launch '{}': {}",
                          subject().kernel.name, context_.baseline().launches[i].name, why),
        isNothingLeft
            ? "if its result is meant to vary, say how far with a 'tolerance relative=... "
              "absolute=...' clause"
            : "it depends on memory that no argument or fill provides: look for reads of "
              "uninitialised memory, or outside a buffer");
  }
  return {};
}

/// Other inputs should give other outputs; if they do not, the workload cannot tell a wrong kernel
/// from a right one.
Status DeviceJudge::checkSensitivity(Trial &trial) {
  for (std::size_t i = 0; i < context_.baseline().launches.size(); ++i) {
    const Launch &launch = context_.baseline().launches[i];
    bool drawn = false, differs = false;
    for (const Buffer &buffer : launch.buffers)
      drawn |= !buffer.output && buffer.fill.kind == FillKind::Uniform &&
               buffer.fill.low != buffer.fill.high;
    if (!drawn)
      continue; // no input is random: the result depends only on the arguments
    KOPT_TRY(const Expected other, expect(i, options_.seed + 0x9e3779b9, kPoison, "second"));
    for (std::size_t b = 0; b < launch.buffers.size() && !differs; ++b)
      if (!launch.buffers[b].readOnly && !launch.buffers[b].varies) {
        KOPT_TRY(const bool same, sameBytes(context_.expected[i].buffers[b], other.buffers[b]));
        differs = !same;
      }
    if (!differs)
      addWorkloadGap(CheckId::Fresh,
                     fmt::format("the outputs of launch '{}' are the same for different inputs, so "
                                 "a wrong kernel could pass; use other fills or arguments, so that "
                                 "the inputs reach the outputs",
                                 launch.name),
                     trial);
  }
  return {};
}

/// Warns of each input that the outputs do not depend on (a factor of zero, a branch never taken):
/// a candidate that misuses it goes unnoticed. A parameter that the kernel ignores is not an error.
Status DeviceJudge::findUnseenInputs(Trial &trial) {
  for (std::size_t i = 0; i < context_.baseline().launches.size(); ++i) {
    Launch &launch = context_.baseline().launches[i];
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      if (!launch.buffers[b].readOnly || launch.buffers[b].fill.kind != FillKind::Uniform)
        continue;
      const Fill drawn = launch.buffers[b].fill;
      launch.buffers[b].fill = {FillKind::Constant, drawn.low, drawn.low};
      const auto other = expect(i, options_.seed, kPoison, "second");
      launch.buffers[b].fill = drawn;
      if (!other)
        continue; // the kernel fails on that input, so it depends on it
      bool differs = false;
      for (std::size_t out = 0; out < launch.buffers.size() && !differs; ++out)
        if (!launch.buffers[out].readOnly) {
          KOPT_TRY(const bool same,
                   sameBytes(context_.expected[i].buffers[out], other->buffers[out]));
          differs = !same;
        }
      if (!differs)
        trial.findings.push_back(
            {"unseen-input", Severity::Warning,
             fmt::format("the outputs of launch '{}' do not depend on '{}': a candidate that "
                         "misreads it would pass; choose arguments with which it matters",
                         launch.name, launch.buffers[b].name),
             placeOf(subject().kernel)});
    }
  }
  return {};
}

/// Chooses the captured launches to time with a warm L2 cache: those whose time in the program is
/// nearer to the time with a warm cache. Returns true if there is one.
Result<bool> DeviceJudge::chooseCacheModes(const Trial &cold) {
  for (std::size_t i = 0; i < cold.timings.size(); ++i) {
    const auto known = options_.programSeconds.find(subject().workload.launches[i].name);
    if (known == options_.programSeconds.end() || cold.timings[i].cacheMode != CacheMode::Cold)
      continue;
    const double inProgram = known->second, coldSeconds = cold.timings[i].baselineSeconds;
    if (coldSeconds < kColderBy * inProgram)
      continue;
    TimeOptions options = timeOptions(i);
    options.budget /= 4; // a median is enough
    options.coldCache = false;
    options.slot = fmt::format("warm-{}", i);
    const Launch &launch = context_.baseline().launches[i];
    KOPT_TRY(const TimingOutcome warm, runner_.time(context_.baseline().module, launch,
                                                    context_.baseline().module, launch, options));
    if (warm.status != RunStatus::Ok || warm.samples.empty())
      continue;
    std::vector<double> seconds;
    for (const TimingSample &sample : warm.samples)
      seconds.push_back(sample.a);
    if (std::abs(std::log(median(std::move(seconds)) / inProgram)) <
        std::abs(std::log(coldSeconds / inProgram)))
      warm_.insert(i);
  }
  return !warm_.empty();
}

Status DeviceJudge::timeBaseline(Trial &trial) {
  VerdictPolicy policy = options_.policy;
  policy.candidates = 1;
  auto start = std::chrono::steady_clock::now();
  KOPT_TRY(bool timed, time(context_.baseline(), policy, 1, trial));
  timeSeconds_ = secondsSince(start);
  if (timed) {
    KOPT_TRY(const bool isAnyWarm, chooseCacheModes(trial));
    if (isAnyWarm) {
      start = std::chrono::steady_clock::now();
      KOPT_TRY(timed, time(context_.baseline(), policy, 1, trial));
      timeSeconds_ = secondsSince(start);
    }
  }
  if (!timed)
    return baselineFailed(subject(),
                          fmt::format("kernel '{}': {}", subject().kernel.name, trial.reason));
  // The baseline against itself is the control: it must be neither faster nor slower.
  if (trial.verdict == Verdict::Faster || trial.verdict == Verdict::Slower)
    trial.findings.push_back(
        {"control", Severity::Warning,
         "the baseline measured against itself is not the same: " + trial.reason +
             "; this machine is too noisy for small differences",
         ""});
  if (!throttled_.empty() || !otherLoad_.empty())
    trial.findings.push_back({"control", Severity::Warning, "the baseline: " + trial.reason, ""});
  trial.verdict = Verdict::Same;
  // The user's weights count launches; the workload needs each launch's share of the time.
  double total = 0;
  for (std::size_t i = 0; i < trial.timings.size(); ++i)
    total += subject().workload.launches[i].weight * trial.timings[i].baselineSeconds;
  for (std::size_t i = 0; total > 0 && i < trial.timings.size(); ++i)
    context_.subject().workload.launches[i].weight *= trial.timings[i].baselineSeconds / total;
  return {};
}

/// On the emulated device a hang ends after 20 times the baseline's instructions, at the same point
/// each time.
Status DeviceJudge::limitInstructions(const Trial &baseline) {
  if (!runner_.device().modelled)
    return {};
  context_.instructionLimits.clear();
  for (std::size_t i = 0; i < context_.baseline().launches.size(); ++i) {
    Counters counters = baseline.counters; // of the heaviest launch
    if (i != context_.heaviest()) {
      KOPT_TRY(ProfileOutcome outcome,
               device_.profile(context_.baseline().module, context_.baseline().path,
                               context_.baseline().launches[i]));
      counters = std::move(outcome.counters);
    }
    const auto executed = counters.find("smsp__thread_inst_executed.sum");
    context_.instructionLimits.push_back(
        executed == counters.end() ? 0 : std::uint64_t(20 * executed->second + 1e6));
  }
  return {};
}

/// Finds out whether the original's blocks access each other's results without synchronization. If
/// they do not, a candidate's blocks may not either.
Status DeviceJudge::findBlocksApart(Trial &trial) {
  if (!context_.runner().device().modelled)
    return {};
  for (std::size_t i = 0; i < context_.baseline().launches.size(); ++i) {
    RunOptions options = context_.options(options_.seed, kPoison, i, "second");
    options.checkAcrossBlocks = true;
    KOPT_TRY(const auto run, context_.tryExpect(context_.baseline().launches[i], options));
    if (run)
      continue;
    trial.findings.push_back(
        {"races", Severity::Note,
         "kopt does not look for races between blocks, as the original has some: " +
             run.error().what,
         placeOf(subject().kernel)});
    return {};
  }
  context_.blocksAreApart = true;
  return {};
}

Status DeviceJudge::measureBaseline(const Built &built, Trial &trial) {
  trial.gpu = device_.name;
  const auto step = [&](const char *name, auto function) -> Status {
    const LoggedStage logged(std::string("baseline: ") + name);
    const StageTimer timer(trial, std::string("baseline/") + name);
    return function();
  };
  KOPT_CHECK(step("load", [&] { return loadBaseline(built, trial); }));
  LineCosts lines = costLines(trial);
  KOPT_CHECK(step("outputs", [&]() -> Status {
    KOPT_CHECK(classifyBuffers());
    KOPT_CHECK(checkRepeatability(trial));
    KOPT_CHECK(checkSensitivity(trial));
    return findUnseenInputs(trial);
  }));
  if (options_.times)
    KOPT_CHECK(step("time", [&] { return timeBaseline(trial); }));
  const auto count = [&] {
    return step("profile", [&] { return profile(context_.baseline(), trial); });
  };
  if (runner_.device().modelled) {
    KOPT_CHECK(count());
  } else { // what has to start does so while the checks learn
    if (options_.counters)
      runner_.prepareProfile();
    if (options_.confirmsNext)
      startFreshProcesses();
  }
  KOPT_CHECK(step("emulated limits", [&]() -> Status {
    KOPT_CHECK(limitInstructions(trial));
    return findBlocksApart(trial);
  }));
  KOPT_CHECK(step("checks", [&]() -> Status {
    if (options_.ownLaunchesOnly)
      return {};
    if (options_.depth == Depth::Look)
      return {}; // what no candidate needs is not learned
    if (!waitsForWinner())
      compileOriginalAhead();
    KOPT_CHECK(learnChecks(Depth::Search, trial));
    if (waitsForWinner())
      return {};
    KOPT_CHECK(replays_->learnAll(context_, trial));
    return learnChecks(Depth::Trial, trial);
  }));
  if (options_.counters && !runner_.device().modelled)
    KOPT_CHECK(count());
  addHotLines(std::move(lines), trial);
  noteIncidents(trial);
  return {};
}

Status DeviceJudge::learnAs(const DeviceJudge &first, const Built &built, Trial &trial) {
  Trial own; // discarded: the first device's trial is the record
  KOPT_CHECK(loadBaseline(built, own));
  KOPT_CHECK(classifyBuffers());
  KOPT_CHECK(checkRepeatability(own));
  KOPT_CHECK(agreesWith(first));
  for (std::size_t i = 0; i < subject().workload.launches.size(); ++i)
    context_.subject().workload.launches[i].weight = first.subject().workload.launches[i].weight;
  context_.instructionLimits =
      first.context_
          .instructionLimits; // of a modelled device; they depend on the program, not on the device
  context_.blocksAreApart = first.context_.blocksAreApart;
  context_.racesItself = first.context_.racesItself;
  warm_ = first.warm_;
  if (options_.depth > Depth::Look)
    KOPT_CHECK(learnChecks(Depth::Search, own));
  if (!waitsForWinner())
    KOPT_CHECK(learnChecks(Depth::Trial, own));
  gaps_ = first.gaps_; // gaps of the workload, not of the device
  noteIncidents(trial);
  return {};
}

/// Devices of one kind give the same results for a kernel, within its tolerance; one that does not
/// is broken.
Status DeviceJudge::agreesWith(const DeviceJudge &first) const {
  for (std::size_t i = 0; i < context_.expected.size(); ++i) {
    const Launch &launch = context_.baseline().launches[i];
    const auto differs = [&](const std::string &what) {
      return baselineFailed(
          subject(),
          fmt::format("kernel '{}' does not give the same results on every GPU of the "
                      "pool: on {}, in launch '{}', {}; not so on {}",
                      subject().kernel.name, device_.name, launch.name, what, first.device_.name),
          "leave that GPU out with --gpus, and have it checked (nvidia-smi -q -d ECC)");
    };
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      const Buffer &buffer = launch.buffers[b];
      const bool isOutput = first.context_.baseline().launches[i].buffers[b].output;
      if (buffer.output != isOutput)
        return differs(
            fmt::format("'{}' is {} output", buffer.name, buffer.output ? "a pure" : "not a pure"));
    }
    KOPT_TRY(const auto mismatch,
             firstMismatch(launch.buffers, subject().workload.tolerance,
                           first.context_.expected[i].buffers, context_.expected[i].buffers));
    if (mismatch)
      return differs(*mismatch);
  }
  return {};
}

} // namespace kopt
