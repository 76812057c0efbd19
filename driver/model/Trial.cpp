// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Trial.h"

#include <algorithm>

namespace kopt {

void addGap(Assurance &assurance, AssuranceGap gap) {
  if (std::find(assurance.gaps.begin(), assurance.gaps.end(), gap) == assurance.gaps.end())
    assurance.gaps.push_back(std::move(gap));
  assurance.level = AssuranceLevel::Partial;
}

Assurance assuranceOf(const std::vector<CheckRecord> &checks,
                      const std::vector<AssuranceGap> &others) {
  Assurance assurance;
  assurance.level = AssuranceLevel::Full;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const CheckRecord &record = checks[i];
    // A check may have two records, because a gain that is hard to believe is verified again with
    // every check.
    const bool isMadeUp = std::any_of(
        checks.begin() + std::ptrdiff_t(i), checks.end(), [&](const CheckRecord &later) {
          return later.check == record.check && later.state == CheckState::Passed;
        });
    if (record.state == CheckState::Failed || (record.state == CheckState::NotRun && !isMadeUp))
      addGap(assurance, {record.check, record.detail});
  }
  if (checks.empty())
    addGap(assurance, {CheckId::None, "no check ran"});
  for (const AssuranceGap &gap : others)
    addGap(assurance, gap);
  return assurance;
}

std::vector<std::string> inLines(const Assurance &assurance, std::size_t width) {
  std::vector<std::string> lines;
  for (const AssuranceGap &gap : assurance.gaps) {
    std::string line =
        gap.check == CheckId::None ? gap.what : std::string(toString(gap.check)) + ": " + gap.what;
    std::replace_if(line.begin(), line.end(), [](unsigned char c) { return c < 0x20; }, ' ');
    if (line.size() > width) {
      constexpr std::string_view kEllipsis = "…";
      std::size_t end = width - kEllipsis.size();
      if (const std::size_t space = line.rfind(' ', end);
          space != std::string::npos && space > width / 2)
        end = space;
      while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80)
        --end; // inside a UTF-8 character
      line.replace(end, std::string::npos, kEllipsis);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

bool Trial::passed(CheckId check) const {
  return std::any_of(checks.begin(), checks.end(), [&](const CheckRecord &record) {
    return record.check == check && record.state == CheckState::Passed;
  });
}

} // namespace kopt
