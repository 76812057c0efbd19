// SPDX-License-Identifier: Apache-2.0
// Anthropic Messages. The system prompt is marked for the provider's cache: it is the same for
// every call of a run.
#include "driver/llm/Models.h"
#include "driver/llm/TokenCount.h"
#include "driver/support/JsonText.h"

#include <nlohmann/json.hpp>

namespace kopt {
namespace {

using nlohmann::json;

class AnthropicDialect final : public ChatDialect {
public:
  AnthropicDialect(std::string model, std::string key, std::string baseUrl)
      : model_(std::move(model)), key_(std::move(key)), baseUrl_(std::move(baseUrl)) {}

  std::string name() const override { return "anthropic:" + model_; }
  std::string model() const override { return model_; }
  std::string keyVariable() const override { return "ANTHROPIC_API_KEY"; }

  HttpRequest encode(const ChatRequest &request) const override {
    json body{{"model", model_}, {"max_tokens", request.maxTokens}, {"messages", json::array()}};
    if (!request.system.empty())
      body["system"] = json::array({{{"type", "text"},
                                     {"text", request.system},
                                     {"cache_control", {{"type", "ephemeral"}}}}});
    for (const ChatMessage &message : request.messages)
      body["messages"].push_back({{"role", message.role}, {"content", message.text}});
    HttpRequest http{baseUrl_ + "/v1/messages", headers(), dumpJson(body), request.timeout};
    http.headers["content-type"] = "application/json";
    return http;
  }

  HttpRequest listModels() const override {
    return {baseUrl_ + "/v1/models", headers(), {}, Duration(30)};
  }

  std::optional<Part> decode(const std::string &body) const override {
    json document = json::parse(body, nullptr, false);
    if (!document.is_object() || !document.contains("content") || !document["content"].is_array())
      return std::nullopt;
    Part part;
    for (const json &block : document["content"])
      if (textIn(block, "type") == "text")
        part.reply.text += textIn(block, "text");
    const std::string reason = textIn(document, "stop_reason");
    part.cutOff = reason == "max_tokens";
    if (reason == "refusal")
      part.refusal = "the model refused the request";
    else if (!part.cutOff && part.reply.text.empty())
      part.refusal = "the reply is empty (stop reason \"" + reason + "\")";
    part.reply.model = textIn(document, "model");
    if (part.reply.model.empty())
      part.reply.model = model_;
    const json usage = document.contains("usage") ? document["usage"] : json();
    part.reply.cachedTokens = tokenCount(usage, "cache_read_input_tokens");
    part.reply.inputTokens = tokenCount(usage, "input_tokens") +
                             tokenCount(usage, "cache_creation_input_tokens") +
                             part.reply.cachedTokens;
    part.reply.outputTokens = tokenCount(usage, "output_tokens");
    return part;
  }

private:
  std::map<std::string, std::string> headers() const {
    return {{"x-api-key", key_}, {"anthropic-version", "2023-06-01"}};
  }

  std::string model_, key_, baseUrl_;
};

} // namespace

std::unique_ptr<ChatDialect> makeAnthropicDialect(std::string model, std::string key,
                                                  std::string baseUrl) {
  return std::make_unique<AnthropicDialect>(std::move(model), std::move(key), std::move(baseUrl));
}

} // namespace kopt
