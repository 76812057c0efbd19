// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Trial.h"

#include <algorithm>

namespace kopt {

const char *toString(Verdict verdict) {
  switch (verdict) {
  case Verdict::Faster:
    return "Faster";
  case Verdict::Same:
    return "Same";
  case Verdict::Slower:
    return "Slower";
  case Verdict::Ambiguous:
    return "Ambiguous";
  case Verdict::Rejected:
    return "Rejected";
  case Verdict::BuildFailed:
    return "BuildFailed";
  case Verdict::WrongResult:
    return "WrongResult";
  case Verdict::RunFailed:
    return "RunFailed";
  case Verdict::TimedOut:
    return "TimedOut";
  case Verdict::Duplicate:
    return "Duplicate";
  case Verdict::Suspect:
    return "Suspect";
  }
  return "Unknown";
}

const char *toString(Stage stage) {
  switch (stage) {
  case Stage::Screen:
    return "screen";
  case Stage::Build:
    return "build";
  case Stage::Verify:
    return "verify";
  case Stage::Time:
    return "time";
  case Stage::Profile:
    return "profile";
  }
  return "unknown";
}

const char *toString(CheckState state) {
  switch (state) {
  case CheckState::Passed:
    return "passed";
  case CheckState::Failed:
    return "failed";
  case CheckState::NotRun:
    return "not run";
  }
  return "unknown";
}

bool Trial::passed(const std::string &check) const {
  return std::any_of(checks.begin(), checks.end(), [&](const CheckRecord &record) {
    return record.check == check && record.state == CheckState::Passed;
  });
}

} // namespace kopt
