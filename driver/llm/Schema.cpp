// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/Schema.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

using nlohmann::json;

bool isOfType(const json &value, const std::string &type) {
  if (type == "integer")
    return value.is_number_integer() ||
           (value.is_number_float() && double(std::int64_t(value.get<double>())) == value);
  return type == (value.is_number() ? "number" : value.type_name());
}

class SchemaCheck {
public:
  explicit SchemaCheck(std::vector<std::string> &breaches) : breaches_(breaches) {}

  void check(const json &value, const json &schema, const json::json_pointer &at) {
    const auto breach = [&](const std::string &what) {
      breaches_.push_back(fmt::format("{}: {}", at.empty() ? "/" : at.to_string(), what));
    };
    if (const auto type = schema.find("type"); type != schema.end()) {
      const std::vector<std::string> types = type->is_array()
                                                 ? type->get<std::vector<std::string>>()
                                                 : std::vector{type->get<std::string>()};
      if (std::ranges::none_of(types, [&](const auto &one) { return isOfType(value, one); }))
        return breach(fmt::format("{} is expected, not {}", fmt::join(types, " or "),
                                  value.is_number() ? "number" : value.type_name()));
    }
    if (const auto allowed = schema.find("enum"); allowed != schema.end())
      if (std::ranges::find(*allowed, value) == allowed->end())
        breach(fmt::format("one of {} is expected", allowed->dump()));
    if (value.is_number()) {
      if (const auto least = schema.find("minimum"); least != schema.end() && value < *least)
        breach(fmt::format("at least {} is expected", least->dump()));
      if (const auto most = schema.find("maximum"); most != schema.end() && value > *most)
        breach(fmt::format("at most {} is expected", most->dump()));
    }
    if (value.is_string() && schema.contains("maxLength") &&
        value.get_ref<const std::string &>().size() > schema["maxLength"].get<std::size_t>())
      breach(fmt::format("at most {} bytes are expected", schema["maxLength"].dump()));
    if (value.is_object())
      checkMembers(value, schema, at, breach);
    if (value.is_array())
      checkElements(value, schema, at, breach);
  }

private:
  template <class Breach>
  void checkMembers(const json &value, const json &schema, const json::json_pointer &at,
                    const Breach &breach) {
    const json properties = schema.value("properties", json::object());
    for (const json &name : schema.value("required", json::array()))
      if (!value.contains(name.get_ref<const std::string &>()))
        breach(fmt::format("\"{}\" is missing", name.get_ref<const std::string &>()));
    for (const auto &[name, member] : value.items())
      if (const auto known = properties.find(name); known != properties.end())
        check(member, *known, at / name);
      else if (schema.value("additionalProperties", json(true)) == false)
        breach(fmt::format("there is no \"{}\"", name));
  }

  template <class Breach>
  void checkElements(const json &value, const json &schema, const json::json_pointer &at,
                     const Breach &breach) {
    if (value.size() < schema.value("minItems", std::size_t(0)))
      breach(fmt::format("at least {} elements are expected", schema["minItems"].dump()));
    if (value.size() > schema.value("maxItems", value.size()))
      breach(fmt::format("at most {} elements are expected", schema["maxItems"].dump()));
    if (const auto items = schema.find("items"); items != schema.end())
      for (std::size_t i = 0; i < value.size(); ++i)
        check(value[i], *items, at / i);
  }

  std::vector<std::string> &breaches_;
};

} // namespace

std::vector<std::string> schemaBreaches(const json &value, const json &schema) {
  std::vector<std::string> breaches;
  SchemaCheck(breaches).check(value, schema, json::json_pointer());
  return breaches;
}

} // namespace kopt
