// SPDX-License-Identifier: Apache-2.0
// Anthropic Messages. Marked for the provider's cache are the system prompt, which is the same for
// every call of a run (and so are the tools, which the service puts before it), and the end. What a
// model thought is not sent back: the service would refuse it in a conversation that was edited.
#include "driver/llm/Models.h"
#include "driver/llm/Wire.h"
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
  std::string key() const override { return key_; }

  HttpRequest encode(const ChatRequest &request, bool streamed) const override {
    json body{{"model", model_}, {"max_tokens", request.maxTokens}, {"messages", json::array()}};
    if (streamed)
      body["stream"] = true;
    if (!request.system.empty())
      body["system"] = json::array({cached({{"type", "text"}, {"text", request.system}})});
    for (const Tool &tool : request.tools)
      body["tools"].push_back(
          {{"name", tool.name}, {"description", tool.description}, {"input_schema", tool.input}});
    for (const ChatMessage &message : request.messages)
      if (json blocks = blocksOf(message); !blocks.empty())
        body["messages"].push_back({{"role", message.role}, {"content", std::move(blocks)}});
    // The next request of this conversation begins with this one, and reads it from the cache.
    if (!body["messages"].empty()) {
      json &last = body["messages"].back()["content"].back();
      last = cached(std::move(last));
    }
    HttpRequest http{baseUrl_ + "/v1/messages", headers(), dumpJson(body), request.timeout};
    http.headers["content-type"] = "application/json";
    return http;
  }

  HttpRequest listModels() const override {
    return {baseUrl_ + "/v1/models", headers(), {}, Duration(30)};
  }

  Fold fold(const json &event, json &document) const override {
    const std::string type = textIn(event, "type");
    if (type == "message_stop")
      return Fold::Ended;
    if (type == "message_start") {
      const json &message = memberIn(event, "message");
      document = message.is_object() ? message : json::object();
      document["content"] = json::array();
    } else if (document.is_null()) {
      return type == "ping" ? Fold::More : Fold::Broken;
    } else if (type == "content_block_start") {
      document["content"].push_back(memberIn(event, "content_block"));
    } else if (type == "content_block_delta") {
      json &content = document["content"];
      const std::size_t index = indexIn(event, content.size());
      if (index >= content.size() || !content[index].is_object())
        return Fold::Broken;
      const json &delta = memberIn(event, "delta");
      appendTo(content[index]["text"], textIn(delta, "text"));
      appendTo(content[index]["input"], textIn(delta, "partial_json"));
    } else if (type == "message_delta") {
      if (const json &reason = memberIn(memberIn(event, "delta"), "stop_reason"); !reason.is_null())
        document["stop_reason"] = reason;
      json &usage = document["usage"];
      for (const auto &[name, count] : memberIn(event, "usage").items())
        if (count.is_number_unsigned() && count != 0 && (usage.is_object() || usage.is_null()))
          usage[name] =
              count; // the whole until here; some services put 0 for what they said before
    }
    return Fold::More;
  }

  std::optional<Part> decode(const json &document) const override {
    const json &content = memberIn(document, "content");
    if (!content.is_array())
      return std::nullopt;
    Part part;
    for (const json &block : content)
      if (const std::string type = textIn(block, "type"); type == "text")
        part.reply.text += textIn(block, "text");
      else if (type == "tool_use")
        part.reply.uses.push_back(
            {textIn(block, "id"), textIn(block, "name"), inputText(memberIn(block, "input"))});
    const std::string reason = textIn(document, "stop_reason");
    part.cutOff = reason == "max_tokens";
    if (part.cutOff && !content.empty() && textIn(content.back(), "type") == "tool_use")
      part.dropCutUse();
    if (reason == "refusal")
      part.refusal = "the model refused the request";
    else if (reason == "model_context_window_exceeded")
      part.refusal = "the conversation has outgrown the model's context";
    else if (!part.cutOff && part.reply.text.empty() && part.reply.uses.empty())
      part.refusal = "the reply is empty (stop reason \"" + reason + "\")";
    part.reply.model = textIn(document, "model");
    if (part.reply.model.empty())
      part.reply.model = model_;
    const json &usage = memberIn(document, "usage");
    part.reply.cachedTokens = tokenCount(usage, "cache_read_input_tokens");
    part.reply.cacheWriteTokens = tokenCount(usage, "cache_creation_input_tokens");
    part.reply.inputTokens =
        tokenCount(usage, "input_tokens") + part.reply.cacheWriteTokens + part.reply.cachedTokens;
    part.reply.outputTokens = tokenCount(usage, "output_tokens");
    return part;
  }

private:
  /// Empty texts are left out: the service refuses them.
  static json blocksOf(const ChatMessage &message) {
    json blocks = json::array();
    for (const ToolOutcome &outcome : message.outcomes)
      blocks.push_back({{"type", "tool_result"},
                        {"tool_use_id", outcome.id},
                        {"content", outcome.text},
                        {"is_error", outcome.failed}});
    if (!message.text.empty())
      blocks.push_back({{"type", "text"}, {"text", message.text}});
    for (const ToolUse &use : message.uses)
      blocks.push_back({{"type", "tool_use"},
                        {"id", use.id},
                        {"name", wireName(use.name)},
                        {"input", argumentsOf(use)}});
    return blocks;
  }

  /// The provider keeps what it has read up to the end of this block.
  static json cached(json block) {
    block["cache_control"] = {{"type", "ephemeral"}};
    return block;
  }

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
