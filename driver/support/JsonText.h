// SPDX-License-Identifier: Apache-2.0
// JSON and text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kopt {

/// The JSON as text; bytes that are not UTF-8 are replaced.
inline std::string dumpJson(const nlohmann::json &value, int indent = -1) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The text under the key; empty if there is none, or no object.
inline std::string textIn(const nlohmann::json &object, const char *key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

} // namespace kopt
