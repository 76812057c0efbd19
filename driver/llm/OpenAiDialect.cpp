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

  HttpRequest encode(const ChatRequest &request, bool streamed) const override {
    json body{{"model", model_},
              {ownService_ ? "max_completion_tokens" : "max_tokens", request.maxTokens},
              {"messages", json::array()}};
    if (streamed) {
      body["stream"] = true;
      body["stream_options"] = {{"include_usage", true}};
    }
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

  /// The end is "[DONE]", which is no JSON and no event of this kind.
  Fold fold(const json &event, json &document) const override {
    for (const char *key : {"model", "usage"})
      if (const json &value = memberIn(event, key); !value.is_null())
        document[key] = value;
    const json &choices = memberIn(event, "choices");
    if (!choices.is_array() || choices.empty())
      return Fold::More;
    json &choice = document["choices"][0], &message = choice["message"];
    if (const json &reason = memberIn(choices[0], "finish_reason"); !reason.is_null())
      choice["finish_reason"] = reason;
    const json &delta = memberIn(choices[0], "delta");
    for (const char *key : {"content", "refusal"})
      appendTo(message[key], textIn(delta, key));
    for (const json &piece : memberIn(delta, "tool_calls")) {
      json &calls = message["tool_calls"];
      // Servers that do not count their calls send each in one piece.
      const std::size_t index = indexIn(piece, calls.size());
      if (index > calls.size())
        return Fold::Broken;
      json &call = calls[index], &function = call["function"];
      const json &more = memberIn(piece, "function");
      if (const std::string id = textIn(piece, "id"); !id.empty())
        call["id"] = id;
      if (const std::string name = textIn(more, "name"); !name.empty())
        function["name"] = name;
      appendTo(function["arguments"], textIn(more, "arguments"));
    }
    return Fold::More;
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
