// SPDX-License-Identifier: Apache-2.0
// Chat completions, as spoken by OpenAI, vLLM, llama.cpp, Ollama and many others.
#include "driver/llm/Models.h"
#include "driver/llm/TokenCount.h"
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

  HttpRequest encode(const ChatRequest &request) const override {
    json body{{"model", model_},
              {ownService_ ? "max_completion_tokens" : "max_tokens", request.maxTokens},
              {"messages", json::array()}};
    if (!request.system.empty())
      body["messages"].push_back({{"role", "system"}, {"content", request.system}});
    for (const ChatMessage &message : request.messages)
      body["messages"].push_back({{"role", message.role}, {"content", message.text}});
    HttpRequest http{baseUrl_ + "/chat/completions", headers(), dumpJson(body), request.timeout};
    http.headers["content-type"] = "application/json";
    return http;
  }

  HttpRequest listModels() const override {
    return {baseUrl_ + "/models", headers(), {}, Duration(30)};
  }

  std::optional<Part> decode(const std::string &body) const override {
    json document = json::parse(body, nullptr, false);
    if (!document.is_object() || !document.contains("choices") || !document["choices"].is_array() ||
        document["choices"].empty())
      return std::nullopt;
    const json &choice = document["choices"][0];
    if (!choice.is_object() || !choice.contains("message") || !choice["message"].is_object())
      return std::nullopt;
    Part part;
    part.reply.text = textIn(choice["message"], "content");
    std::string reason = textIn(choice, "finish_reason");
    part.cutOff = reason == "length";
    if (std::string refusal = textIn(choice["message"], "refusal"); !refusal.empty())
      part.refusal = refusal.substr(0, 300);
    else if (reason == "content_filter")
      part.refusal = "the service's content filter withheld it";
    else if (!part.cutOff && part.reply.text.empty())
      part.refusal = "the reply is empty (finish reason \"" + reason + "\")";
    part.reply.model = textIn(document, "model");
    if (part.reply.model.empty())
      part.reply.model = model_;
    const json usage = document.contains("usage") ? document["usage"] : json();
    part.reply.inputTokens = tokenCount(usage, "prompt_tokens");
    part.reply.outputTokens = tokenCount(usage, "completion_tokens");
    if (usage.is_object() && usage.contains("prompt_tokens_details"))
      part.reply.cachedTokens = tokenCount(usage["prompt_tokens_details"], "cached_tokens");
    return part;
  }

private:
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
