// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/learn/LearnOutputs.h"

#include "driver/judge/context/Variation.h"
#include "driver/judge/derive/DerivedLaunches.h"
#include "driver/judge/learn/PureOutputs.h"
#include "driver/judge/replays/DerivedReplays.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>

namespace kopt {
namespace {

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

class OutputLearner {
public:
  OutputLearner(CheckContext &context, std::vector<AssuranceGap> &gaps)
      : context_(context), gaps_(gaps) {}

  Status learn(bool isFirst, Trial &trial) {
    KOPT_CHECK(classifyBuffers());
    KOPT_CHECK(checkRepeatability(trial));
    if (!isFirst)
      return {};
    KOPT_CHECK(checkSensitivity(trial));
    return findUnseenInputs(trial);
  }

private:
  /// Records something that the workload cannot show for any candidate, and tells the user.
  void addGap(CheckId check, const std::string &what, Trial &trial) {
    gaps_.push_back({check, what});
    trial.findings.push_back(
        {toString(check), Severity::Warning, what, placeOf(context_.subject().kernel)});
  }

  Result<Expected> expect(std::size_t launch, std::uint64_t inputSeed, std::uint64_t poisonSeed,
                          const std::string &slot) {
    return context_.expect(
        context_.baseline().launches[launch],
        context_.options(inputSeed, poisonSeed, launch, fmt::format("{}-{}", slot, launch)));
  }

  /// Accepts that the original's threads race, if its results are the same in several orders of
  /// them: all of them write the same, for example. Fails if they are not.
  Status acceptRaces(std::size_t index, const std::string &what) {
    constexpr std::uint64_t kOrders = 5;
    Launch &launch = context_.baseline().launches[index];
    context_.racesItself = true;
    std::optional<Expected> first;
    for (std::uint64_t order = 0; order < kOrders; ++order) {
      RunOptions options = context_.options(context_.seed(), kPoison, index,
                                            order == 0 ? "order-first" : "order-next");
      options.scheduleSeed = order;
      KOPT_TRY(auto ran, tryAllowingUnset(context_, launch, options));
      if (!ran)
        return baselineFailed(
            context_.subject(),
            fmt::format("kernel '{}' races in launch '{}', and with its threads in "
                        "another order: {}",
                        context_.subject().kernel.name, launch.name, ran.error().what));
      KOPT_TRY(const auto mismatch,
               firstMismatch(launch.buffers, context_.subject().workload.tolerance,
                             first ? first->buffers : std::vector<std::filesystem::path>(),
                             ran->buffers));
      if (mismatch)
        return baselineFailed(
            context_.subject(),
            fmt::format("kernel '{}' races in launch '{}', and its results depend on the "
                        "order of its threads: {}",
                        context_.subject().kernel.name, launch.name, what),
            "if the threads of a warp are meant to run in step, say so with "
            "__syncwarp(); on a GPU the kernel is judged as it runs there");
      if (!first)
        first = std::move(*ran);
    }
    race_ = what;
    return {};
  }

  /// Where a captured launch changes nothing, as one that adds zeros does: gives it drawn contents
  /// on which it does. Returns false if there are none.
  Result<bool> drawContents(std::size_t index, std::set<std::string> &read) {
    constexpr std::size_t kMost = 4;
    Launch &launch = context_.baseline().launches[index];
    const Launch captured = launch;
    std::vector<Launch> drawn = withDrawnContents(sourceOf(context_.subject()), captured);
    drawn.resize(std::min(drawn.size(), kMost));
    for (Launch &other : drawn) {
      launch.buffers = std::move(other.buffers);
      KOPT_TRY(const auto ran, context_.tryExpect(launch, context_.options(context_.seed(), kPoison,
                                                                           index, "drawn")));
      if (!ran)
        continue;
      KOPT_TRY(const bool writes, findPureOutputs(context_, index, *ran, read));
      if (writes) {
        drawn_.insert(launch.name);
        return true;
      }
    }
    launch = captured;
    return false;
  }

  Status classifyBuffers() {
    context_.baselineSeconds.clear();
    std::set<std::string> read; // buffers whose old contents the kernel reads
    for (std::size_t i = 0; i < context_.baseline().launches.size(); ++i) {
      Launch &launch = context_.baseline().launches[i];
      for (Buffer &buffer : launch.buffers)
        buffer.output = false;
      const auto run = [&] {
        return tryAllowingUnset(
            context_, launch,
            context_.options(context_.seed(), kPoison, i, fmt::format("second-{}", i)));
      };
      KOPT_TRY(auto first, run());
      if (!first && first.error().status == RunStatus::Race) {
        KOPT_CHECK(acceptRaces(i, first.error().what));
        KOPT_TRY(first, run());
      }
      KOPT_TRY(const Expected reference, first ? Result<Expected>(std::move(*first))
                                               : expect(i, context_.seed(), kPoison, "second"));
      context_.baselineSeconds.push_back(reference.ownSeconds());
      KOPT_TRY(bool writes, findPureOutputs(context_, i, reference, read));
      if (!writes && isCaptured(launch)) {
        KOPT_TRY(writes, drawContents(i, read));
      }
      if (!writes)
        return baselineFailed(
            context_.subject(),
            fmt::format("kernel '{}' writes to none of its buffers in launch '{}'",
                        context_.subject().kernel.name, launch.name),
            "give the launch arguments with which it has work to do");
    }
    return {};
  }

  /// As expect(), in another order (inSparseOrder()). Where that cannot be launched, as it is.
  Result<Expected> expectInOtherOrder(std::size_t launch, std::uint32_t time) {
    auto made = context_.expect(
        inSparseOrder(context_.baseline().launches[launch], time),
        context_.options(context_.seed(), kPoison, launch, fmt::format("sparse-{}", launch)));
    return made ? std::move(made) : expect(launch, context_.seed(), kPoison, "second");
  }

  /// Runs the original several times on the same inputs. Buffers whose results differ a little are
  /// compared with that spread allowed; buffers that differ more are not compared. Spreads that are
  /// known already only grow. Returns false if nothing differs: then the results depend on memory
  /// that no argument provides.
  Result<bool> learnVariation(std::size_t index, std::uint32_t repeats) {
    Launch &launch = context_.baseline().launches[index];
    KOPT_TRY(const Expected first, expect(index, context_.seed(), kPoison, "expected"));
    const std::vector<Slack> none;
    Variation variation(launch, context_.subject().workload.tolerance, first, none);
    for (std::uint32_t i = 0; i < repeats; ++i) {
      KOPT_TRY(const Expected again, i % 2 == 0 ? expect(index, context_.seed(), kPoison, "second")
                                                : expectInOtherOrder(index, i));
      KOPT_CHECK(variation.add(again));
    }
    bool any = false;
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      Buffer &buffer = launch.buffers[b];
      const bool differs = !variation.mismatch(b).empty();
      any = any || differs || buffer.spread > 0 || buffer.varies;
      if (!differs)
        continue;
      KOPT_TRY(const bool isLittle, variation.isLittle(b));
      if (isLittle)
        buffer.spread = std::max(buffer.spread, *variation.spread(b));
      else
        buffer.varies = true;
    }
    return any;
  }

  /// Reports what learnVariation() and classifyBuffers() learnt of a launch.
  void reportVariation(const Launch &launch, Trial &trial) {
    if (drawn_.contains(launch.name))
      addGap(CheckId::Outputs,
             fmt::format("the original changes nothing in launch '{}' with the contents that "
                         "the program gave it, so it has drawn ones",
                         launch.name),
             trial);
    if (launch.readsUnsetShared)
      addGap(CheckId::Outputs,
             fmt::format("the original reads shared memory that it did not set in launch "
                         "'{}', so such reads of a candidate show only where results "
                         "depend on them",
                         launch.name),
             trial);
    for (const Buffer &buffer : launch.buffers)
      if (buffer.varies)
        addGap(CheckId::Outputs,
               fmt::format(
                   "'{}' in launch '{}': the original's results differ each time, so it is not "
                   "compared; have it reviewed",
                   buffer.name, launch.name),
               trial);
      else if (buffer.spread > 0)
        addGap(CheckId::Outputs,
               fmt::format("differences below {:.3g} in '{}' of launch '{}': the original's "
                           "own results are about half as far apart",
                           buffer.spread, buffer.name, launch.name),
               trial);
  }

  Status checkRepeatability(Trial &trial) {
    constexpr std::uint32_t kRepeats = 5, kMostRepeats = 20;
    if (!race_.empty())
      addGap(CheckId::Races,
             fmt::format("the original races ({}), and has the same results in other orders of "
                         "its threads, so races of a candidate show only in its results",
                         race_),
             trial);
    for (std::size_t i = 0; i < context_.baseline().launches.size(); ++i) {
      const std::vector<Buffer> &buffers = context_.baseline().launches[i].buffers;
      const auto repeats = [&]() -> Result<std::string> {
        KOPT_TRY(Expected first, expect(i, context_.seed(), kPoison, "expected"));
        KOPT_TRY(const Expected second, expect(i, context_.seed(), kOtherPoison, "second"));
        // Captured data have been read by now.
        context_.baselineSeconds[i] = std::min(context_.baselineSeconds[i], second.ownSeconds());
        KOPT_TRY(auto mismatch, firstMismatch(buffers, context_.subject().workload.tolerance,
                                              first.buffers, second.buffers));
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
      for (std::uint32_t count = kRepeats; !why.empty() && count <= kMostRepeats; count *= 2) {
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
          context_.subject(),
          isNothingLeft
              ? fmt::format("the results of kernel '{}' differ each time in every output of launch "
                            "'{}', so nothing can be compared",
                            context_.subject().kernel.name, context_.baseline().launches[i].name)
              : fmt::format("kernel '{}' does not repeat its own result in launch '{}': {}",
                            context_.subject().kernel.name, context_.baseline().launches[i].name,
                            why),
          isNothingLeft
              ? "if its result is meant to vary, say how far with a 'tolerance relative=... "
                "absolute=...' clause"
              : "it depends on memory that no argument or fill provides: look for reads of "
                "uninitialised memory, or outside a buffer");
    }
    return {};
  }

  /// True if the outputs of the launch are not those of the fixed inputs.
  Result<bool> hasOtherOutputs(std::size_t index, const Expected &other) {
    const std::vector<Buffer> &buffers = context_.baseline().launches[index].buffers;
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      if (buffers[b].readOnly || buffers[b].varies)
        continue;
      KOPT_TRY(const bool same, sameBytes(context_.expected[index].buffers[b], other.buffers[b]));
      if (!same)
        return true;
    }
    return false;
  }

  /// Other inputs should give other outputs; if they do not, the workload cannot tell a wrong
  /// kernel from a right one.
  Status checkSensitivity(Trial &trial) {
    for (std::size_t i = 0; i < context_.baseline().launches.size(); ++i) {
      const Launch &launch = context_.baseline().launches[i];
      const bool isDrawn = std::ranges::any_of(launch.buffers, [](const Buffer &buffer) {
        return !buffer.output && buffer.fill.kind == FillKind::Uniform &&
               buffer.fill.low != buffer.fill.high;
      });
      if (!isDrawn)
        continue; // no input is random: the result depends only on the arguments
      KOPT_TRY(const Expected other, expect(i, context_.seed() + 0x9e3779b9, kPoison, "second"));
      KOPT_TRY(const bool differs, hasOtherOutputs(i, other));
      if (!differs)
        addGap(CheckId::Fresh,
               fmt::format("the outputs of launch '{}' are the same for different inputs, so "
                           "a wrong kernel could pass; use other fills or arguments, so that "
                           "the inputs reach the outputs",
                           launch.name),
               trial);
    }
    return {};
  }

  /// Warns of each input that the outputs do not depend on (a factor of zero, a branch never
  /// taken): a candidate that misuses it goes unnoticed. A parameter that the kernel ignores is not
  /// an error.
  Status findUnseenInputs(Trial &trial) {
    for (std::size_t i = 0; i < context_.baseline().launches.size(); ++i) {
      Launch &launch = context_.baseline().launches[i];
      for (Buffer &buffer : launch.buffers) {
        if (!buffer.readOnly || buffer.fill.kind != FillKind::Uniform)
          continue;
        const Fill drawn = buffer.fill;
        buffer.fill = {FillKind::Constant, drawn.low, drawn.low};
        const auto other = expect(i, context_.seed(), kPoison, "second");
        buffer.fill = drawn;
        if (!other)
          continue; // the kernel fails on that input, so it depends on it
        KOPT_TRY(const bool differs, hasOtherOutputs(i, *other));
        if (!differs)
          trial.findings.push_back(
              {"unseen-input", Severity::Warning,
               fmt::format("the outputs of launch '{}' do not depend on '{}': a candidate that "
                           "misreads it would pass; choose arguments with which it matters",
                           launch.name, buffer.name),
               placeOf(context_.subject().kernel)});
      }
    }
    return {};
  }

  CheckContext &context_;
  std::vector<AssuranceGap> &gaps_;
  std::string race_;            ///< of the original, which is accepted
  std::set<std::string> drawn_; ///< names of launches with drawn contents for captured ones
};

/// On the emulated device a hang ends after 20 times the baseline's instructions, at the same point
/// each time.
Status limitInstructions(CheckContext &context,
                         const std::function<Result<Counters>(const Launch &)> &count,
                         const Counters &ofHeaviest) {
  context.instructionLimits.clear();
  for (std::size_t i = 0; i < context.baseline().launches.size(); ++i) {
    KOPT_TRY(const Counters counters,
             i == context.heaviest() ? ofHeaviest : count(context.baseline().launches[i]));
    const auto executed = counters.find("smsp__thread_inst_executed.sum");
    context.instructionLimits.push_back(
        executed == counters.end() ? 0 : std::uint64_t(20 * executed->second + 1e6));
  }
  return {};
}

/// Finds out whether the original's blocks access each other's results without synchronization. If
/// they do not, a candidate's blocks may not either.
Status findBlocksApart(CheckContext &context, Trial &trial) {
  for (std::size_t i = 0; i < context.baseline().launches.size(); ++i) {
    RunOptions options = context.options(context.seed(), kPoison, i, "second");
    options.checkAcrossBlocks = true;
    KOPT_TRY(const auto run, context.tryExpect(context.baseline().launches[i], options));
    if (run)
      continue;
    trial.findings.push_back(
        {"races", Severity::Note,
         "kopt does not look for races between blocks, as the original has some: " +
             run.error().what,
         placeOf(context.subject().kernel)});
    return {};
  }
  context.blocksAreApart = true;
  return {};
}

} // namespace

Status learnOutputs(CheckContext &context, bool isFirst, std::vector<AssuranceGap> &gaps,
                    Trial &trial) {
  return OutputLearner(context, gaps).learn(isFirst, trial);
}

Status learnLimits(CheckContext &context,
                   const std::function<Result<Counters>(const Launch &)> &count, Trial &baseline) {
  if (!context.runner().device().modelled)
    return {};
  KOPT_CHECK(limitInstructions(context, count, baseline.counters));
  return findBlocksApart(context, baseline);
}

Status agree(const CheckContext &context, const std::string &name, const CheckContext &first,
             const std::string &firstName) {
  const Subject &subject = context.subject();
  for (std::size_t i = 0; i < context.expected.size(); ++i) {
    const Launch &launch = context.baseline().launches[i];
    const auto differs = [&](const std::string &what) {
      return baselineFailed(
          subject,
          fmt::format("kernel '{}' does not give the same results on every GPU of the "
                      "pool: on {}, in launch '{}', {}; not so on {}",
                      subject.kernel.name, name, launch.name, what, firstName),
          "leave that GPU out with --gpus, and have it checked (nvidia-smi -q -d ECC)");
    };
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      const Buffer &buffer = launch.buffers[b];
      if (buffer.output != first.baseline().launches[i].buffers[b].output)
        return differs(
            fmt::format("'{}' is {} output", buffer.name, buffer.output ? "a pure" : "not a pure"));
    }
    KOPT_TRY(const auto mismatch,
             firstMismatch(launch.buffers, subject.workload.tolerance, first.expected[i].buffers,
                           context.expected[i].buffers));
    if (mismatch)
      return differs(*mismatch);
  }
  return {};
}

} // namespace kopt
