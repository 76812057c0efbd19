// SPDX-License-Identifier: Apache-2.0
// The part of JSON Schema (2020-12) in which kopt tells models what it takes: type, properties,
// required, additionalProperties (false), items, minItems, maxItems, enum, minimum, maximum,
// maxLength. Other keywords describe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kopt {

/// What breaks the schema, each with its JSON pointer, in the order of the schema:
/// "/candidates/0/title: a string is expected, not a number". Empty: nothing.
std::vector<std::string> schemaBreaches(const nlohmann::json &value, const nlohmann::json &schema);

} // namespace kopt
