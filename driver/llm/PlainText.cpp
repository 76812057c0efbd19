// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/PlainText.h"

#include "driver/llm/Wire.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

const char *const kHowToUseTools = R"(

==== tools ====

You can use the tools below before you reply. To use some, reply with a block of this form alone;
you are then asked again, with what they gave:

```json
{"tools": [{"name": "NAME", "input": {}}]}
```
)";

/// Between fences that are longer than any in the text.
std::string fenced(std::string_view info, const std::string &text) {
  std::size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return fmt::format("{0}{1}\n{2}\n{0}\n", std::string(longest + 1, '`'), info, text);
}

/// The first fenced block: where it begins, and what it is if it is JSON.
std::pair<std::size_t, nlohmann::json> firstBlock(std::string_view text) {
  std::string_view fence;
  std::size_t begin = text.npos, content = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trim(text.substr(at, end - at));
    const std::size_t ticks = std::min(line.find_first_not_of('`'), line.size());
    if (fence.empty() && ticks >= 3) {
      fence = line.substr(0, ticks);
      if (trim(line.substr(ticks)) != "json")
        break;
      begin = at;
      content = std::min(end + 1, text.size());
    } else if (!fence.empty() && ticks == line.size() && ticks >= fence.size()) {
      return {begin, parseWire(text.substr(content, at - content)).value_or(nlohmann::json())};
    }
    at = end + 1;
  }
  return {begin, nullptr};
}

} // namespace

std::string conversationText(const ChatRequest &request) {
  std::string text = request.system;
  if (!request.tools.empty())
    text += kHowToUseTools;
  for (const Tool &tool : request.tools)
    text += fmt::format("\n- {}: {}\n  Schema of its input: {}\n", tool.name, tool.description,
                        dumpJson(tool.input));
  for (const ChatMessage &message : request.messages) {
    text += fmt::format("\n\n==== {} ====\n\n", message.role);
    for (const ToolOutcome &outcome : message.outcomes)
      text += fmt::format("{} of {}:\n\n{}\n", outcome.failed ? "Failure" : "Outcome", outcome.id,
                          fenced("", outcome.text));
    text += message.text;
    auto uses = nlohmann::json::array();
    for (const ToolUse &use : message.uses)
      uses.push_back({{"id", use.id}, {"name", use.name}, {"input", argumentsOf(use)}});
    if (!uses.empty())
      text += "\n\n" + fenced("json", dumpJson({{"tools", uses}}));
  }
  return text + "\n";
}

ChatReply replyOf(std::string text, const ChatRequest &request) {
  ChatReply reply;
  reply.text = std::move(text);
  if (request.tools.empty())
    return reply;
  const auto [begin, block] = firstBlock(reply.text);
  if (const nlohmann::json &uses = memberIn(block, "tools"); uses.is_array())
    for (const nlohmann::json &use : uses)
      reply.uses.push_back({"", textIn(use, "name"), inputText(memberIn(use, "input"))});
  if (!reply.uses.empty())
    reply.text = std::string(trim(std::string_view(reply.text).substr(0, begin)));
  identify(reply.uses, request);
  return reply;
}

} // namespace kopt
