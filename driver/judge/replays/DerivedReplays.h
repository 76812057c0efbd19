// SPDX-License-Identifier: Apache-2.0
// Launches derived from the workload's launches, with the original's results on each. Four checks
// replay them, one for each kind, so that each kind can be switched off separately.
#pragma once

#include "driver/judge/context/Check.h"
#include "driver/judge/replays/LaunchTries.h"
#include "driver/judge/replays/Weighing.h"

#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kopt {

/// The derived launches that the original runs on. It runs on each when the workload is learned; a
/// launch that is not a test (makeReplay()) is left out with the reason. Launches derived from
/// captured ones have the same size, or a smaller one (isLight()). On a GPU only as many are taken
/// as a candidate can run in a few seconds, the most telling of each kind first, and the original's
/// results on large ones are not kept.
class DerivedReplays {
public:
  /// `most`: how many launches are derived from a captured one. `policy` decides what a failure on
  /// a launch is worth that the program does not make. `mostKept`: bytes of their results that are
  /// kept on a GPU.
  explicit DerivedReplays(std::size_t most = std::numeric_limits<std::size_t>::max(),
                          AssurancePolicy policy = AssurancePolicy::Standard,
                          std::uint64_t mostKept = std::uint64_t(1) << 30)
      : most_(most), mostKept_(mostKept), weighing_(policy, replays_) {}
  DerivedReplays(const DerivedReplays &) = delete;
  DerivedReplays &operator=(const DerivedReplays &) = delete;

  /// Learns the launches that candidates of a search run on. Later calls do nothing; the same holds
  /// for learnAll().
  Status learn(CheckContext &context);
  /// Learns the other launches, too, in about `seconds` of a GPU, and adds findings to `trial`
  /// about kinds that have no launch.
  Status learnAll(CheckContext &context, Trial &trial, double seconds = GpuSeconds::kLearn);
  /// Learns more launches on which the requirements hold: a candidate that has them runs its own
  /// body on those alone. Later calls with the same ones do nothing.
  Status learnWhere(CheckContext &context, const std::vector<std::string> &requirements);
  bool isAllLearned() const { return learned_ >= Depth::Win; }

  const std::deque<Replay> &replays() const { return replays_; }
  /// Launches that could not be made, or that are no tests.
  const std::vector<NotDerived> &missing() const { return missing_; }
  /// Candidates of a search run on the first inSearch() of replays(); the others are for winners.
  std::size_t inSearch() const { return inSearch_; }
  /// The replay with the original's results: those that were kept, or those of another run. Fails
  /// with BaselineFailed if the original does not finish that run.
  Result<std::shared_ptr<const Replay>> withResults(CheckContext &context,
                                                    const Replay &replay) const;

  /// Makes a replay (makeReplay()) of a launch derived from base().
  Result<tl::expected<Replay, NotATest>> prepare(CheckContext &context, DerivedLaunch derived,
                                                 std::uint64_t seed, const std::string &slot) const;
  /// Adds a launch that candidates are judged on. References to the other replays stay valid.
  void add(Replay replay) { replays_.push_back(std::move(replay)); }
  /// Adds a launch in the same way if the original runs on it; otherwise returns why not.
  Result<std::optional<NotATest>> take(CheckContext &context, DerivedLaunch launch);

  /// True if launches are derived from a smaller problem than the workload's heaviest launch, all
  /// but the first of each kind, because a run of that one takes longer than GpuSeconds::kLightRun.
  bool isLight() const { return light_.has_value(); }
  /// The launch that others are derived from: the heaviest one, or the smaller problem.
  const Launch &base(const CheckContext &context) const;
  /// Wall time of a run of the original on base(); 0 if it is unknown.
  double baseSeconds(const CheckContext &context) const;

  /// The most threads of a captured launch that the emulated device may run in little time.
  static constexpr std::uint64_t kSmallThreads = 32768;
  /// A small launch on ordinary contents; null if there is none.
  const Launch *small() const;
  /// Small launches, the most suitable first, parts of a captured launch's grid last. For checks
  /// that look at how a launch runs, not at its results.
  std::vector<const DerivedLaunch *> smallOnes() const;

  Weighing &weighing() { return weighing_; }
  const Weighing &weighing() const { return weighing_; }

private:
  Status findLightBase(CheckContext &context, const std::vector<DerivedLaunch> &ofHeaviest);
  DerivedLaunches derive(const CheckContext &context, const Launch &from, std::uint64_t most,
                         const std::vector<std::string> &requirements) const;
  std::vector<DerivedLaunch> inOrder(const CheckContext &context,
                                     std::vector<DerivedLaunch> launches) const;
  std::size_t mostReplays(const CheckContext &context, double seconds, std::size_t fewest) const;
  Status run(CheckContext &context, LaunchTries &tries, const LaunchTries::Limits &limits,
             std::vector<NotDerived> &missing);

  const std::size_t most_;
  const std::uint64_t mostKept_;
  Depth learned_ = Depth::Look;
  bool isOfCaptured_ = false, isCostly_ = false;
  bool finite_ = true; ///< the declared launches give only finite numbers
  std::uint64_t keptBytes_ = 0;
  std::size_t inSearch_ = std::numeric_limits<std::size_t>::max();
  std::deque<Replay> replays_;
  std::optional<std::size_t> light_; ///< index of base() in replays_; nothing: the heaviest launch
  std::optional<ProgramLaunches> program_; ///< once launches are learned
  LaunchTries tries_;
  std::vector<NotDerived> missing_;
  std::set<std::vector<std::string>> requirements_; ///< of learnWhere()
  Weighing weighing_;
};

/// The input from which launches of the subject are derived.
inline DerivationSource sourceOf(const Subject &subject) {
  return {subject.kernel, subject.specialization,
          subject.declaration ? &*subject.declaration : nullptr, subject.readAcross};
}

} // namespace kopt
