// SPDX-License-Identifier: Apache-2.0
// Launches derived from those of the workload, with what the original does on each. Four checks
// replay them, one for each kind, so that each kind can be switched off alone.
#pragma once

#include "driver/judge/checks/Check.h"
#include "driver/workload/derived/DerivedLaunches.h"

#include <deque>
#include <functional>
#include <limits>
#include <set>

namespace kopt {

/// The derived launches that the original stands. It is run on each when the workload is learned:
/// one that it does not run through, does not repeat, or answers with infinities or NaNs of finite
/// inputs is no test, and is left out with the reason. What its own result moves by when its inputs
/// move in their last place is allowed to a candidate four times. Launches derived from captured
/// ones have their size: on a GPU as many are taken as a candidate can be run on in some seconds,
/// those of each kind that say most, and what the original leaves on large ones is not kept.
class DerivedReplays {
public:
  struct Replay {
    DerivedLaunch derived;
    Expected expected;        ///< without files where they are not kept
    std::vector<Slack> slack; ///< for each buffer
    bool isKept = true;
  };

  /// `most`: launches derived from a captured one; `mostKept`: bytes of results on them that are
  /// kept on a GPU.
  explicit DerivedReplays(std::size_t most = std::numeric_limits<std::size_t>::max(),
                          std::uint64_t mostKept = std::uint64_t(1) << 30)
      : most_(most), mostKept_(mostKept) {}

  /// Learns the launches that candidates of a search are run on. Does its work once, as learnAll()
  /// does: later calls do nothing.
  Status learn(CheckContext &context);
  /// Learns the others, too, and notes in `trial` which kinds of launches there are none of.
  Status learnAll(CheckContext &context, Trial &trial);

  bool isAllLearned() const { return learnedAll_; }
  const std::deque<Replay> &replays() const { return replays_; }
  /// One more that candidates are judged on. What is known of the others stays where it is.
  void add(Replay replay) { replays_.push_back(std::move(replay)); }
  const std::vector<NotDerived> &missing() const { return missing_; }
  /// So many of these, the first, candidates of a search are run on; the others are for winners.
  std::size_t inSearch() const { return inSearch_; }
  /// What the original leaves on a replay: as it was learned, or of another run where it was not
  /// kept. Fails with BaselineFailed where it does not run through again.
  Result<Expected> expectedOf(CheckContext &context, const Replay &replay) const;
  /// How far the original itself is from its result in double precision, at worst, for each buffer;
  /// 0 where that is not known.
  using OwnErrors = std::function<Result<std::vector<double>>(
      CheckContext &context, const Launch &launch, const Expected &expected)>;
  void setOwnErrors(OwnErrors ownErrors) { ownErrors_ = std::move(ownErrors); }
  /// The slack, at least as wide as the original is wrong: two results that are both within so much
  /// of the exact one may be twice as far apart. Nothing where that makes it no wider.
  Result<std::optional<std::vector<Slack>>> widened(CheckContext &context, const Launch &launch,
                                                    const Expected &expected,
                                                    std::vector<Slack> slack) const;
  /// A small launch on ordinary contents; null where there is none.
  const Launch *small() const;
  /// Small launches, the best first, the last a part of a captured launch's grid: for what looks at
  /// how a launch runs and not at what it leaves.
  std::vector<const DerivedLaunch *> smallOnes() const;

  /// Runs the original on the launch. The text is why it is no test. `slot` names the files, which
  /// hold until the next of that name.
  Result<tl::expected<Replay, std::string>> prepare(CheckContext &context, DerivedLaunch derived,
                                                    std::uint64_t seed,
                                                    const std::string &slot) const;

private:
  Status learnLaunches(CheckContext &context, std::size_t most, double seconds);
  void noteMissing(Trial &trial) const;

  bool learned_ = false, learnedAll_ = false, isOfCaptured_ = false;
  const std::size_t most_;
  const std::uint64_t mostKept_;
  std::uint64_t keptBytes_ = 0;
  std::size_t inSearch_ = std::numeric_limits<std::size_t>::max();
  bool finite_ = true;                ///< the declared launches give finite numbers alone
  std::deque<DerivedLaunch> pending_; ///< not learned yet
  std::size_t taken_ = 0;             ///< of those learned, parts of a grid not counted
  std::set<Derivation> kinds_;        ///< of those learned
  std::deque<Replay> replays_;
  OwnErrors ownErrors_; ///< null: nobody knows
  std::vector<NotDerived> missing_;
};

/// What launches of the subject are derived from.
inline DerivationSource sourceOf(const Subject &subject) {
  return {subject.kernel, subject.specialization,
          subject.declaration ? &*subject.declaration : nullptr};
}

/// The candidate's own launch of a derived problem. Fails with Usage where a requirement of the
/// user's does not hold there with the candidate's constants, and as applyToLaunch().
Result<Launch> applyToDerived(const CheckContext &context, const Candidate &candidate,
                              const Launch &launch);

/// Where the user's requirements hold for a derived problem that the original stands, and a GPU
/// refuses the candidate's launch of it: how, of the check `name`.
std::optional<Failure> failureToLaunch(const CheckContext &context, const Candidate &candidate,
                                       const Launch &launch, const std::string &name);

/// Why a launch that has more elements than the workload's heaviest takes too long to be run for
/// each candidate; empty: it does not. Where the growth of its work is not told by that of its
/// elements the original's own instructions decide, on the emulated device.
Result<std::string> whyTooMuch(CheckContext &context, const Launch &launch);

std::unique_ptr<Check> makeReplayCheck(Derivation kind, std::shared_ptr<DerivedReplays> replays);

} // namespace kopt
