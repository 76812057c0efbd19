// SPDX-License-Identifier: Apache-2.0
// The checks that stand between a candidate and a win, by name. Each can be left out to see what
// else would notice; what is judged without one of them is no verdict.
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

/// In the order in which they have their say. A check is a check of every launch (guards, inputs,
/// unwritten, races), a set of launches (outputs to schedule), or a condition on a win (timed to
/// demands).
const std::vector<CheckInfo> &allChecks();

/// One line on a check; empty where there is none of that name.
std::string purposeOf(const std::string &check);

/// Which checks are left out.
class CheckSwitches {
public:
  CheckSwitches() = default;
  /// Fails with Usage, naming the checks there are, where one of them is unknown.
  static Result<CheckSwitches> without(const std::vector<std::string> &names);

  bool on(const std::string &check) const { return !off_.contains(check); }
  bool all() const { return off_.empty(); }
  std::string list() const; ///< of those left out: "sizes, guards"
  /// Those that the runner has to leave out by itself.
  std::vector<std::string> runnerChecks() const;

private:
  std::set<std::string> off_;
};

} // namespace kopt
