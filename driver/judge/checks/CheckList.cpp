// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/CheckList.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {

const std::vector<CheckInfo> &allChecks() {
  static const std::vector<CheckInfo> checks = {
      {"screen", "what the candidate's source may not change"},
      {"externals", "what the machine code calls and the original's does not: the device heap, "
                    "launches from the device"},
      {"inputs", "read-only buffers are what they were, after every launch"},
      {"guards", "nothing is written beside a buffer, in every launch"},
      {"unwritten", "every element that the original writes is written, in every launch"},
      {"races", "no two threads meet in a word without a barrier (emulated device)"},
      {"outputs", "every element equals the original's, on the declared launches with two poisons"},
      {"fresh", "the same on inputs drawn after the candidate was frozen"},
      {"scalars", "the same with other values of the scalar arguments"},
      {"sizes", "the same for other problem sizes"},
      {"contents", "the same for other magnitudes, orders, collisions and special values"},
      {"alignment", "the same with buffers at other addresses"},
      {"repeat", "the same again and again, in fresh modules, at fresh addresses, on fresh poison"},
      {"schedule", "the same with blocks, warps and lanes in any order (emulated device)"},
      {"reference", "errors no larger than the original's own, against a double-precision clone"},
      {"coverage",
       "every way that the candidate's code can take was taken by one of these launches"},
      {"emulated", "the emulated device finds nothing on a small launch: no races, in any order of "
                   "threads (GPU)"},
      {"sanitizer", "compute-sanitizer has nothing to say (GPU)"},
      {"timed", "what a timed launch leaves is right, too"},
      {"roofline", "no launch is faster than the memory can be"},
      {"mutants", "the workload tells wrong versions of the original from the original"},
      {"obligations", "what screening flagged was put to the test that shows it harmless"},
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
      return makeError(
          ErrorCode::Usage, fmt::format("there is no check '{}'", name),
          fmt::format("{}{}there are: {}", guess, guess.empty() ? "" : " ", join(known, ", ")));
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
