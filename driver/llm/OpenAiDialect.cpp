// SPDX-License-Identifier: Apache-2.0
// Chat completions, as spoken by OpenAI, vLLM, llama.cpp, Ollama and many others.
#include "driver/llm/Models.h"
#include "driver/llm/Wire.h"
#include "driver/support/JsonText.h"

#include <nlohmann/json.hpp>

namespace kopt {
namespace {

using nlohmann::json;

class OpenAiDialect final : public ChatDialect {
public:
  OpenAiDialect(std::string model, std::string key, std::string baseUrl, bool ownService)
      : model_(std::move(model)), key_(std::move(key)), baseUrl_(std::move(baseUrl)),
        ownService_(ownService) {}

  std::string name() const override { return "openai:" + model_; }
  std::string model() const override { return model_; }
  std::string keyVariable() const override { return "OPENAI_API_KEY"; }
  std::string key() const override { return key_; }

  HttpRequest encode(const ChatRequest &request) const override {
    json body{{"model", model_},
              {ownService_ ? "max_completion_tokens" : "max_tokens", request.maxTokens},
              {"messages", json::array()}};
    if (!request.system.empty())
      body["messages"].push_back({{"role", "system"}, {"content", request.system}});
    for (const ChatMessage &message : request.messages)
      add(message, body["messages"]);
    for (const Tool &tool : request.tools)
      body["tools"].push_back(
          {{"type", "function"},
           {"function",
            {{"name", tool.name}, {"description", tool.description}, {"parameters", tool.input}}}});
    HttpRequest http{baseUrl_ + "/chat/completions", headers(), dumpJson(body), request.timeout};
    http.headers["content-type"] = "application/json";
    return http;
  }

  HttpRequest listModels() const override {
    return {baseUrl_ + "/models", headers(), {}, Duration(30)};
  }

  std::optional<Part> decode(const json &document) const override {
    const json &choices = memberIn(document, "choices");
    if (!choices.is_array() || choices.empty())
      return std::nullopt;
    const json &message = memberIn(choices[0], "message");
    if (!message.is_object())
      return std::nullopt;
    Part part;
    part.reply.text = textIn(message, "content");
    for (const json &call : memberIn(message, "tool_calls")) {
      const json &function = memberIn(call, "function");
      part.reply.uses.push_back({textIn(call, "id"), textIn(function, "name"),
                                 inputText(memberIn(function, "arguments"))});
    }
    const std::string reason = textIn(choices[0], "finish_reason");
    part.cutOff = reason == "length";
    if (part.cutOff && !part.reply.uses.empty())
      part.dropCutUse();
    if (const std::string refusal = textIn(message, "refusal"); !refusal.empty())
      part.refusal = refusal;
    else if (reason == "content_filter")
      part.refusal = "the service's content filter withheld it";
    else if (!part.cutOff && part.reply.text.empty() && part.reply.uses.empty())
      part.refusal = "the reply is empty (finish reason \"" + reason + "\")";
    part.reply.model = textIn(document, "model");
    if (part.reply.model.empty())
      part.reply.model = model_;
    const json &usage = memberIn(document, "usage");
    part.reply.inputTokens = tokenCount(usage, "prompt_tokens");
    part.reply.outputTokens = tokenCount(usage, "completion_tokens");
    part.reply.cachedTokens = tokenCount(memberIn(usage, "prompt_tokens_details"), "cached_tokens");
    return part;
  }

private:
  /// Each outcome is a message of its own; there is no mark for failed ones but their text.
  static void add(const ChatMessage &message, json &messages) {
    for (const ToolOutcome &outcome : message.outcomes)
      messages.push_back({{"role", "tool"},
                          {"tool_call_id", outcome.id},
                          {"content", outcome.failed ? "failed: " + outcome.text : outcome.text}});
    if (message.text.empty() && message.uses.empty())
      return;
    json said{{"role", message.role}, {"content", nullptr}};
    if (!message.text.empty())
      said["content"] = message.text;
    for (const ToolUse &use : message.uses)
      said["tool_calls"].push_back(
          {{"id", use.id},
           {"type", "function"},
           {"function",
            {{"name", wireName(use.name)}, {"arguments", dumpJson(argumentsOf(use))}}}});
    messages.push_back(std::move(said));
  }

  std::map<std::string, std::string> headers() const {
    if (key_.empty())
      return {};
    return {{"authorization", "Bearer " + key_}};
  }

  std::string model_, key_, baseUrl_;
  bool ownService_;
};

} // namespace

std::unique_ptr<ChatDialect> makeOpenAiDialect(std::string model, std::string key,
                                               std::string baseUrl, bool ownService) {
  return std::make_unique<OpenAiDialect>(std::move(model), std::move(key), std::move(baseUrl),
                                         ownService);
}

} // namespace kopt
