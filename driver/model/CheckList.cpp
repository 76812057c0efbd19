// SPDX-License-Identifier: Apache-2.0
#include "driver/model/CheckList.h"

#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt {

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
      for (const CheckInfo &info : kAllChecks)
        known.emplace_back(info.name);
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
