// SPDX-License-Identifier: Apache-2.0
// A language model that says what it was told to, in order, and keeps what it was asked.
#pragma once

#include "driver/llm/ChatModel.h"

#include <deque>

namespace kopt::fakes {

class FakeChatModel final : public ChatModel {
public:
  std::string name() const override { return "fake:model"; }

  Result<ChatReply> complete(const ChatRequest &request) override {
    requests.push_back(request);
    if (replies.empty())
      return makeError(ErrorCode::Environment, "the fake model has no reply left");
    ChatReply reply;
    reply.text = replies.front();
    reply.model = "fake-1";
    reply.inputTokens = inputTokens;
    reply.outputTokens = outputTokens;
    replies.pop_front();
    return reply;
  }

  std::deque<std::string> replies;
  std::vector<ChatRequest> requests;
  long inputTokens = 100, outputTokens = 50;
};

} // namespace kopt::fakes
