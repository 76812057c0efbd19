// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Trial.h"

#include <algorithm>

namespace kopt {

Assurance assuranceOf(const std::vector<CheckRecord> &checks) {
  Assurance assurance;
  for (const CheckRecord &record : checks)
    if (record.state != CheckState::Passed)
      assurance.gaps.push_back({record.check, record.detail});
  if (checks.empty())
    assurance.gaps.push_back({"", "no check ran"});
  if (assurance.gaps.empty())
    assurance.level = AssuranceLevel::Full;
  return assurance;
}

bool Trial::passed(const std::string &check) const {
  return std::any_of(checks.begin(), checks.end(), [&](const CheckRecord &record) {
    return record.check == check && record.state == CheckState::Passed;
  });
}

} // namespace kopt
