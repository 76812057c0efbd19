// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/Wire.h"

#include "driver/support/JsonText.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace kopt {

using nlohmann::json;

std::optional<json> parseWire(std::string_view text) {
  constexpr int kMostNested = 64;
  bool isDeep = false;
  json parsed = json::parse(
      text.begin(), text.end(),
      [&](int depth, json::parse_event_t, json &) { return !(isDeep |= depth > kMostNested); },
      /*allow_exceptions=*/false);
  if (parsed.is_discarded() || isDeep)
    return std::nullopt;
  return parsed;
}

const json &memberIn(const json &object, const char *key) {
  static const json kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

std::size_t indexIn(const json &event, std::size_t none) {
  const json &index = memberIn(event, "index");
  return index.is_number_unsigned() ? index.get<std::size_t>() : none;
}

void appendTo(json &text, const std::string &piece) {
  if (piece.empty())
    return;
  if (!text.is_string())
    text = "";
  text.get_ref<std::string &>() += piece;
}

long tokenCount(const json &usage, const char *key) {
  const json &count = memberIn(usage, key);
  return count.is_number_unsigned()
             ? long(std::min<std::uint64_t>(count.get<std::uint64_t>(), 1'000'000'000'000))
             : 0;
}

std::string inputText(const json &arguments) {
  if (arguments.is_null() || arguments == "")
    return "{}"; // of a tool that takes none
  return arguments.is_string() ? arguments.get<std::string>() : dumpJson(arguments);
}

json argumentsOf(const ToolUse &use) {
  const auto arguments = parseWire(use.input);
  return arguments && arguments->is_object() ? *arguments : json::object();
}

std::string wireName(const std::string &name) {
  std::string known = name.substr(0, 64);
  std::replace_if(
      known.begin(), known.end(),
      [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '-'; }, '_');
  return known.empty() ? "_" : known;
}

void identify(std::vector<ToolUse> &uses, const ChatRequest &request) {
  std::set<std::string> taken;
  for (const ChatMessage &message : request.messages)
    for (const ToolUse &use : message.uses)
      taken.insert(use.id);
  std::size_t number = taken.size();
  for (ToolUse &use : uses) {
    while (use.id.empty() || taken.contains(use.id))
      use.id = "use-" + std::to_string(++number);
    taken.insert(use.id);
  }
}

} // namespace kopt
