// SPDX-License-Identifier: Apache-2.0
// A model's reply in the four forms in which services send it: two protocols, in one piece or as a
// stream of events.
#pragma once

#include "driver/llm/Models.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kopt::fakes {

struct WireUse {
  nlohmann::json id, name;
  std::string input; ///< as the model writes it, JSON or not
};

struct WireReply {
  std::string text;
  std::vector<WireUse> uses{};
  bool cutOff = false;
  std::string stop{};        ///< instead of the usual reason
  long input = 30;           ///< tokens that no cache has
  nlohmann::json output = 5; ///< as the service counts it
};

/// Of every reply, besides: tokens read from the cache and written to it.
constexpr long kCacheRead = 100, kCacheWrite = 20;

inline std::string eventText(const nlohmann::json &data) {
  return "event: " + data.value("type", "message") + "\r\ndata: " + data.dump() + "\r\n\r\n";
}

inline std::vector<nlohmann::json> anthropicEvents(const WireReply &reply) {
  using nlohmann::json;
  std::vector<json> events{{{"type", "message_start"},
                            {"message",
                             {{"model", "m-1"},
                              {"content", json::array()},
                              {"stop_reason", nullptr},
                              {"usage",
                               {{"input_tokens", reply.input},
                                {"output_tokens", 1},
                                {"cache_read_input_tokens", kCacheRead},
                                {"cache_creation_input_tokens", kCacheWrite}}}}}},
                           {{"type", "ping"}}};
  int index = 0;
  const auto block = [&](const json &start, const char *kind, const char *key,
                         const std::string &content) {
    events.push_back({{"type", "content_block_start"}, {"index", index}, {"content_block", start}});
    for (const std::string &half :
         {content.substr(0, content.size() / 2), content.substr(content.size() / 2)})
      events.push_back({{"type", "content_block_delta"},
                        {"index", index},
                        {"delta", {{"type", kind}, {key, half}}}});
    events.push_back({{"type", "content_block_stop"}, {"index", index++}});
  };
  if (!reply.text.empty())
    block({{"type", "text"}, {"text", ""}}, "text_delta", "text", reply.text);
  for (const WireUse &use : reply.uses)
    block({{"type", "tool_use"}, {"id", use.id}, {"name", use.name}, {"input", json::object()}},
          "input_json_delta", "partial_json", use.input);
  const std::string stop = !reply.stop.empty()  ? reply.stop
                           : reply.cutOff       ? "max_tokens"
                           : reply.uses.empty() ? "end_turn"
                                                : "tool_use";
  events.push_back({{"type", "message_delta"},
                    {"delta", {{"stop_reason", stop}}},
                    {"usage", {{"output_tokens", reply.output}}}});
  events.push_back({{"type", "message_stop"}});
  return events;
}

inline std::string anthropicBody(const WireReply &reply) {
  using nlohmann::json;
  const std::vector<json> events = anthropicEvents(reply);
  json body = events[0]["message"];
  body["stop_reason"] = events[events.size() - 2]["delta"]["stop_reason"];
  body["usage"]["output_tokens"] = reply.output;
  if (!reply.text.empty())
    body["content"].push_back({{"type", "text"}, {"text", reply.text}});
  for (const WireUse &use : reply.uses) {
    const json input = json::parse(use.input, nullptr, false);
    body["content"].push_back({{"type", "tool_use"},
                               {"id", use.id},
                               {"name", use.name},
                               {"input", input.is_discarded() ? json(use.input) : input}});
  }
  return body.dump();
}

inline nlohmann::json openAiUsage(const WireReply &reply) {
  return {{"prompt_tokens", reply.input + kCacheRead + kCacheWrite},
          {"completion_tokens", reply.output},
          {"prompt_tokens_details", {{"cached_tokens", kCacheRead}}}};
}

inline std::string openAiStop(const WireReply &reply) {
  return !reply.stop.empty()  ? reply.stop
         : reply.cutOff       ? "length"
         : reply.uses.empty() ? "stop"
                              : "tool_calls";
}

/// Without the end, "[DONE]".
inline std::vector<nlohmann::json> openAiEvents(const WireReply &reply) {
  using nlohmann::json;
  std::vector<json> events;
  const auto chunk = [&](const json &delta, const json &finish) {
    events.push_back(
        {{"model", "m-1"},
         {"choices", json::array({{{"index", 0}, {"delta", delta}, {"finish_reason", finish}}})},
         {"usage", nullptr}});
  };
  const auto halves = [](const std::string &text) {
    return std::vector{text.substr(0, text.size() / 2), text.substr(text.size() / 2)};
  };
  chunk({{"role", "assistant"}, {"content", ""}}, nullptr);
  if (!reply.text.empty())
    for (const std::string &half : halves(reply.text))
      chunk({{"content", half}}, nullptr);
  int index = 0;
  for (const WireUse &use : reply.uses) {
    const auto call = [&](const json &id, const json &function) {
      json piece{{"index", index}, {"function", function}};
      if (!id.is_null())
        piece["id"] = id;
      chunk({{"tool_calls", json::array({piece})}}, nullptr);
    };
    call(use.id, {{"name", use.name}, {"arguments", ""}});
    for (const std::string &half : halves(use.input))
      call(nullptr, {{"arguments", half}});
    ++index;
  }
  chunk(json::object(), openAiStop(reply));
  events.push_back({{"model", "m-1"}, {"choices", json::array()}, {"usage", openAiUsage(reply)}});
  return events;
}

inline std::string openAiBody(const WireReply &reply) {
  using nlohmann::json;
  json message{{"role", "assistant"}, {"content", nullptr}};
  if (!reply.text.empty())
    message["content"] = reply.text;
  for (const WireUse &use : reply.uses)
    message["tool_calls"].push_back({{"id", use.id},
                                     {"type", "function"},
                                     {"function", {{"name", use.name}, {"arguments", use.input}}}});
  return json{
      {"model", "m-1"},
      {"choices", json::array({{{"message", message}, {"finish_reason", openAiStop(reply)}}})},
      {"usage", openAiUsage(reply)}}
      .dump();
}

/// One of the four ways in which a reply is asked for and sent.
struct Way {
  bool anthropic = false, streamed = false;

  std::string body(const WireReply &reply) const {
    if (!streamed)
      return anthropic ? anthropicBody(reply) : openAiBody(reply);
    std::string body;
    for (const nlohmann::json &event : anthropic ? anthropicEvents(reply) : openAiEvents(reply))
      body += eventText(event);
    return anthropic ? body : body + "data: [DONE]\n\n";
  }
  std::string name() const {
    return std::string(anthropic ? "Anthropic" : "OpenAi") + (streamed ? "Streamed" : "Plain");
  }
  std::unique_ptr<ChatModel> model(const std::string &key, const std::string &host,
                                   std::unique_ptr<HttpClient> http, Clock &clock,
                                   RetryPolicy policy = {}) const {
    policy.streamed = streamed;
    return makeHttpChat(anthropic ? makeAnthropicDialect("model", key, host)
                                  : makeOpenAiDialect("model", key, host + "/v1", true),
                        std::move(http), clock, policy);
  }
};
constexpr Way kAllWays[] = {{true, true}, {true, false}, {false, true}, {false, false}};

} // namespace kopt::fakes
