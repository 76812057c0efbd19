// SPDX-License-Identifier: Apache-2.0
// The names of the checks that stand between a candidate and a win. Each can be left out to see
// which other check would notice a fault; a result without one of them is not a verdict.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "driver/support/Result.h"

#include <array>
#include <iterator>
#include <set>
#include <span>
#include <string>
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

struct CheckInfo {
  CheckId id;
  const char *name, *purpose; ///< one line
};
inline constexpr CheckInfo kChecks[] = {
    {CheckId::None, "", ""},
    {CheckId::Screen, "screen", "the candidate's source changes nothing that it may not change"},
    {CheckId::Externals, "externals",
     "the machine code calls nothing that the original's does not: the device heap, launches from "
     "the device"},
    {CheckId::Inputs, "inputs", "read-only buffers are unchanged after every launch"},
    {CheckId::Guards, "guards", "nothing is written outside a buffer, in every launch"},
    {CheckId::Unwritten, "unwritten",
     "every element that the original writes is written, in every launch"},
    {CheckId::Races, "races",
     "no two threads access a word without synchronization (emulated device)"},
    {CheckId::Outputs, "outputs",
     "every element equals the original's, on the declared launches with two poisons"},
    {CheckId::Fresh, "fresh", "the same on inputs drawn after the candidate was frozen"},
    {CheckId::Scalars, "scalars", "the same with other values of the scalar arguments"},
    {CheckId::Sizes, "sizes", "the same for other problem sizes"},
    {CheckId::Contents, "contents",
     "the same for other magnitudes, orders, collisions and special values"},
    {CheckId::Alignment, "alignment", "the same with buffers at other addresses"},
    {CheckId::Repeat, "repeat",
     "the same again and again, in fresh modules, at fresh addresses, on fresh poison"},
    {CheckId::Schedule, "schedule",
     "the same with blocks, warps and lanes in any order (emulated device)"},
    {CheckId::Reference, "reference",
     "errors no larger than the original's own, against a double-precision clone"},
    {CheckId::Coverage, "coverage", "these launches took every way through the candidate's code"},
    {CheckId::Emulated, "emulated",
     "the emulated device finds nothing on a small launch: no races, in any order of threads "
     "(GPU)"},
    {CheckId::Sanitizer, "sanitizer", "compute-sanitizer reports nothing (GPU)"},
    {CheckId::Timed, "timed", "the outputs of timed launches are right, too"},
    {CheckId::Roofline, "roofline", "no launch is faster than writing its outputs can be"},
    {CheckId::Mutants, "mutants", "the workload notices wrong versions of the original"},
    {CheckId::Obligations, "obligations",
     "what the screen flagged was cleared by a check that can show it harmless"},
};
constexpr auto spellings(CheckId) {
  std::array<std::string_view, std::size(kChecks)> names;
  for (const CheckInfo &check : kChecks)
    names[std::size_t(check.id)] = check.name;
  return names;
}

/// All but CheckId::None.
inline constexpr auto kAllChecks = std::span(kChecks).subspan<1>();

std::vector<std::string> namesOf(const std::vector<CheckId> &checks);

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
