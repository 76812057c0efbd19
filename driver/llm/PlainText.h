// SPDX-License-Identifier: Apache-2.0
// A conversation with tools as one text, and the reply to it: for models that take nothing else.
#pragma once

#include "driver/llm/ChatModel.h"

#include <string>

namespace kopt {

/// What was said, under the name of who said it. The tools, and how they are used, come after the
/// system prompt; what tools gave is quoted between fences.
std::string conversationText(const ChatRequest &request);

/// The reply whose text a model wrote. Where tools were offered and its first fenced block is
///     ```json
///     {"tools": [{"name": "compile", "input": {}}]}
///     ```
/// it is what comes before, and these uses; what follows the block is not read.
ChatReply replyOf(std::string text, const ChatRequest &request);

} // namespace kopt
