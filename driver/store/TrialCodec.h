// SPDX-License-Identifier: Apache-2.0
// Parts of a trial as JSON: what is read as a whole and never queried. Also the shape of trial.json
// in run folders.
#pragma once

#include "driver/model/Trial.h"

#include <nlohmann/json.hpp>

namespace kopt {

nlohmann::json launchOverrideToJson(const LaunchOverride &launch);
LaunchOverride
launchOverrideFromJson(const nlohmann::json &value); ///< throws nlohmann::json::exception

nlohmann::json gatesToJson(const std::vector<CheckRecord> &checks);
nlohmann::json findingsToJson(const std::vector<Finding> &findings);
std::vector<Finding>
findingsFromJson(const nlohmann::json &value); ///< throws nlohmann::json::exception

nlohmann::json resourcesToJson(const ModuleInfo &resources);
ModuleInfo resourcesFromJson(const nlohmann::json &value); ///< throws nlohmann::json::exception

nlohmann::json speedupToJson(const Speedup &speedup);

/// Text in which bytes that are not UTF-8 are replaced.
std::string dumpJson(const nlohmann::json &value, int indent = -1);

} // namespace kopt
