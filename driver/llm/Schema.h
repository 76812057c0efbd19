// SPDX-License-Identifier: Apache-2.0
// The part of JSON Schema (2020-12) in which kopt tells models what it takes: type, properties,
// required, additionalProperties, items, minItems, maxItems, enum, minimum, maximum, maxLength.
// Other keywords describe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kopt {

struct SchemaBreach {
  std::string pointer; ///< "/candidates/0/title"; empty: the value itself
  std::string what;    ///< "string is expected, not number"

  std::string text() const { return (pointer.empty() ? "/" : pointer) + ": " + what; }
};

/// What breaks the schema, in its order. Empty: nothing.
std::vector<SchemaBreach> schemaBreaches(const nlohmann::json &value, const nlohmann::json &schema);

} // namespace kopt
