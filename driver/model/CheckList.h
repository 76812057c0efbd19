// SPDX-License-Identifier: Apache-2.0
// The names of the checks that stand between a candidate and a win. Each can be left out to see
// which other check would notice a fault; a result without one of them is not a verdict.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "driver/support/Result.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kopt {

/// All checks, in the order in which they run. A check applies to every launch (inputs, guards,
/// unwritten, races), is a set of launches (outputs to schedule), or is a condition on a win (timed
/// to obligations). They are stored by name.
enum class CheckId {
  None, ///< no check: its name is empty
  Screen,
  Externals,
  Inputs,
  Guards,
  Unwritten,
  Races,
  Outputs,
  Fresh,
  Scalars,
  Sizes,
  Contents,
  Alignment,
  Repeat,
  Schedule,
  Reference,
  Coverage,
  Emulated,
  Sanitizer,
  Timed,
  Roofline,
  Mutants,
  Obligations,
};
constexpr auto spellings(CheckId) {
  return std::to_array<std::string_view>(
      {"",          "screen",  "externals", "inputs",    "guards",     "unwritten",
       "races",     "outputs", "fresh",     "scalars",   "sizes",      "contents",
       "alignment", "repeat",  "schedule",  "reference", "coverage",   "emulated",
       "sanitizer", "timed",   "roofline",  "mutants",   "obligations"});
}

struct CheckInfo {
  CheckId id;
  const char *purpose; ///< one line
};

const std::vector<CheckInfo> &allChecks();

std::vector<std::string> namesOf(const std::vector<CheckId> &checks);

/// The purpose of a check in one line; empty for CheckId::None.
std::string purposeOf(CheckId check);

/// The set of checks that are left out.
class CheckSwitches {
public:
  CheckSwitches() = default;
  explicit CheckSwitches(std::set<CheckId> off) : off_(std::move(off)) {}
  /// Fails with Usage if a name is unknown; the error lists the known checks.
  static Result<CheckSwitches> without(const std::vector<std::string> &names);

  bool on(CheckId check) const { return !off_.contains(check); }
  bool all() const { return off_.empty(); }
  std::string list() const; ///< the checks left out: "sizes, guards"
  /// The checks left out that the runner itself has to skip.
  std::vector<std::string> runnerChecks() const;

private:
  std::set<CheckId> off_;
};

} // namespace kopt
