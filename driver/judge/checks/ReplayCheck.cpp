// SPDX-License-Identifier: Apache-2.0
// The checks that replay derived launches, one for each kind.
#include "driver/judge/checks/Checks.h"
#include "driver/judge/derive/DrawnLaunches.h"
#include "driver/judge/replays/DerivedOptions.h"
#include "driver/judge/replays/OwnLaunches.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace kopt {
namespace {

constexpr std::size_t kMostExamples = 8; ///< launches on which a refused candidate fails
constexpr double kMostSeconds = 2;       ///< to find them: where it crashes, each takes a context

/// "a, b: why; c: another"
std::string inWords(const std::vector<const NotDerived *> &missing) {
  std::vector<std::pair<std::string, std::string>> byReason; // why, titles
  for (const NotDerived *item : missing) {
    const auto known =
        std::ranges::find(byReason, item->why, [](const auto &pair) { return pair.first; });
    if (known == byReason.end())
      byReason.emplace_back(item->why, item->title);
    else
      known->second += ", " + item->title;
  }
  std::vector<std::string> texts;
  for (const auto &[why, titles] : byReason)
    texts.push_back(titles + ": " + why);
  return join(texts, "; ");
}

class ReplayCheck final : public Check {
public:
  ReplayCheck(Derivation kind, std::shared_ptr<DerivedReplays> replays)
      : kind_(kind), replays_(std::move(replays)) {}
  CheckId id() const override { return kind_; }
  Depth from() const override { return Depth::Search; }
  Status learn(CheckContext &context, Trial &) override { return replays_->learn(context); }

  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen,
                                     CheckRecord &record) override {
    if (seen.depth > Depth::Search)
      KOPT_CHECK(replays_->learnWhere(context, seen.candidate.requirements));
    KOPT_TRY(auto failure, checkAll(context, seen, record));
    if (failure)
      seen.trial.findings.push_back({toString(id()), Severity::Note, remedyOf(kind_), ""});
    return failure;
  }

private:
  /// What to declare if the derived launch that a candidate fails on cannot occur in practice.
  static std::string remedyOf(Derivation kind) {
    const std::string made = "the launch is derived from one of the workload's; ";
    switch (kind) {
    case Derivation::Contents:
      return made + "if inputs are never like that, declare what they are like (fill PARAM = …); "
                    "if results may differ that much, declare how far (tolerance relative=…)";
    case Derivation::Scalars:
    case Derivation::Sizes:
      return made + "if no caller uses such numbers, say so in a require clause";
    default:
      return made + "pointers may have any alignment that their type allows, and may be equal "
                    "where a launch passes equal ones; if all callers pass aligned ones, say so, "
                    "as in require in % 16 == 0";
    }
  }

  /// True if the launch is of this check's kind, and the original is defined on it.
  bool isMine(const DerivedLaunch &derived) const {
    return derived.kind == kind_ && !replays_->weighing().isUndefined(derived);
  }

  Result<std::optional<Failure>> checkAll(CheckContext &context, Examination &seen,
                                          CheckRecord &record) {
    std::vector<const Replay *> ran;
    std::vector<NotDerived> refused;
    std::size_t left = 0;
    for (std::size_t i = 0; i < replays_->replays().size(); ++i) {
      const Replay &replay = replays_->replays()[i];
      if (!isMine(replay.derived) || (replay.derived.isPart && !context.runner().device().modelled))
        continue;
      if (seen.depth == Depth::Search && i >= replays_->inSearch()) {
        ++left;
        continue;
      }
      const auto launch = applyToDerived(context, seen.candidate, replay.derived.launch);
      if (!launch) {
        if (auto failure = failureToLaunch(context, seen.candidate, replay.derived.launch, id())) {
          KOPT_TRY(const auto known, replays_->withResults(context, replay));
          KOPT_TRY(auto weighed,
                   replays_->weighing().weigh(context, seen, *known, std::move(*failure)));
          if (weighed)
            return weighed;
        }
        refused.push_back({kind_, replay.derived.title, launch.error().what});
        continue;
      }
      if (std::string why = whyTooManyThreads(context, replay.derived.launch, *launch);
          !why.empty()) {
        refused.push_back({kind_, replay.derived.title, std::move(why)});
        continue;
      }
      KOPT_TRY(const auto known, replays_->withResults(context, replay));
      KOPT_TRY(auto failure, compare(context, seen, *known, *launch));
      if (replay.derived.isPart && !(failure && failure->check == CheckId::Races))
        continue;
      if (failure) {
        for (const Replay *right : ran)
          seen.trial.assurance.examples.push_back(
              counterexampleOf(context.subject().specialization, right->derived.launch));
        KOPT_CHECK(findOthers(context, seen, i + 1));
        return failure;
      }
      ran.push_back(&replay);
    }
    std::vector<const NotDerived *> missing;
    for (const NotDerived &item : replays_->missing())
      if (item.kind == kind_)
        missing.push_back(&item);
    for (const auto &[name, item] : replays_->weighing().undefined())
      if (item.kind == kind_)
        missing.push_back(&item);
    for (const NotDerived &item : refused)
      missing.push_back(&item);
    if (ran.empty() && (left > 0 || !replays_->isAllLearned()))
      return notRun(record, kForWinners);
    if (ran.empty() && missing.empty())
      return notApplicable(record, fmt::format("the launch has no {} to change", toString(kind_)));
    if (ran.empty())
      return notRun(record, fmt::format("no launch with other {} could be tried: {}",
                                        toString(kind_), inWords(missing)));
    const bool isAll = !isBrief(context, seen);
    if (isAll || replays_->isLight()) {
      KOPT_TRY(auto failure, checkFresh(context, seen, ran));
      if (failure)
        return failure;
    }
    record.detail = fmt::format("{} launches", ran.size());
    if (left > 0)
      record.detail += fmt::format(", {} more run only for winners", left);
    if (!missing.empty())
      record.detail += "; not run: " + inWords(missing);
    if (kind_ != Derivation::Sizes || !isAll)
      return std::nullopt;
    return checkOwnLaunchSizes(context, *replays_, seen, record);
  }

  /// Runs a candidate that was refused on more launches, for a condition that tells all on which it
  /// fails: compare() notes them. Wrong versions of the original have no edits and need none.
  Status findOthers(CheckContext &context, Examination &seen, std::size_t from) const {
    const auto &replays = replays_->replays();
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = from; i < replays.size() && !seen.candidate.chunks.empty() &&
                               seen.trial.assurance.counterexamples.size() < kMostExamples &&
                               secondsSince(start) < kMostSeconds;
         ++i) {
      const DerivedLaunch &derived = replays[i].derived;
      if (!isMine(derived) || derived.isPart)
        continue;
      const auto launch = applyToDerived(context, seen.candidate, derived.launch);
      if (!launch || !whyTooManyThreads(context, derived.launch, *launch).empty())
        continue;
      KOPT_TRY(const auto known, replays_->withResults(context, replays[i]));
      KOPT_CHECK(compare(context, seen, *known, *launch));
    }
    return {};
  }

  /// Compares the candidate's launch with the original's results.
  Result<std::optional<Failure>> compare(CheckContext &context, Examination &seen,
                                         const Replay &replay, const Launch &own) const {
    KOPT_TRY(auto failure, compareDerived(context, replays_->weighing(), seen, replay, own,
                                          derivedOptions(context, own, replay.expected.inputSeed,
                                                         kOtherPoison, "derived"),
                                          id()));
    return failure && !replay.derived.isPart
               ? replays_->weighing().weigh(context, seen, replay, std::move(*failure))
               : std::move(failure);
  }

  /// Runs a launch that is chosen, and its inputs drawn, after the candidate was frozen. For sizes
  /// and scalars also runs one with newly drawn values.
  Result<std::optional<Failure>> checkFresh(CheckContext &context, Examination &seen,
                                            const std::vector<const Replay *> &ran) {
    int refused = 0; // launches that the original fails on, as its contents may fit its own sizes
                     // only; on a GPU each costs a context
    for (int draw = 0; draw < seen.strength.freshDraws && refused < 3; ++draw) {
      const std::uint64_t seed =
          mixed(seen.freshSeed + std::uint64_t(kind_), std::uint64_t(draw)) | 1;
      const Replay &replay = *ran[mixed(seed, 0) % ran.size()];
      if (kind_ == Derivation::Scalars || kind_ == Derivation::Sizes) {
        KOPT_TRY(auto failure, checkDrawn(context, seen, replay.derived.launch, seed, refused));
        if (failure)
          return failure;
      }
      const Launch &original = replay.derived.launch;
      const auto launch = applyToDerived(context, seen.candidate, original);
      if (!launch)
        continue;
      if (std::any_of(replay.slack.begin(), replay.slack.end(),
                      [](const Slack &slack) { return slack.moved != nullptr; })) {
        KOPT_TRY(const auto drawn,
                 replays_->prepare(context, replay.derived, seed, "derived-fresh"));
        if (!drawn)
          continue; // the original does not run on this draw
        KOPT_TRY(auto failure, compare(context, seen, *drawn, *launch));
        if (failure)
          return failure;
        continue; // which elements jump is known for those inputs only
      }
      KOPT_TRY(
          auto expected,
          context.tryExpect(original, context.forTrying(derivedOptions(context, original, seed,
                                                                       kPoison, "derived-fresh"),
                                                        replay.seconds)));
      if (!expected)
        continue; // the original does not run on this draw
      addStages(seen.trial, "verify", expected->seconds, expected->stages);
      Replay drawn = replay;
      drawn.expected = std::move(*expected);
      for (Slack &allowed : drawn.slack)
        allowed.absolute *= 2; // the slack was measured on other inputs of the same kind
      KOPT_TRY(auto failure, compare(context, seen, drawn, *launch));
      if (failure)
        return failure;
    }
    return std::nullopt;
  }

  /// Runs a launch with sizes or scalars that the candidate cannot have known.
  Result<std::optional<Failure>> checkDrawn(CheckContext &context, Examination &seen,
                                            const Launch &known, std::uint64_t seed, int &refused) {
    const DerivationSource source = sourceOf(context.subject());
    auto drawn = kind_ == Derivation::Scalars ? drawScalars(source, known, seed)
                                              : drawSizes(source, known, seed);
    if (!drawn)
      return std::nullopt;
    if (!applyToDerived(context, seen.candidate, drawn->launch))
      return std::nullopt; // the candidate's constants are not meant for that size
    KOPT_TRY(const auto replay,
             replays_->prepare(context, std::move(*drawn), seed, "derived-fresh"));
    if (!replay) {
      ++refused;
      return std::nullopt;
    }
    addStages(seen.trial, "verify", replay->expected.seconds, replay->expected.stages);
    KOPT_TRY(const Launch launch, applyToDerived(context, seen.candidate, replay->derived.launch));
    return compare(context, seen, *replay, launch);
  }

  Derivation kind_;
  std::shared_ptr<DerivedReplays> replays_;
};

} // namespace

std::unique_ptr<Check> makeReplayCheck(Derivation kind, std::shared_ptr<DerivedReplays> replays) {
  return std::make_unique<ReplayCheck>(kind, std::move(replays));
}

} // namespace kopt
