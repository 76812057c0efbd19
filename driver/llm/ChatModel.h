// SPDX-License-Identifier: Apache-2.0
// A language model as kopt sees it: messages in, text and uses of tools out, tokens counted. Keys
// come only from the environment.
#pragma once

#include "driver/llm/Tool.h"
#include "driver/support/Clock.h"
#include "driver/support/Process.h"

#include <memory>
#include <string>
#include <vector>

namespace kopt {

/// A call of a tool that a model asks for.
struct ToolUse {
  std::string id;    ///< unique in its conversation
  std::string name;  ///< as the model spelled it
  std::string input; ///< JSON, as the model wrote it
};

struct ToolOutcome {
  std::string id; ///< of the use
  std::string text;
  bool failed = false;
};

struct ChatMessage {
  std::string role;                    ///< user or assistant
  std::string text;                    ///< may be empty beside uses or outcomes
  std::vector<ToolUse> uses{};         ///< of an assistant, after the text
  std::vector<ToolOutcome> outcomes{}; ///< of a user, before the text: of all uses before it
};

struct ChatRequest {
  std::string purpose; ///< coder, fixer: for the ledger and the transcript
  std::string system;  ///< stable prefix, cached by providers that can
  std::vector<ChatMessage> messages;
  std::vector<Tool> tools{}; ///< that the model may use; the same in all requests of a run
  int maxTokens = 8192;
  Duration timeout{300}; ///< for the whole call, with all that is asked again
  int continuations = 4; ///< most requests for the rest of a reply that was cut off
  int call = 0;          ///< number of this exchange in its run, from 1; 0: not numbered
  std::string key{};     ///< "scale-1-12-3": run, ask and step
};

struct ChatReply {
  std::string text; ///< may be empty beside uses
  std::string model;
  /// 0 where the provider does not say. Of inputTokens, cachedTokens were read from its cache and
  /// cacheWriteTokens written to it.
  long inputTokens = 0, outputTokens = 0, cachedTokens = 0;
  double seconds = 0;
  std::vector<ToolUse> uses{};
  long cacheWriteTokens = 0;
  /// There is no reply yet: one may be there when the run is resumed; `text` says where.
  bool isLater = false;
};

class ChatModel {
public:
  virtual ~ChatModel() = default;
  virtual std::string name() const = 0;
  /// True if replies may come in a later session of the run.
  virtual bool repliesLater() const { return false; }
  /// Retries 429, 5xx and network failures with backoff, continues a reply that was cut off by its
  /// length. Fails with Environment: a refused key, an unknown model, no endpoint, a refusal, a
  /// command that fails.
  virtual Result<ChatReply> complete(const ChatRequest &request) = 0;
};

} // namespace kopt
