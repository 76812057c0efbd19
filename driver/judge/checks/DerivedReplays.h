// SPDX-License-Identifier: Apache-2.0
// Launches derived from the workload's launches, with the original's results on each. Four checks
// replay them, one for each kind, so that each kind can be switched off separately.
#pragma once

#include "driver/judge/checks/Check.h"
#include "driver/judge/derive/ProgramLaunches.h"

#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <set>

namespace kopt {

/// Why a derived launch is not a test.
struct NotATest {
  std::string why;
  /// How the original ended on it, where that was before its end.
  std::optional<RunStatus> ended{};
};

/// The derived launches that the original runs on. It runs on each when the workload is learned. A
/// launch that it does not finish or repeat, or on which finite inputs give infinities or NaNs, is
/// not a test and is left out with the reason. A candidate's result may deviate by four times what
/// the original's own result moves by when its inputs move in their last place. Launches derived
/// from captured ones have the same size, or a smaller one (isLight()). On a GPU only as many are
/// taken as a candidate can run in a few seconds, the most telling of each kind first, and the
/// original's results on large ones are not kept.
class DerivedReplays {
public:
  struct Replay {
    DerivedLaunch derived;
    Expected expected;        ///< the files are gone if isKept is false
    std::vector<Slack> slack; ///< for each buffer
    bool isKept = true;
    double seconds = 0; ///< of a run of the original once its inputs are at hand
  };

  /// How a derived launch differs from the one it is derived from.
  struct Change {
    Derivation kind = Derivation::Scalars;
    /// Indices of the arguments passed by value that differ, and whether one is a greater integer.
    std::set<std::pair<std::size_t, bool>> scalars;
    bool operator==(const Change &) const = default;
  };

  /// `most`: how many launches are derived from a captured one. `policy` decides what a failure on
  /// a launch is worth that the program does not make. `mostKept`: bytes of their results that are
  /// kept on a GPU.
  explicit DerivedReplays(std::size_t most = std::numeric_limits<std::size_t>::max(),
                          AssurancePolicy policy = AssurancePolicy::Standard,
                          std::uint64_t mostKept = std::uint64_t(1) << 30)
      : most_(most), policy_(policy), mostKept_(mostKept) {}

  /// Learns the launches that candidates of a search run on. Later calls do nothing; the same holds
  /// for learnAll().
  Status learn(CheckContext &context);
  /// Learns the other launches, too, in about `seconds` of a GPU, and adds findings to `trial`
  /// about kinds that have no launch.
  Status learnAll(CheckContext &context, Trial &trial, double seconds = GpuSeconds::kLearn);

  /// Learns more launches on which the requirements hold: a candidate that has them runs its own
  /// body on those alone. Later calls with the same ones do nothing.
  Status learnWhere(CheckContext &context, const std::vector<std::string> &requirements);

  bool isAllLearned() const { return learnedAll_; }
  const std::deque<Replay> &replays() const { return replays_; }
  /// Adds a launch that candidates are judged on. References to the other replays stay valid.
  void add(Replay replay) { replays_.push_back(std::move(replay)); }
  /// Adds a launch in the same way if the original runs on it; otherwise returns why not.
  Result<std::optional<NotATest>> take(CheckContext &context, DerivedLaunch launch);
  const std::vector<NotDerived> &missing() const { return missing_; }
  /// True if launches are derived from a smaller problem than the workload's heaviest launch, all
  /// but the first of each kind, because a run of that one takes longer than GpuSeconds::kLightRun.
  bool isLight() const { return light_.has_value(); }
  /// The most threads of a captured launch that the emulated device may run in little time.
  static constexpr std::uint64_t kSmallThreads = 32768;
  /// The launch that others are derived from: the heaviest one, or the smaller problem.
  const Launch &base(const CheckContext &context) const;
  /// Wall time of a run of the original on base(); 0 if it is unknown.
  double baseSeconds(const CheckContext &context) const;
  /// Candidates of a search run on the first inSearch() of replays(); the others are for winners.
  std::size_t inSearch() const { return inSearch_; }
  /// The original's results on a replay: those that were kept, or those of another run. Fails with
  /// BaselineFailed if the original does not finish that run.
  Result<Expected> expectedOf(CheckContext &context, const Replay &replay) const;
  /// The largest error of the original itself against its result in double precision, for each
  /// buffer; 0 if unknown.
  using OwnErrors = std::function<Result<std::vector<double>>(
      CheckContext &context, const Launch &launch, const Expected &expected)>;
  void setOwnErrors(OwnErrors ownErrors) { ownErrors_ = std::move(ownErrors); }
  /// The slack, widened to at least three times the original's own error, as a candidate may be
  /// twice as wrong as the original in the other direction. Nothing if that does not make it wider.
  Result<std::optional<std::vector<Slack>>> widened(CheckContext &context, const Launch &launch,
                                                    const Expected &expected,
                                                    std::vector<Slack> slack) const;
  /// The same for a launch of the workload, whose contents are ordinary: without what is so large
  /// that it can be no rounding.
  Result<std::optional<std::vector<Slack>>> withRounding(CheckContext &context,
                                                         const Launch &launch,
                                                         const Expected &expected,
                                                         const std::vector<Slack> &slack) const;
  /// Why the original's result on a launch means nothing; empty if it does mean something, or if
  /// that is not known. Arguments: as OtherwiseBuilt::whyUndefined().
  using Undefined =
      std::function<Result<std::string>(CheckContext &context, const Launch &launch,
                                        const Expected &expected, const std::vector<Slack> &)>;
  void setUndefined(Undefined whyUndefined) { whyUndefined_ = std::move(whyUndefined); }

  /// What is left of a candidate's failure on a derived launch: nothing, if the original is not
  /// defined there (of one launch in ten, at most; missing() then lists it), or if under the policy
  /// `standard` a launch that the program does not make, or contents far from all that are known,
  /// are no reason to refuse it. The trial's assurance then has a gap that says so. What tells the
  /// launch from the program's is noted in the trial.
  Result<std::optional<Failure>> weigh(CheckContext &context, Examination &seen,
                                       const DerivedLaunch &derived, const Expected &expected,
                                       const std::vector<Slack> &slack, Failure failure);
  bool isUndefined(const DerivedLaunch &derived) const {
    return undefined_.contains(derived.launch.name);
  }

  /// A small launch on ordinary contents; null if there is none.
  const Launch *small() const;
  /// Small launches, the most suitable first, parts of a captured launch's grid last. For checks
  /// that look at how a launch runs, not at its results.
  std::vector<const DerivedLaunch *> smallOnes() const;

  /// Runs the original on the launch. `slot` names the files, which are valid until the next run
  /// with that name.
  Result<tl::expected<Replay, NotATest>> prepare(CheckContext &context, DerivedLaunch derived,
                                                 std::uint64_t seed, const std::string &slot) const;

private:
  struct Failed {
    Change change;
    std::string title; ///< of the launch
    bool isHang = false;
  };
  Status findLightBase(CheckContext &context, const std::vector<DerivedLaunch> &ofHeaviest);
  Status learnLaunches(CheckContext &context, std::size_t most, double seconds);
  std::size_t mostReplays(const CheckContext &context, double seconds, std::size_t fewest) const;
  void noteMissing(Trial &trial) const;

  bool learned_ = false, learnedAll_ = false, isOfCaptured_ = false, isCostly_ = false;
  const std::size_t most_;
  const AssurancePolicy policy_;
  const std::uint64_t mostKept_;
  std::uint64_t keptBytes_ = 0;
  std::size_t inSearch_ = std::numeric_limits<std::size_t>::max();
  bool finite_ = true;                ///< the declared launches give only finite numbers
  std::deque<DerivedLaunch> pending_; ///< not learned yet
  std::size_t taken_ = 0;             ///< how many were learned, without parts of a grid
  std::set<Derivation> kinds_;        ///< kinds of the learned launches
  std::map<Derivation, int> tries_;   ///< launches of each kind that were tried
  std::vector<Failed> failed_; ///< launches on which the original hangs or, on a GPU, crashes
  std::set<std::vector<std::string>> requirements_; ///< of learnWhere()
  std::vector<std::string> where_; ///< requirements of a candidate, which all launches keep
  TuneDeclaration declared_;       ///< the user's clauses, and where_
  std::set<std::string> known_;    ///< identityOf() launches that are not learned
  std::string slot_ = "derived";   ///< the first part of files' names
  std::deque<Replay> replays_;
  std::optional<std::size_t> light_; ///< index of base() in replays_; nothing: the heaviest launch
  OwnErrors ownErrors_;              ///< null: the errors are not known
  Undefined whyUndefined_;           ///< null: it is not known
  std::set<std::string> undefined_;  ///< names of launches on which the original is not defined
  std::optional<ProgramLaunches> program_; ///< once launches are learned
  std::vector<NotDerived> missing_;
};

/// The input from which launches of the subject are derived.
inline DerivationSource sourceOf(const Subject &subject) {
  return {subject.kernel, subject.specialization,
          subject.declaration ? &*subject.declaration : nullptr};
}

/// Why a launch larger than the workload's heaviest takes too long to run for each candidate; empty
/// if it does not. If the estimate from the number of elements is too high, the original's actual
/// number of instructions on the emulated device decides.
Result<std::string> whyTooMuch(CheckContext &context, const Launch &launch);

/// `assurance` is for larger problems, as checkOwnLaunchSizes() has it.
std::unique_ptr<Check> makeReplayCheck(Derivation kind, std::shared_ptr<DerivedReplays> replays,
                                       AssurancePolicy assurance);

} // namespace kopt
