// SPDX-License-Identifier: Apache-2.0
// What a failure on a derived launch is worth: DerivedReplays::weigh().
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/judge/checks/CheckContext.h"

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
      : toolchain_(toolchain), original_(std::move(original)), scratch_(std::move(scratch)) {}

  /// Why the original's result on the launch, of which `expected` is the usual one, means nothing.
  /// Empty if it is the same within `allowed` when built in this way, or if that cannot be told.
  Result<std::string> whyUndefined(CheckContext &context, const Launch &launch,
                                   const Expected &expected, const std::vector<Slack> &allowed);

private:
  Status build(CheckContext &context);
  Result<std::string> differs(CheckContext &context, const Launch &launch, const Expected &expected,
                              const std::vector<Slack> &allowed);

  Toolchain &toolchain_;
  BuildRequest original_;
  const std::filesystem::path scratch_;
  bool isAsked_ = false;
  std::filesystem::path module_; ///< empty: it tells nothing
};

} // namespace kopt
