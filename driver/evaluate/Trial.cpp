// SPDX-License-Identifier: Apache-2.0
#include "driver/evaluate/Trial.h"

#include <algorithm>

namespace kopt {

const char *toString(Verdict verdict) {
  switch (verdict) {
  case Verdict::Faster: return "Faster";
  case Verdict::Same: return "Same";
  case Verdict::Slower: return "Slower";
  case Verdict::Ambiguous: return "Ambiguous";
  case Verdict::Rejected: return "Rejected";
  case Verdict::BuildFailed: return "BuildFailed";
  case Verdict::WrongResult: return "WrongResult";
  case Verdict::RunFailed: return "RunFailed";
  case Verdict::TimedOut: return "TimedOut";
  case Verdict::Duplicate: return "Duplicate";
  case Verdict::Suspect: return "Suspect";
  }
  return "Unknown";
}

const char *toString(Layer layer) {
  switch (layer) {
  case Layer::Screen: return "screen";
  case Layer::Build: return "build";
  case Layer::Verify: return "verify";
  case Layer::Time: return "time";
  case Layer::Profile: return "profile";
  }
  return "unknown";
}

const char *toString(GateState state) {
  switch (state) {
  case GateState::Passed: return "passed";
  case GateState::Failed: return "failed";
  case GateState::NotRun: return "not run";
  }
  return "unknown";
}

bool Trial::passed(const std::string &gate) const {
  return std::any_of(gates.begin(), gates.end(),
                     [&](const GateRecord &record) { return record.gate == gate && record.state == GateState::Passed; });
}

} // namespace kopt
