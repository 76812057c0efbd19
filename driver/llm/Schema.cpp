// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/Schema.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kopt {
namespace {

using nlohmann::json;

bool isOfType(const json &value, const std::string &type) {
  if (type == "integer")
    return value.is_number_integer() ||
           (value.is_number_float() && std::abs(value.get<double>()) < 9e18 &&
            std::trunc(value.get<double>()) == value.get<double>());
  return type == (value.is_number() ? "number" : value.type_name());
}

void checkSchema(const json &value, const json &schema, const json::json_pointer &at,
                 std::vector<SchemaBreach> &breaches) {
  const auto breach = [&](std::string what) {
    breaches.push_back({at.to_string(), std::move(what)});
  };
  /// True where the schema limits `size` by the keyword and it is beyond that.
  const auto isBeyond = [&](const char *keyword, const json &size) {
    const auto limit = schema.find(keyword);
    return limit != schema.end() &&
           (std::string_view(keyword).starts_with("min") ? size < *limit : size > *limit);
  };
  if (const auto type = schema.find("type"); type != schema.end()) {
    const std::vector<std::string> types = type->is_array() ? type->get<std::vector<std::string>>()
                                                            : std::vector{type->get<std::string>()};
    if (std::ranges::none_of(types, [&](const auto &one) { return isOfType(value, one); }))
      return breach(fmt::format("{} is expected, not {}", fmt::join(types, " or "),
                                value.is_number() ? "number" : value.type_name()));
  }
  if (const auto allowed = schema.find("enum"); allowed != schema.end())
    if (std::ranges::find(*allowed, value) == allowed->end())
      breach(fmt::format("one of {} is expected", allowed->dump()));
  if (value.is_number() && isBeyond("minimum", value))
    breach(fmt::format("at least {} is expected", schema["minimum"].dump()));
  if (value.is_number() && isBeyond("maximum", value))
    breach(fmt::format("at most {} is expected", schema["maximum"].dump()));
  if (value.is_string() && isBeyond("maxLength", value.get_ref<const std::string &>().size()))
    breach(fmt::format("at most {} bytes are expected", schema["maxLength"].dump()));
  if (value.is_array() && isBeyond("minItems", value.size()))
    breach(fmt::format("at least {} elements are expected", schema["minItems"].dump()));
  if (value.is_array() && isBeyond("maxItems", value.size()))
    breach(fmt::format("at most {} elements are expected", schema["maxItems"].dump()));
  if (const auto items = schema.find("items"); value.is_array() && items != schema.end())
    for (std::size_t i = 0; i < value.size(); ++i)
      checkSchema(value[i], *items, at / i, breaches);
  if (!value.is_object())
    return;
  const json properties = schema.value("properties", json::object());
  const json others = schema.value("additionalProperties", json(true));
  for (const json &name : schema.value("required", json::array()))
    if (!value.contains(name.get_ref<const std::string &>()))
      breach(fmt::format("\"{}\" is missing", name.get_ref<const std::string &>()));
  for (const auto &[name, member] : value.items())
    if (const auto known = properties.find(name); known != properties.end())
      checkSchema(member, *known, at / name, breaches);
    else if (others.is_object())
      checkSchema(member, others, at / name, breaches);
    else if (others == false)
      breach(fmt::format("there is no \"{}\"", name));
}

} // namespace

std::vector<SchemaBreach> schemaBreaches(const json &value, const json &schema) {
  std::vector<SchemaBreach> breaches;
  checkSchema(value, schema, json::json_pointer(), breaches);
  return breaches;
}

} // namespace kopt
