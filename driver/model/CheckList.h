// SPDX-License-Identifier: Apache-2.0
// The names of the checks that stand between a candidate and a win. Each can be left out to see
// which other check would notice a fault; a result without one of them is not a verdict.
#pragma once

#include "driver/support/Result.h"

#include <set>
#include <string>
#include <vector>

namespace kopt {

struct CheckInfo {
  const char *name;
  const char *purpose; ///< one line
};

/// All checks, in the order in which they run. A check applies to every launch (guards, inputs,
/// unwritten, races), is a set of launches (outputs to schedule), or is a condition on a win (timed
/// to obligations).
const std::vector<CheckInfo> &allChecks();

/// The purpose of a check in one line; empty if no check has that name.
std::string purposeOf(const std::string &check);

/// The set of checks that are left out.
class CheckSwitches {
public:
  CheckSwitches() = default;
  /// Fails with Usage if a name is unknown; the error lists the known checks.
  static Result<CheckSwitches> without(const std::vector<std::string> &names);

  bool on(const std::string &check) const { return !off_.contains(check); }
  bool all() const { return off_.empty(); }
  std::string list() const; ///< the checks left out: "sizes, guards"
  /// The checks left out that the runner itself has to skip.
  std::vector<std::string> runnerChecks() const;

private:
  std::set<std::string> off_;
};

} // namespace kopt
