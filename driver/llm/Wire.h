// SPDX-License-Identifier: Apache-2.0
// What the services over HTTP have in common on the wire, and how what they wrote is read safely.
#pragma once

#include "driver/llm/ChatModel.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// The JSON of a text that somebody else wrote; nothing where it is none, or nested deeper than any
/// message of these protocols, since what walks JSON recurses.
std::optional<nlohmann::json> parseWire(std::string_view text);

/// The member; null if there is none, or no object.
const nlohmann::json &memberIn(const nlohmann::json &object, const char *key);

/// Which part of a reply an event is about; `none` where it does not say.
std::size_t indexIn(const nlohmann::json &event, std::size_t none);

/// Adds a piece of a text that arrives in pieces. What is no text is replaced.
void appendTo(nlohmann::json &text, const std::string &piece);

/// A provider's count of tokens; 0 where there is none. At most a million million: sums of what a
/// service claims do not overflow.
long tokenCount(const nlohmann::json &usage, const char *key);

/// What a model wrote as arguments, which comes as JSON or as its text.
std::string inputText(const nlohmann::json &arguments);

/// The arguments of a use; an empty object where the model wrote none. A service would refuse the
/// whole conversation for anything else.
nlohmann::json argumentsOf(const ToolUse &use);

/// The name in the characters that services take, which refuse the whole conversation for others.
std::string wireName(const std::string &name);

/// Gives each use that has no id, or that of another use, one that is new in the conversation.
void identify(std::vector<ToolUse> &uses, const ChatRequest &request);

} // namespace kopt
