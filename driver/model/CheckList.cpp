// SPDX-License-Identifier: Apache-2.0
#include "driver/model/CheckList.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

const std::vector<CheckInfo> &allChecks() {
  static const std::vector<CheckInfo> checks = {
      {CheckId::Screen, "the candidate's source changes nothing that it may not change"},
      {CheckId::Externals,
       "the machine code calls nothing that the original's does not: the device heap, "
       "launches from the device"},
      {CheckId::Inputs, "read-only buffers are unchanged after every launch"},
      {CheckId::Guards, "nothing is written outside a buffer, in every launch"},
      {CheckId::Unwritten, "every element that the original writes is written, in every launch"},
      {CheckId::Races, "no two threads access a word without synchronization (emulated device)"},
      {CheckId::Outputs,
       "every element equals the original's, on the declared launches with two poisons"},
      {CheckId::Fresh, "the same on inputs drawn after the candidate was frozen"},
      {CheckId::Scalars, "the same with other values of the scalar arguments"},
      {CheckId::Sizes, "the same for other problem sizes"},
      {CheckId::Contents, "the same for other magnitudes, orders, collisions and special values"},
      {CheckId::Alignment, "the same with buffers at other addresses"},
      {CheckId::Repeat,
       "the same again and again, in fresh modules, at fresh addresses, on fresh poison"},
      {CheckId::Schedule, "the same with blocks, warps and lanes in any order (emulated device)"},
      {CheckId::Reference,
       "errors no larger than the original's own, against a double-precision clone"},
      {CheckId::Coverage, "these launches took every way through the candidate's code"},
      {CheckId::Emulated,
       "the emulated device finds nothing on a small launch: no races, in any order of "
       "threads (GPU)"},
      {CheckId::Sanitizer, "compute-sanitizer reports nothing (GPU)"},
      {CheckId::Timed, "the outputs of timed launches are right, too"},
      {CheckId::Roofline, "no launch is faster than writing its outputs can be"},
      {CheckId::Mutants, "the workload notices wrong versions of the original"},
      {CheckId::Obligations,
       "what the screen flagged was cleared by a check that can show it harmless"},
  };
  return checks;
}

std::string purposeOf(CheckId check) {
  const auto found = std::ranges::find(allChecks(), check, &CheckInfo::id);
  return found == allChecks().end() ? std::string() : found->purpose;
}

std::vector<std::string> namesOf(const std::vector<CheckId> &checks) {
  std::vector<std::string> names;
  for (const CheckId check : checks)
    names.emplace_back(toString(check));
  return names;
}

Result<CheckSwitches> CheckSwitches::without(const std::vector<std::string> &names) {
  CheckSwitches switches;
  for (const std::string &name : names) {
    const auto check = parseEnum<CheckId>(name);
    if (!check || check == CheckId::None) {
      std::vector<std::string> known;
      for (const CheckInfo &info : allChecks())
        known.emplace_back(toString(info.id));
      const std::string guess = didYouMean(name, known);
      return makeError(ErrorCode::Usage, fmt::format("there is no check '{}'", name),
                       fmt::format("{}{}the checks are: {}", guess, guess.empty() ? "" : " ",
                                   join(known, ", ")));
    }
    switches.off_.insert(*check);
  }
  return switches;
}

std::string CheckSwitches::list() const { return join(namesOf({off_.begin(), off_.end()}), ", "); }

std::vector<std::string> CheckSwitches::runnerChecks() const {
  std::vector<std::string> names;
  for (const CheckId check : {CheckId::Guards, CheckId::Inputs})
    if (!on(check))
      names.emplace_back(toString(check));
  return names;
}

} // namespace kopt
