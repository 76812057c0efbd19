// SPDX-License-Identifier: Apache-2.0
// A problem with more than 2^31 elements, for candidates whose indices have too few bits.
#pragma once

#include "driver/judge/checks/Check.h"
#include "driver/workload/derived/DerivedLaunches.h"

#include <optional>
#include <set>
#include <string>

namespace kopt {

/// A part of the check `sizes`. There is not the memory for such a problem, so its buffers are a
/// few megabytes that repeat, and its results mean nothing: a candidate is refused if it leaves its
/// buffers and the original does not. An index that overflows leads in front of them. The emulated
/// device runs only the last blocks.
class WideIndexCheck {
public:
  /// Finds, once, a launch that the original runs on; then runs the candidate on it. Says in
  /// `record` that it has.
  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen, CheckRecord &record);

private:
  Status learn(CheckContext &context);

  bool learned_ = false;
  std::optional<DerivedLaunch> wide_; ///< nothing: the original runs on none
  std::set<std::string> passed_;      ///< hashes of machine code that has run on it
};

} // namespace kopt
