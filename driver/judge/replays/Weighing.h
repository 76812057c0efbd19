// SPDX-License-Identifier: Apache-2.0
// What a failure on a launch is worth.
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/judge/context/Check.h"
#include "driver/judge/replays/Replay.h"

#include <deque>
#include <functional>
#include <map>

namespace kopt {

/// Runs another build of the original; nothing if its module cannot be loaded.
Result<std::optional<RunOutcome>> runOnce(CheckContext &context,
                                          const std::filesystem::path &module,
                                          const std::string &symbol, const Launch &launch,
                                          const RunOptions &options);

/// The original without optimisation, to see whether it is defined on a derived launch: an array
/// may be too short there, or a variable not set. Built when it is asked for the first time.
class OtherwiseBuilt {
public:
  /// `original`: its build, without text and output; `scratch`: where it is built.
  OtherwiseBuilt(Toolchain &toolchain, BuildRequest original, std::filesystem::path scratch)
      : toolchain_(&toolchain), original_(std::move(original)), scratch_(std::move(scratch)) {}

  /// Why the original's result on the launch, of which `expected` is the usual one, means nothing.
  /// Empty if it is the same within `allowed` when built in this way, or if that cannot be told.
  Result<std::string> whyUndefined(CheckContext &context, const Launch &launch,
                                   const Expected &expected, const std::vector<Slack> &allowed);

private:
  Status build(CheckContext &context);
  Result<std::string> differs(CheckContext &context, const Launch &launch, const Expected &expected,
                              const std::vector<Slack> &allowed);

  Toolchain *toolchain_;
  BuildRequest original_;
  std::filesystem::path scratch_;
  bool isAsked_ = false;
  std::filesystem::path module_; ///< empty: it tells nothing
};

/// What the original showed of a launch when it was asked again.
struct AskedAgain {
  bool isSame = true;         ///< each of its results, to the last bit
  std::vector<double> spread; ///< for each buffer: how far a candidate's results may differ
  std::string why;            ///< why its results there mean nothing; empty if they do
};

/// What a candidate's failure on a launch is worth, as far as the original tells.
class Weighing {
public:
  /// `replays`: the derived launches, of which one in ten may turn out to be undefined.
  Weighing(AssurancePolicy policy, const std::deque<Replay> &replays)
      : policy_(policy), replays_(replays) {}

  AssurancePolicy policy() const { return policy_; }

  /// The largest error of the original itself against its result in double precision, for each
  /// buffer; 0 if unknown.
  using OwnErrors = std::function<Result<std::vector<double>>(
      CheckContext &context, const Launch &launch, const Expected &expected)>;
  void setOwnErrors(OwnErrors ownErrors) { ownErrors_ = std::move(ownErrors); }
  void setOtherwise(OtherwiseBuilt otherwise) { otherwise_ = std::move(otherwise); }

  /// Runs the original again before a candidate is refused: with other memory around its buffers,
  /// and, if it does not repeat each bit, many times in other orders. Results that change further
  /// than numbers do that round differently mean nothing. Remembers the answer.
  Result<const AskedAgain *> askAgain(CheckContext &context, const Launch &launch,
                                      const Expected &expected, const std::vector<Slack> &slack);

  /// The slack, widened to what the original shows when it is asked again, and to at least three
  /// times its own error, as a candidate may be twice as wrong as the original in the other
  /// direction. Nothing if that does not make it wider.
  Result<std::optional<std::vector<Slack>>> widened(CheckContext &context, const Launch &launch,
                                                    const Expected &expected,
                                                    std::vector<Slack> slack);
  /// The same for a launch of the workload, whose contents are ordinary: without an error of the
  /// original that is so large that it can be no rounding. Notes in the trial how far results may
  /// differ because the original's own do.
  Result<std::optional<std::vector<Slack>>>
  widenedForWorkload(CheckContext &context, const Launch &launch, const Expected &expected,
                     const std::vector<Slack> &slack, Trial &trial);

  /// What is left of a candidate's failure on a derived launch: nothing, if the original is not
  /// defined there (undefined() then lists it), or if under the policy `standard` a launch that the
  /// program does not make, or contents far from all that are known, are no reason to refuse it.
  /// The trial's assurance then has a gap that says so. What tells the launch from the program's is
  /// noted in the trial.
  Result<std::optional<Failure>> weigh(CheckContext &context, Examination &seen,
                                       const Replay &replay, Failure failure);

  bool isUndefined(const DerivedLaunch &derived) const {
    return undefined_.contains(derived.launch.name);
  }
  /// Launches on which the original is not defined, by name.
  const std::map<std::string, NotDerived> &undefined() const { return undefined_; }

private:
  const AssurancePolicy policy_;
  const std::deque<Replay> &replays_;
  OwnErrors ownErrors_;                     ///< null: the errors are not known
  std::optional<OtherwiseBuilt> otherwise_; ///< nothing: it is not known
  std::map<std::string, NotDerived> undefined_;
  std::map<std::string, AskedAgain> again_; ///< by launch and inputs
  bool runsSparse_ = true; ///< the original, so far, with fewer blocks at once: they may wait for
                           ///< each other
};

} // namespace kopt
