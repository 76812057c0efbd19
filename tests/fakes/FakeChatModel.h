// SPDX-License-Identifier: Apache-2.0
// A language model that says what it was told to, in order, and keeps what it was asked. "USE NAME
// JSON" is a use of a tool.
#pragma once

#include "driver/llm/ChatModel.h"

#include <deque>

namespace kopt::fakes {

class FakeChatModel final : public ChatModel {
public:
  std::string name() const override { return "fake:model"; }

  Result<ChatReply> complete(const ChatRequest &request) override {
    requests.push_back(request);
    ChatReply reply;
    reply.isLater = isLater;
    if (isLater)
      return reply;
    if (replies.empty())
      return makeError(ErrorCode::Environment, "the fake model has no reply left");
    reply.text = replies.front();
    if (reply.text.starts_with("USE ")) {
      const std::size_t space = reply.text.find(' ', 4);
      reply.uses = {{"use" + std::to_string(requests.size()), reply.text.substr(4, space - 4),
                     reply.text.substr(space + 1)}};
      reply.text.clear();
    }
    reply.model = "fake-1";
    reply.inputTokens = inputTokens;
    reply.outputTokens = outputTokens;
    replies.pop_front();
    return reply;
  }

  std::deque<std::string> replies;
  bool isLater = false; ///< replies come in a later session
  std::vector<ChatRequest> requests;
  long inputTokens = 100, outputTokens = 50;
};

} // namespace kopt::fakes
