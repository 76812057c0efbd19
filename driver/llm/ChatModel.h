// SPDX-License-Identifier: Apache-2.0
// A language model as kopt sees it: messages in, text out, tokens counted. Keys come only from the
// environment.
#pragma once

#include "driver/support/Clock.h"
#include "driver/support/Process.h"

#include <memory>
#include <string>
#include <vector>

namespace kopt {

struct ChatMessage {
  std::string role; ///< user or assistant
  std::string text;
};

struct ChatRequest {
  std::string purpose; ///< coder, fixer: for the ledger and the transcript
  std::string system;  ///< stable prefix, cached by providers that can
  std::vector<ChatMessage> messages;
  int maxTokens = 8192;
  Duration timeout{300};
  int call = 0; ///< number of this exchange in its run, from 1; 0: not numbered
};

struct ChatReply {
  std::string text;
  std::string model;
  /// 0 where the provider does not say; cachedTokens are those of inputTokens that were read from
  /// its cache.
  long inputTokens = 0, outputTokens = 0, cachedTokens = 0;
  double seconds = 0;
};

class ChatModel {
public:
  virtual ~ChatModel() = default;
  virtual std::string name() const = 0;
  /// Retries 429, 5xx and network failures with backoff, continues a reply that was cut off by its
  /// length. Fails with Environment: a refused key, an unknown model, no endpoint, a refusal, a
  /// command that fails.
  virtual Result<ChatReply> complete(const ChatRequest &request) = 0;
};

} // namespace kopt
