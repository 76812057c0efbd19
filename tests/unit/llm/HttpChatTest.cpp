// SPDX-License-Identifier: Apache-2.0
// Retries, continuation and errors, the same for every provider, over a client that answers from a
// list.
#include "driver/llm/Models.h"
#include "tests/fakes/FakeClock.h"
#include "tests/fakes/FakeHttpClient.h"
#include "tests/fakes/Results.h"
#include "tests/fakes/WireReply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {
namespace {

using testing::HasSubstr;
using testing::Not;

using nlohmann::json;

std::string anthropicReply(const std::string &text, const std::string &stop = "end_turn") {
  return json{{"model", "m-1"},
              {"content", json::array({{{"type", "text"}, {"text", text}}})},
              {"stop_reason", stop},
              {"usage",
               {{"input_tokens", 10},
                {"output_tokens", 5},
                {"cache_read_input_tokens", 100},
                {"cache_creation_input_tokens", 20}}}}
      .dump();
}

std::string openAiReply(const std::string &text, const std::string &finish = "stop") {
  return json{{"model", "o-1"},
              {"choices", json::array({{{"message", {{"role", "assistant"}, {"content", text}}},
                                        {"finish_reason", finish}}})},
              {"usage",
               {{"prompt_tokens", 130},
                {"completion_tokens", 5},
                {"prompt_tokens_details", {{"cached_tokens", 100}}}}}}
      .dump();
}

const char *const kLimited = R"({"error":{"message":"slow down"}})";

class HttpChatTest : public ::testing::Test {
protected:
  std::unique_ptr<ChatModel> anthropic(RetryPolicy policy = {}) {
    return makeHttpChat(makeAnthropicDialect("model-a", "secret-key", "http://host"),
                        std::make_unique<fakes::FakeHttpClient>(script), clock, policy);
  }
  std::unique_ptr<ChatModel> openAi(bool ownService = false, std::string key = "secret-key") {
    return makeHttpChat(makeOpenAiDialect("model-o", key, "http://host/v1", ownService),
                        std::make_unique<fakes::FakeHttpClient>(script), clock);
  }
  static ChatRequest request() {
    ChatRequest request;
    request.purpose = "coder";
    request.system = "the rules";
    request.messages = {{"user", "the task"}};
    request.maxTokens = 1000;
    return request;
  }

  fakes::FakeHttpClient::Script script;
  fakes::FakeClock clock;
};

TEST_F(HttpChatTest, AnthropicRequestAndReply) {
  script.answer(200, anthropicReply("hello"));
  auto reply = must(anthropic()->complete(request()));
  EXPECT_EQ(reply.text, "hello");
  EXPECT_EQ(reply.model, "m-1");
  EXPECT_EQ(reply.inputTokens, 130);
  EXPECT_EQ(reply.cachedTokens, 100);
  EXPECT_EQ(reply.outputTokens, 5);
  EXPECT_EQ(reply.cacheWriteTokens, 20);
  ASSERT_EQ(script.requests.size(), 1u);
  const HttpRequest &sent = script.requests[0];
  EXPECT_EQ(sent.url, "http://host/v1/messages");
  EXPECT_EQ(sent.headers.at("x-api-key"), "secret-key");
  EXPECT_EQ(sent.headers.at("anthropic-version"), "2023-06-01");
  json body = json::parse(sent.body);
  EXPECT_EQ(body["model"], "model-a");
  EXPECT_EQ(body["max_tokens"], 1000);
  EXPECT_EQ(body["system"][0]["text"], "the rules");
  EXPECT_EQ(body["system"][0]["cache_control"]["type"], "ephemeral");
  EXPECT_EQ(body["messages"][0]["role"], "user");
  EXPECT_EQ(body["messages"][0]["content"][0]["text"], "the task");
  EXPECT_FALSE(body.contains("tools"));
}

TEST_F(HttpChatTest, OpenAiRequestAndReply) {
  script.answer(200, openAiReply("hello"));
  auto reply = must(openAi()->complete(request()));
  EXPECT_EQ(reply.text, "hello");
  EXPECT_EQ(reply.inputTokens, 130);
  EXPECT_EQ(reply.cachedTokens, 100);
  EXPECT_EQ(reply.outputTokens, 5);
  const HttpRequest &sent = script.requests.at(0);
  EXPECT_EQ(sent.url, "http://host/v1/chat/completions");
  EXPECT_EQ(sent.headers.at("authorization"), "Bearer secret-key");
  json body = json::parse(sent.body);
  EXPECT_EQ(body["messages"][0]["role"], "system");
  EXPECT_EQ(body["messages"][1]["content"], "the task");
  EXPECT_EQ(body["max_tokens"], 1000);
  EXPECT_FALSE(body.contains("max_completion_tokens"));
}

TEST_F(HttpChatTest, OpenAiItselfWantsItsOwnNameForTheLimitAndAServerWithoutAKeyGetsNone) {
  script.answer(200, openAiReply("a"));
  script.answer(200, openAiReply("b"));
  ASSERT_TRUE(openAi(true)->complete(request()));
  EXPECT_EQ(json::parse(script.requests[0].body)["max_completion_tokens"], 1000);
  ASSERT_TRUE(openAi(false, "")->complete(request()));
  EXPECT_EQ(script.requests[1].headers.count("authorization"), 0u);
}

TEST_F(HttpChatTest, WaitsAsLongAsTheServiceAsksAndThenDoublesItsOwnDelay) {
  script.answer(429, kLimited, {{"retry-after", "7"}});
  script.answer(529, kLimited);
  script.fail("connection reset");
  script.answer(200, anthropicReply("at last"));
  auto reply = must(anthropic()->complete(request()));
  EXPECT_EQ(reply.text, "at last");
  EXPECT_DOUBLE_EQ(clock.slept, 7 + 2 + 4); // the delay of 1 s is replaced by what was asked for
  EXPECT_EQ(script.requests.size(), 4u);
}

TEST_F(HttpChatTest, AnHourOfRetryAfterIsAnErrorAtOnce) {
  script.answer(429, kLimited, {{"retry-after", "3600"}});
  EXPECT_THAT(anthropic()->complete(request()), fails({.what = HasSubstr("asks to wait 3600 s")}));
  EXPECT_DOUBLE_EQ(clock.slept, 0);
}

TEST_F(HttpChatTest, GivesUpAfterItsAttemptsWithTheLastReason) {
  for (int i = 0; i < 3; ++i)
    script.answer(500, R"({"error":"out of order"})");
  EXPECT_THAT(anthropic({.attempts = 3})->complete(request()),
              fails({.code = ErrorCode::Environment,
                     .what = HasSubstr("3 attempts; the last: status 500: out of order")}));
  EXPECT_EQ(script.requests.size(), 3u);
}

TEST_F(HttpChatTest, ABodyThatIsNoReplyIsAskedForAgain) {
  for (const char *body : {"<html>bad gateway</html>", "{}", R"({"content":"text"})", "[]", "null"})
    script.answer(200, body);
  script.answer(200, anthropicReply("fine"));
  EXPECT_EQ(anthropic()->complete(request())->text, "fine");
}

TEST_F(HttpChatTest, MalformedChatCompletionsAreAskedForAgain) {
  for (const char *body :
       {"", R"({"choices":[]})", R"({"choices":[null]})", R"({"choices":[{"message":3}]})"})
    script.answer(200, body);
  script.answer(200, openAiReply("fine"));
  EXPECT_EQ(openAi()->complete(request())->text, "fine");
}

TEST_F(HttpChatTest, GoesOnWhereAReplyWasCutOffAndCountsAllTokens) {
  script.answer(200, anthropicReply("first ha", "max_tokens"));
  script.answer(200, anthropicReply("lf, second"));
  auto reply = must(anthropic()->complete(request()));
  EXPECT_EQ(reply.text, "first half, second");
  EXPECT_EQ(reply.outputTokens, 10);
  json second = json::parse(script.requests.at(1).body);
  ASSERT_EQ(second["messages"].size(), 3u);
  EXPECT_EQ(second["messages"][1]["role"], "assistant");
  EXPECT_EQ(second["messages"][1]["content"][0]["text"], "first ha");
  EXPECT_EQ(second["messages"][2]["role"], "user");
}

TEST_F(HttpChatTest, OpenAiCutOffIsContinuedToo) {
  script.answer(200, openAiReply("one ", "length"));
  script.answer(200, openAiReply("two"));
  EXPECT_EQ(openAi()->complete(request())->text, "one two");
}

json anthropicUse(const json &id, const json &name, const json &input) {
  return {{"type", "tool_use"}, {"id", id}, {"name", name}, {"input", input}};
}

std::string anthropicUses(json blocks, const std::string &stop = "tool_use") {
  json reply = json::parse(anthropicReply("", stop));
  reply["content"] = std::move(blocks);
  return reply.dump();
}

std::string openAiUses(const json &calls, const std::string &finish = "tool_calls") {
  json reply = json::parse(openAiReply("", finish));
  reply["choices"][0]["message"] = {{"content", nullptr}, {"tool_calls", calls}};
  return reply.dump();
}

/// A conversation in which two tools were used, one of them in vain.
ChatRequest toolRequest() {
  ChatRequest request;
  request.system = "the rules";
  request.tools = {{"compile", "builds it", {{"type", "object"}}}, {"time", "times it", {}}};
  request.messages = {
      {"user", "the task"},
      {"assistant", "I try", {{"a", "compile", R"({"x":1})"}, {"b", "no such", "{broken"}}},
      {"user", "go on", {}, {{"a", "fine"}, {"b", "unknown", true}}}};
  return request;
}

TEST_F(HttpChatTest, AnthropicToolsUsesAndOutcomes) {
  script.answer(200, anthropicUses({{{"type", "text"}, {"text", "now"}},
                                    anthropicUse("c", "time", {{"n", 1}}),
                                    anthropicUse("d", "x", {})}));
  auto reply = must(anthropic()->complete(toolRequest()));
  EXPECT_EQ(reply.text, "now");
  ASSERT_EQ(reply.uses.size(), 2u);
  EXPECT_EQ(reply.uses[0].id, "c");
  EXPECT_EQ(reply.uses[0].name, "time");
  EXPECT_EQ(reply.uses[0].input, R"({"n":1})");
  EXPECT_EQ(reply.uses[1].input, "{}");
  const json body = json::parse(script.requests.at(0).body);
  EXPECT_EQ(body["tools"][0], json({{"name", "compile"},
                                    {"description", "builds it"},
                                    {"input_schema", {{"type", "object"}}}}));
  const json &said = body["messages"][1]["content"], &heard = body["messages"][2]["content"];
  EXPECT_EQ(said[0], json({{"type", "text"}, {"text", "I try"}}));
  EXPECT_EQ(said[1], anthropicUse("a", "compile", {{"x", 1}}));
  EXPECT_EQ(said[2], anthropicUse("b", "no_such", json::object())); // others are refused
  EXPECT_EQ(heard[0]["tool_use_id"], "a");
  EXPECT_EQ(heard[0]["content"], "fine");
  EXPECT_EQ(heard[0]["is_error"], false);
  EXPECT_EQ(heard[1]["is_error"], true);
  EXPECT_EQ(
      heard[2],
      json({{"type", "text"}, {"text", "go on"}, {"cache_control", {{"type", "ephemeral"}}}}));
}

TEST_F(HttpChatTest, OpenAiToolsUsesAndOutcomes) {
  script.answer(
      200, openAiUses({{{"id", "c"},
                        {"type", "function"},
                        {"function", {{"name", "time"}, {"arguments", "{\"n\": 1}"}}}},
                       {{"id", "d"}, {"function", {{"name", "x"}, {"arguments", {{"n", 2}}}}}}}));
  auto reply = must(openAi()->complete(toolRequest()));
  EXPECT_EQ(reply.text, "");
  ASSERT_EQ(reply.uses.size(), 2u);
  EXPECT_EQ(reply.uses[0].id, "c");
  EXPECT_EQ(reply.uses[0].input, "{\"n\": 1}"); // as the model wrote it
  EXPECT_EQ(reply.uses[1].input, R"({"n":2})");
  const json body = json::parse(script.requests.at(0).body);
  EXPECT_EQ(body["tools"][0]["type"], "function");
  EXPECT_EQ(body["tools"][0]["function"]["parameters"], json({{"type", "object"}}));
  const json &messages = body["messages"];
  ASSERT_EQ(messages.size(), 6u); // system, task, assistant, two outcomes, "go on"
  EXPECT_EQ(messages[2]["content"], "I try");
  EXPECT_EQ(messages[2]["tool_calls"][0]["function"],
            json({{"name", "compile"}, {"arguments", R"({"x":1})"}}));
  EXPECT_EQ(messages[2]["tool_calls"][1]["function"]["arguments"], "{}");
  EXPECT_EQ(messages[3], json({{"role", "tool"}, {"tool_call_id", "a"}, {"content", "fine"}}));
  EXPECT_EQ(messages[4]["content"], "failed: unknown");
  EXPECT_EQ(messages[5], json({{"role", "user"}, {"content", "go on"}}));
}

TEST_F(HttpChatTest, UsesWithoutAnIdOfTheirOwnGetOne) {
  script.answer(200, anthropicUses({anthropicUse("a", "time", {}), anthropicUse("n", "time", {}),
                                    anthropicUse("n", nullptr, 3), anthropicUse(7, "x", "y")}));
  auto uses = must(anthropic()->complete(toolRequest())).uses;
  ASSERT_EQ(uses.size(), 4u);
  std::set<std::string> ids{"a", "b", ""};
  for (const ToolUse &use : uses)
    EXPECT_TRUE(ids.insert(use.id).second) << use.id;
  EXPECT_EQ(uses[1].id, "n");
  EXPECT_EQ(uses[2].name, "");
  EXPECT_EQ(uses[2].input, "3");
}

TEST_F(HttpChatTest, AUseThatIsCutOffIsDroppedAndThoseBeforeItAreKept) {
  const json whole = anthropicUse("c", "time", {}), cut = anthropicUse("d", "time", {});
  script.answer(200, anthropicUses({whole, cut}, "max_tokens"));
  auto reply = must(anthropic()->complete(toolRequest()));
  ASSERT_EQ(reply.uses.size(), 1u);
  EXPECT_EQ(reply.uses[0].id, "c");
  EXPECT_EQ(script.requests.size(), 1u);
}

TEST_F(HttpChatTest, ACutUseAloneIsAskedForAgainAndShorter) {
  const json cut{{"id", "c"}, {"function", {{"name", "time"}, {"arguments", "{\"code\": \"in"}}}};
  script.answer(200, openAiUses(json::array({cut}), "length"));
  script.answer(200, openAiReply("done"));
  auto reply = must(openAi()->complete(toolRequest()));
  EXPECT_EQ(reply.text, "done");
  EXPECT_TRUE(reply.uses.empty());
  EXPECT_EQ(reply.outputTokens, 10);
  const json messages = json::parse(script.requests.at(1).body)["messages"];
  EXPECT_EQ(messages[messages.size() - 2]["role"], "assistant");
  EXPECT_THAT(messages.back()["content"].get<std::string>(), HasSubstr("shorter input"));
}

TEST_F(HttpChatTest, ToolsThatNobodyOfferedAreNotUsed) {
  script.answer(200, anthropicUses(json::array({anthropicUse("c", "time", {})})));
  EXPECT_THAT(anthropic()->complete(request()), fails({.what = HasSubstr("has none")}));
}

TEST_F(HttpChatTest, TheTimeLimitIsThatOfAllAttempts) {
  for (int i = 0; i < 6; ++i)
    script.answer(500, kLimited);
  ChatRequest hurried = request();
  hurried.timeout = Duration{5};
  EXPECT_THAT(anthropic()->complete(hurried),
              fails({.what = HasSubstr("in time, asked 3 times; the last: status 500")}));
  EXPECT_DOUBLE_EQ(clock.slept, 3);
  EXPECT_EQ(script.requests.at(2).timeout, Duration{2});
}

TEST_F(HttpChatTest, AStreamGivesTheSameReplyAsABody) {
  const fakes::WireReply wire{"let me see", {{"c", "time", R"({"n": 1})"}, {"d", "compile", ""}}};
  for (const bool isAnthropic : {true, false})
    for (const bool streamed : {true, false}) {
      script.answer(200, fakes::Way{isAnthropic, streamed}.body(wire));
      auto reply = must((isAnthropic ? anthropic() : openAi())->complete(toolRequest()));
      EXPECT_EQ(reply.text, "let me see");
      EXPECT_EQ(reply.model, "m-1");
      ASSERT_EQ(reply.uses.size(), 2u);
      EXPECT_EQ(reply.uses[0].id, "c");
      EXPECT_EQ(reply.uses[0].name, "time");
      EXPECT_EQ(json::parse(reply.uses[0].input), json({{"n", 1}}));
      EXPECT_EQ(reply.uses[1].name, "compile");
      EXPECT_EQ(reply.inputTokens, 150);
      EXPECT_EQ(reply.cachedTokens, 100);
      EXPECT_EQ(reply.cacheWriteTokens, isAnthropic ? 20 : 0);
      EXPECT_EQ(reply.outputTokens, 5);
      EXPECT_EQ(json::parse(script.requests.back().body)["stream"], true);
    }
  EXPECT_EQ(json::parse(script.requests.back().body)["stream_options"]["include_usage"], true);
  EXPECT_EQ(script.requests.size(), 4u);
}

TEST_F(HttpChatTest, TheTokensOfAStreamThatBrokeOffAreCountedToo) {
  std::string body = fakes::Way{true, true}.body({"hello"});
  script.answer(200, body.substr(0, body.find("event: message_delta")));
  script.answer(200, body);
  auto reply = must(anthropic()->complete(request()));
  EXPECT_EQ(reply.text, "hello");
  EXPECT_EQ(reply.inputTokens, 300);
  EXPECT_EQ(reply.outputTokens, 6);
}

TEST_F(HttpChatTest, AServiceThatCannotStreamIsAskedWithout) {
  script.answer(400, R"({"error":{"message":"unknown field stream_options"}})");
  script.answer(200, openAiReply("fine"));
  script.answer(200, openAiReply("still fine"));
  auto model = openAi();
  EXPECT_EQ(model->complete(request())->text, "fine");
  EXPECT_EQ(model->complete(request())->text, "still fine");
  EXPECT_DOUBLE_EQ(clock.slept, 0);
  EXPECT_TRUE(json::parse(script.requests[0].body).contains("stream"));
  EXPECT_FALSE(json::parse(script.requests[1].body).contains("stream"));
  EXPECT_FALSE(json::parse(script.requests[2].body).contains("stream"));
}

TEST_F(HttpChatTest, AReplyThatNeverEndsIsAnError) {
  for (int i = 0; i < 10; ++i)
    script.answer(200, anthropicReply("more ", "max_tokens"));
  EXPECT_THAT(anthropic({.continuations = 2})->complete(request()),
              fails({.what = HasSubstr("cut off 3 times")}));
  EXPECT_EQ(script.requests.size(), 3u);
}

TEST_F(HttpChatTest, ALimitSpentWithoutAWordIsAnError) {
  script.answer(200, openAiReply("", "length"));
  EXPECT_THAT(openAi()->complete(request()), fails({.what = HasSubstr("1000 tokens")}));
}

TEST_F(HttpChatTest, ARefusedKeyNamesTheVariableAndNeverTheKey) {
  script.answer(401, R"({"error":{"message":"invalid x-api-key"}})");
  auto reply = anthropic()->complete(request());
  ASSERT_THAT(reply, fails({.what = HasSubstr("401"), .hint = HasSubstr("ANTHROPIC_API_KEY")}));
  EXPECT_THAT(reply.error().what + reply.error().hint, Not(HasSubstr("secret-key")));
  EXPECT_EQ(script.requests.size(), 1u) << "a refused key is not tried again";
}

TEST_F(HttpChatTest, AnUnknownModelIsNamed) {
  script.answer(404, R"({"error":{"message":"model: model-a"}})");
  EXPECT_THAT(anthropic()->complete(request()),
              fails({.what = HasSubstr("does not know model \"model-a\"")}));
}

TEST_F(HttpChatTest, OtherRefusalsCarryTheServicesWords) {
  script.answer(400, R"({"error":{"message":"prompt is too long"}})");
  EXPECT_THAT(anthropic()->complete(request()),
              fails({.what = HasSubstr("status 400): prompt is too long")}));
}

TEST_F(HttpChatTest, AModelThatRefusesOrSaysNothingIsAnError) {
  script.answer(200, anthropicReply("", "refusal"));
  EXPECT_THAT(anthropic()->complete(request()).error().what, HasSubstr("refused"));
  script.answer(200, openAiReply("", "content_filter"));
  EXPECT_THAT(openAi()->complete(request()).error().what, HasSubstr("content filter"));
  script.answer(200, openAiReply("", "stop"));
  EXPECT_THAT(openAi()->complete(request()).error().what, HasSubstr("empty"));
}

TEST_F(HttpChatTest, BytesThatAreNotUtf8DoNotBreakTheRequest) {
  script.answer(200, anthropicReply("ok"));
  ChatRequest broken = request();
  broken.messages[0].text = "caf\xe9";
  EXPECT_TRUE(anthropic()->complete(broken));
  EXPECT_FALSE(json::parse(script.requests[0].body).is_discarded());
}

} // namespace
} // namespace kopt
