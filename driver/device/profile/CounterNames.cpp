// SPDX-License-Identifier: Apache-2.0
#include "driver/device/profile/CounterNames.h"

#include "knowledge/CounterFiles.h"

#include <nlohmann/json.hpp>

namespace kopt {

/// A list of knowledge/counters.json.
static std::vector<std::string> listed(const char *key) {
  return nlohmann::json::parse(knowledge::counters::kFiles.front().second).at(key);
}

const std::vector<std::string> &hardwareCounters() {
  static const std::vector<std::string> names = listed("hardware");
  return names;
}

const std::vector<std::string> &launchCounters() {
  static const std::vector<std::string> names = listed("launch");
  return names;
}

} // namespace kopt
