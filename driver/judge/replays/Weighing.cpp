// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/replays/Weighing.h"

#include "driver/judge/context/ErrorStatistics.h"
#include "driver/judge/replays/DerivedOptions.h"
#include "driver/judge/replays/ReplayLimits.h"

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

Result<std::optional<std::vector<Slack>>> Weighing::widened(CheckContext &context,
                                                            const Launch &launch,
                                                            const Expected &expected,
                                                            std::vector<Slack> slack) const {
  using Answer = std::optional<std::vector<Slack>>;
  if (!ownErrors_ || context.subject().workload.tolerance.policy != TolerancePolicy::Default)
    return Answer();
  KOPT_TRY(const std::vector<double> errors, ownErrors_(context, launch, expected));
  slack.resize(launch.buffers.size());
  bool isWider = false;
  for (std::size_t b = 0; b < errors.size() && b < slack.size(); ++b)
    if (kOwnError * errors[b] > slack[b].absolute) {
      slack[b].absolute = kOwnError * errors[b];
      isWider = true;
    }
  return isWider ? Answer(std::move(slack)) : Answer();
}

Result<std::optional<std::vector<Slack>>>
Weighing::withRounding(CheckContext &context, const Launch &launch, const Expected &expected,
                       const std::vector<Slack> &slack) const {
  KOPT_TRY(auto wider, widened(context, launch, expected, slack));
  bool isWider = false;
  for (std::size_t b = 0; wider && b < wider->size(); ++b) {
    const double before = b < slack.size() ? slack[b].absolute : 0;
    if ((*wider)[b].absolute == before)
      continue;
    KOPT_TRY(const double typical, rootMeanSquare(launch.buffers[b], expected.buffers[b]));
    if ((*wider)[b].absolute > kMostAllowed * mostRounding(launch.buffers[b].scalar) * typical)
      (*wider)[b].absolute = before;
    else
      isWider = true;
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
