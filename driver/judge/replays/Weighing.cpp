// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/replays/Weighing.h"

#include "driver/judge/context/ErrorStatistics.h"
#include "driver/judge/context/Variation.h"
#include "driver/judge/replays/DerivedOptions.h"
#include "driver/judge/replays/ReplayLimits.h"
#include "driver/model/Json.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

Result<std::optional<RunOutcome>> runOnce(CheckContext &context,
                                          const std::filesystem::path &module,
                                          const std::string &symbol, const Launch &launch,
                                          const RunOptions &options) {
  const auto loaded = context.runner().load(module, symbol);
  if (!loaded)
    return std::nullopt;
  auto outcome = context.runner().run(loaded->id, launch, options);
  context.runner().unload(loaded->id);
  return outcome;
}

Status OtherwiseBuilt::build(CheckContext &context) {
  if (context.subject().specialization.route == Route::InPlace)
    return {}; // it is built in its own file
  BuildRequest request = original_;
  request.sliceText = context.subject().sliceText;
  request.unoptimized = true;
  request.output = scratch_ / "module";
  KOPT_TRY(const BuildOutcome built, toolchain_->build(request));
  if (!built.ok)
    return {};
  module_ = built.module;
  // If it is another kernel on the program's own launches as well, it tells nothing.
  const std::size_t heaviest = context.heaviest();
  if (heaviest >= context.expected.size())
    return {};
  KOPT_TRY(const std::string why,
           differs(context, context.baseline().launches[heaviest], context.expected[heaviest], {}));
  if (!why.empty())
    module_.clear();
  return {};
}

/// How the module's result differs; empty if it does not. Without the usual result's files, and
/// where it does not end in time, nothing is known.
Result<std::string> OtherwiseBuilt::differs(CheckContext &context, const Launch &launch,
                                            const Expected &expected,
                                            const std::vector<Slack> &allowed) {
  RunOptions options =
      derivedOptions(context, launch, expected.inputSeed, kPoison, "derived-otherwise");
  options.jitter = expected.jitter;
  options.instructionLimit *= std::uint64_t(kSlowerWithout);
  options = context.forTrying(options, kSlowerWithout * expected.ownSeconds());
  KOPT_TRY(const auto outcome, runOnce(context, module_, original_.symbol, launch, options));
  if (!outcome || outcome->status == RunStatus::TimedOut)
    return std::string();
  if (outcome->status != RunStatus::Ok)
    return outcome->detail;
  KOPT_TRY(auto mismatch, firstMismatch(launch.buffers, context.subject().workload.tolerance,
                                        expected.buffers, outcome->buffers, allowed));
  return std::move(mismatch).value_or(std::string());
}

Result<std::string> OtherwiseBuilt::whyUndefined(CheckContext &context, const Launch &launch,
                                                 const Expected &expected,
                                                 const std::vector<Slack> &allowed) {
  if (!std::exchange(isAsked_, true))
    KOPT_CHECK(build(context));
  if (module_.empty())
    return std::string();
  KOPT_TRY(const std::string how, differs(context, launch, expected, allowed));
  return how.empty() ? how
                     : fmt::format("the original is not defined there: compiled without "
                                   "optimisation it gives something else: {}",
                                   how);
}

Result<const AskedAgain *> Weighing::askAgain(CheckContext &context, const Launch &launch,
                                              const Expected &expected,
                                              const std::vector<Slack> &slack) {
  const auto [known, isNew] =
      again_.try_emplace(fmt::format("{} {} {} {}", launch.name, canonicalJson(launch.bindings),
                                     expected.inputSeed, expected.jitter));
  AskedAgain &answer = known->second;
  if (!isNew)
    return &answer;
  answer.spread.assign(launch.buffers.size(), 0.0);
  if (expected.buffers.empty())
    return &answer; // there is nothing to compare with
  const bool isModelled = context.runner().device().modelled;
  const OwnTime time(context);
  // The emulated device runs a candidate in the usual order of threads, so there other orders only
  // tell how far sums are apart.
  const Tolerance &tolerance = context.subject().workload.tolerance;
  Variation usual(launch, tolerance, expected, slack), ordered = usual;
  for (std::uint32_t i = 0; i < (isModelled ? kMostAskedModelled : kMostAsked); ++i) {
    const bool isSame = usual.isSame() && ordered.isSame();
    if (i >= kFewestAsked && (isSame || (!isModelled && time.seconds() > GpuSeconds::kLearn)))
      break;
    RunOptions options =
        derivedOptions(context, launch, expected.inputSeed, kOtherPoison + i, "derived-again");
    options.jitter = expected.jitter;
    options.known = expected.digest;
    options.scheduleSeed = isModelled && i > 0 ? 5 * i - 3 : 0;
    const bool isSparse = !isModelled && i % 2 != 0 && runsSparse_;
    KOPT_TRY(const auto ran, context.tryExpect(isSparse ? inSparseOrder(launch, i) : launch,
                                               context.forTrying(options, expected.ownSeconds())));
    if (ran) {
      KOPT_CHECK((options.scheduleSeed != 0 ? ordered : usual).add(*ran));
      continue;
    }
    if (!isSparse && options.scheduleSeed == 0)
      answer.why = "the original does not always run on it: " + ran.error().what;
    if (!isSparse)
      break;
    runsSparse_ = ran.error().status != RunStatus::TimedOut;
  }
  answer.isSame = usual.isSame();
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    KOPT_TRY(const bool isLittle, usual.isLittle(b));
    KOPT_TRY(const bool isLittleInOrders, ordered.isLittle(b));
    answer.spread[b] =
        std::max(usual.spread(b).value_or(0), isLittleInOrders ? ordered.spread(b).value_or(0) : 0);
    if (!isLittle && answer.why.empty() && !usual.mismatch(b).empty())
      answer.why = "the original does not repeat its own result on it: " + usual.mismatch(b);
  }
  return &answer;
}

Result<std::optional<std::vector<Slack>>> Weighing::widened(CheckContext &context,
                                                            const Launch &launch,
                                                            const Expected &expected,
                                                            std::vector<Slack> slack) {
  KOPT_TRY(const AskedAgain *again, askAgain(context, launch, expected, slack));
  std::vector<double> limits(launch.buffers.size(), 0.0);
  if (again->why.empty()) // else weigh() drops the launch
    limits = again->spread;
  if (ownErrors_ && context.subject().workload.tolerance.policy == TolerancePolicy::Default) {
    KOPT_TRY(const std::vector<double> errors, ownErrors_(context, launch, expected));
    for (std::size_t b = 0; b < errors.size() && b < limits.size(); ++b)
      limits[b] = std::max(limits[b], kOwnError * errors[b]);
  }
  slack.resize(launch.buffers.size());
  bool isWider = false;
  for (std::size_t b = 0; b < limits.size(); ++b)
    if (limits[b] > std::max(slack[b].absolute, launch.buffers[b].spread)) {
      slack[b].absolute = limits[b];
      isWider = true;
    }
  return isWider ? std::optional(std::move(slack)) : std::nullopt;
}

Result<std::optional<std::vector<Slack>>>
Weighing::widenedForWorkload(CheckContext &context, const Launch &launch, const Expected &expected,
                             const std::vector<Slack> &slack, Trial &trial) {
  KOPT_TRY(const AskedAgain *again, askAgain(context, launch, expected, slack));
  KOPT_TRY(auto wider, widened(context, launch, expected, slack));
  if (!wider)
    wider = slack;
  wider->resize(launch.buffers.size());
  bool isWider = false;
  for (std::size_t b = 0; b < wider->size(); ++b) {
    const Buffer &buffer = launch.buffers[b];
    const double before = b < slack.size() ? slack[b].absolute : 0, own = again->spread[b];
    double &allowed = (*wider)[b].absolute;
    if (allowed > before) {
      KOPT_TRY(const double typical, rootMeanSquare(buffer, expected.buffers[b]));
      if (allowed > kMostAllowed * mostRounding(buffer.scalar) * typical)
        allowed = before;
    }
    allowed = std::max(allowed, own);
    isWider |= allowed > before;
    if (own > std::max(before, buffer.spread))
      addGap(trial.assurance,
             {CheckId::Outputs,
              fmt::format("'{}' in launch '{}': the original's own results are further apart than "
                          "was known, so a candidate's may be, too",
                          buffer.name, launch.name)});
  }
  return isWider ? std::move(wider) : std::nullopt;
}

Result<std::optional<Failure>> Weighing::weigh(CheckContext &context, Examination &seen,
                                               const Replay &replay, Failure failure) {
  using Answer = std::optional<Failure>;
  const DerivedLaunch &derived = replay.derived;
  Assurance &assurance = seen.trial.assurance;
  const auto gap = [&](const std::string &why) {
    addGap(assurance, {failure.check, fmt::format("{}; there {}", why, failure.reason)});
    return Answer();
  };
  KOPT_TRY(const AskedAgain *again,
           askAgain(context, derived.launch, replay.expected, replay.slack));
  if (!again->why.empty()) {
    undefined_[derived.launch.name] = {derived.kind, derived.title, again->why};
    return Answer();
  }
  const bool isStrict = policy_ == AssurancePolicy::Strict;
  if (derived.isExtreme && failure.check == derived.kind &&
      failure.verdict == Verdict::WrongResult && !isStrict)
    return gap("contents are tried that are far from the declared or captured ones");
  const bool isBeyond = !derived.beyond.empty() && !isStrict;
  if (!isBeyond && otherwise_ &&
      undefined_.size() < std::max<std::size_t>(1, replays_.size() / kOneUndefinedIn)) {
    KOPT_TRY(const auto wider, widened(context, derived.launch, replay.expected, replay.slack));
    KOPT_TRY(std::string why, otherwise_->whyUndefined(context, derived.launch, replay.expected,
                                                       wider ? *wider : replay.slack));
    if (!why.empty()) {
      undefined_[derived.launch.name] = {derived.kind, derived.title, std::move(why)};
      return Answer();
    }
  }
  if (const Counterexample example =
          counterexampleOf(context.subject().specialization, derived.launch);
      std::ranges::find(assurance.counterexamples, example) == assurance.counterexamples.end())
    assurance.counterexamples.push_back(example);
  return isBeyond ? gap(derived.beyond) : Answer(std::move(failure));
}

} // namespace kopt
