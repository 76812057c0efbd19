// SPDX-License-Identifier: Apache-2.0
#include "driver/model/CheckList.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

const std::vector<CheckInfo> &allChecks() {
  static const std::vector<CheckInfo> checks = {
      {"screen", "the candidate's source changes nothing that it may not change"},
      {"externals", "the machine code calls nothing that the original's does not: the device heap, "
                    "launches from the device"},
      {"inputs", "read-only buffers are unchanged after every launch"},
      {"guards", "nothing is written outside a buffer, in every launch"},
      {"unwritten", "every element that the original writes is written, in every launch"},
      {"races", "no two threads access a word without synchronization (emulated device)"},
      {"outputs", "every element equals the original's, on the declared launches with two poisons"},
      {"fresh", "the same on inputs drawn after the candidate was frozen"},
      {"scalars", "the same with other values of the scalar arguments"},
      {"sizes", "the same for other problem sizes"},
      {"contents", "the same for other magnitudes, orders, collisions and special values"},
      {"alignment", "the same with buffers at other addresses"},
      {"repeat", "the same again and again, in fresh modules, at fresh addresses, on fresh poison"},
      {"schedule", "the same with blocks, warps and lanes in any order (emulated device)"},
      {"reference", "errors no larger than the original's own, against a double-precision clone"},
      {"coverage", "these launches took every way through the candidate's code"},
      {"emulated", "the emulated device finds nothing on a small launch: no races, in any order of "
                   "threads (GPU)"},
      {"sanitizer", "compute-sanitizer reports nothing (GPU)"},
      {"timed", "the outputs of timed launches are right, too"},
      {"roofline", "no launch is faster than writing its outputs can be"},
      {"mutants", "the workload notices wrong versions of the original"},
      {"obligations", "what the screen flagged was cleared by a check that can show it harmless"},
  };
  return checks;
}

std::string purposeOf(const std::string &check) {
  for (const CheckInfo &info : allChecks())
    if (check == info.name)
      return info.purpose;
  return {};
}

Result<CheckSwitches> CheckSwitches::without(const std::vector<std::string> &names) {
  CheckSwitches switches;
  std::vector<std::string> known;
  for (const CheckInfo &check : allChecks())
    known.emplace_back(check.name);
  for (const std::string &name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string guess = didYouMean(name, known);
      return makeError(ErrorCode::Usage, fmt::format("there is no check '{}'", name),
                       fmt::format("{}{}the checks are: {}", guess, guess.empty() ? "" : " ",
                                   join(known, ", ")));
    }
    switches.off_.insert(name);
  }
  return switches;
}

std::string CheckSwitches::list() const {
  return join(std::vector<std::string>(off_.begin(), off_.end()), ", ");
}

std::vector<std::string> CheckSwitches::runnerChecks() const {
  std::vector<std::string> names;
  for (const char *name : {"guards", "inputs"})
    if (!on(name))
      names.emplace_back(name);
  return names;
}

} // namespace kopt
