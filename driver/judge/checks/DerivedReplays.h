// SPDX-License-Identifier: Apache-2.0
// Launches derived from the declared ones, with what the original does on each. Four checks replay
// them, one for each kind, so that each kind can be switched off alone.
#pragma once

#include "driver/judge/checks/Check.h"
#include "driver/workload/derived/DerivedLaunches.h"

namespace kopt {

/// The derived launches that the original stands. It is run on each when the workload is learned:
/// one that it does not run through, does not repeat, or answers with infinities or NaNs of finite
/// inputs is no test, and is left out with the reason. What its own result moves by when its inputs
/// move in their last place is allowed to a candidate four times.
class DerivedReplays {
public:
  struct Replay {
    DerivedLaunch derived;
    Expected expected;
    std::vector<Slack> slack; ///< for each buffer
  };

  /// Does its work once; later calls do nothing.
  Status learn(CheckContext &bench, Trial &baseline);

  const std::vector<Replay> &replays() const { return replays_; }
  const std::vector<NotDerived> &missing() const { return missing_; }
  /// A small launch on ordinary contents; null where there is none.
  const Launch *small() const;

  /// Runs the original on the launch. The text is why it is no test. `slot` names the files, which
  /// hold until the next of that name.
  Result<tl::expected<Replay, std::string>> prepare(CheckContext &bench, DerivedLaunch derived,
                                                    std::uint64_t seed,
                                                    const std::string &slot) const;

private:
  bool learned_ = false;
  bool finite_ = true; ///< the declared launches give finite numbers alone
  std::vector<Replay> replays_;
  std::vector<NotDerived> missing_;
};

std::unique_ptr<Check> makeReplayCheck(Derivation kind, std::shared_ptr<DerivedReplays> replays);

} // namespace kopt
