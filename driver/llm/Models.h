// SPDX-License-Identifier: Apache-2.0
// The kinds of ChatModel, below makeChatModel(). Tests build them over fakes.
#pragma once

#include "driver/llm/ChatModel.h"
#include "driver/llm/HttpClient.h"

namespace kopt {

/// How a provider spells a request and a reply; everything else (retries, continuation, errors) is
/// HttpChat's.
class ChatDialect {
public:
  virtual ~ChatDialect() = default;
  virtual std::string name() const = 0; ///< "anthropic:MODEL"
  virtual std::string model() const = 0;
  virtual std::string keyVariable() const = 0; ///< named in errors
  virtual std::string key() const = 0;         ///< to be kept out of everything
  /// `streamed`: the reply comes as events, if the service can.
  virtual HttpRequest encode(const ChatRequest &request, bool streamed) const = 0;
  /// For HttpClient::get(): which models there are. It costs nothing.
  virtual HttpRequest listModels() const = 0;

  struct Part {
    ChatReply reply;
    bool cutOff = false;    ///< by its length: ask for the rest
    bool cutWithin = false; ///< a use of a tool, which is dropped
    std::string refusal;    ///< why the model gave no reply; empty if it gave one

    /// What was written of the last use may well be JSON and yet not what the model meant.
    void dropCutUse() {
      reply.uses.pop_back();
      cutWithin = true;
    }
  };
  /// Adds an event to the document, null at first, which becomes what the same reply would be in
  /// one piece.
  enum class Fold { More, Ended, Broken };
  virtual Fold fold(const nlohmann::json &event, nlohmann::json &document) const = 0;
  /// Nothing where the document is not a reply of this provider.
  virtual std::optional<Part> decode(const nlohmann::json &document) const = 0;
};

/// Anthropic Messages at `baseUrl` (without /v1/messages).
std::unique_ptr<ChatDialect> makeAnthropicDialect(std::string model, std::string key,
                                                  std::string baseUrl);

/// Chat completions at `baseUrl` (with its version: ".../v1"). `ownService`: OpenAI itself, which
/// wants max_completion_tokens where other servers know max_tokens.
std::unique_ptr<ChatDialect> makeOpenAiDialect(std::string model, std::string key,
                                               std::string baseUrl, bool ownService);

struct RetryPolicy {
  int attempts = 6;          ///< of one request, the first included
  Duration firstDelay{1};    ///< doubled each time
  Duration longestDelay{60}; ///< also the longest Retry-After that is waited for
  int continuations = 4;     ///< of a reply that was cut off
  bool streamed = true;      ///< so that a long silence is known from a long reply
};

/// A ChatModel over HTTP. `clock` outlives it.
std::unique_ptr<ChatModel> makeHttpChat(std::unique_ptr<ChatDialect> dialect,
                                        std::unique_ptr<HttpClient> http, Clock &clock,
                                        RetryPolicy policy = {});

/// `sh -c COMMAND` with the prompt on standard input. `processes` and `clock` outlive it.
std::unique_ptr<ChatModel> makeExecModel(std::string command, ProcessRunner &processes,
                                         Clock &clock);

/// `sh -c COMMAND` in a folder of its own that stays for the run: the prompt is REQUEST.md there,
/// and standard input; the reply is REPLY.md, or standard output. Fails as
/// TemporaryDirectory::create(). `processes` and `clock` outlive it.
Result<std::unique_ptr<ChatModel>> makeAgentModel(std::string command, ProcessRunner &processes,
                                                  Clock &clock);

/// Requests as files in `folder`, which is created, and replies from there.
Result<std::unique_ptr<ChatModel>> makeFolderModel(const std::filesystem::path &folder);

} // namespace kopt
