// SPDX-License-Identifier: Apache-2.0
// Retries, continuation and errors, the same for every provider, over a client that answers from a
// list.
#include "driver/llm/Models.h"
#include "tests/fakes/FakeClock.h"
#include "tests/fakes/FakeHttpClient.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

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
  auto reply = anthropic()->complete(request());
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->text, "hello");
  EXPECT_EQ(reply->model, "m-1");
  EXPECT_EQ(reply->inputTokens, 130);
  EXPECT_EQ(reply->cachedTokens, 100);
  EXPECT_EQ(reply->outputTokens, 5);
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
  EXPECT_EQ(body["messages"][0]["content"], "the task");
}

TEST_F(HttpChatTest, OpenAiRequestAndReply) {
  script.answer(200, openAiReply("hello"));
  auto reply = openAi()->complete(request());
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->text, "hello");
  EXPECT_EQ(reply->inputTokens, 130);
  EXPECT_EQ(reply->cachedTokens, 100);
  EXPECT_EQ(reply->outputTokens, 5);
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
  auto reply = anthropic()->complete(request());
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->text, "at last");
  EXPECT_DOUBLE_EQ(clock.slept, 7 + 2 + 4); // the delay of 1 s is replaced by what was asked for
  EXPECT_EQ(script.requests.size(), 4u);
}

TEST_F(HttpChatTest, AnHourOfRetryAfterIsAnErrorAtOnce) {
  script.answer(429, kLimited, {{"retry-after", "3600"}});
  auto reply = anthropic()->complete(request());
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().what.find("asks to wait 3600 s"), std::string::npos)
      << reply.error().what;
  EXPECT_DOUBLE_EQ(clock.slept, 0);
}

TEST_F(HttpChatTest, GivesUpAfterItsAttemptsWithTheLastReason) {
  for (int i = 0; i < 3; ++i)
    script.answer(500, R"({"error":"out of order"})");
  auto reply = anthropic({.attempts = 3})->complete(request());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::Environment);
  EXPECT_NE(reply.error().what.find("3 attempts; the last: status 500: out of order"),
            std::string::npos)
      << reply.error().what;
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
  auto reply = anthropic()->complete(request());
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->text, "first half, second");
  EXPECT_EQ(reply->outputTokens, 10);
  json second = json::parse(script.requests.at(1).body);
  ASSERT_EQ(second["messages"].size(), 3u);
  EXPECT_EQ(second["messages"][1]["role"], "assistant");
  EXPECT_EQ(second["messages"][1]["content"], "first ha");
  EXPECT_EQ(second["messages"][2]["role"], "user");
}

TEST_F(HttpChatTest, OpenAiCutOffIsContinuedToo) {
  script.answer(200, openAiReply("one ", "length"));
  script.answer(200, openAiReply("two"));
  EXPECT_EQ(openAi()->complete(request())->text, "one two");
}

TEST_F(HttpChatTest, AReplyThatNeverEndsIsAnError) {
  for (int i = 0; i < 10; ++i)
    script.answer(200, anthropicReply("more ", "max_tokens"));
  auto reply = anthropic({.continuations = 2})->complete(request());
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().what.find("cut off 3 times"), std::string::npos);
  EXPECT_EQ(script.requests.size(), 3u);
}

TEST_F(HttpChatTest, ALimitSpentWithoutAWordIsAnError) {
  script.answer(200, openAiReply("", "length"));
  auto reply = openAi()->complete(request());
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().what.find("1000 tokens"), std::string::npos);
}

TEST_F(HttpChatTest, ARefusedKeyNamesTheVariableAndNeverTheKey) {
  script.answer(401, R"({"error":{"message":"invalid x-api-key"}})");
  auto reply = anthropic()->complete(request());
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().what.find("401"), std::string::npos);
  EXPECT_NE(reply.error().hint.find("ANTHROPIC_API_KEY"), std::string::npos);
  EXPECT_EQ((reply.error().what + reply.error().hint).find("secret-key"), std::string::npos);
  EXPECT_EQ(script.requests.size(), 1u) << "a refused key is not tried again";
}

TEST_F(HttpChatTest, AnUnknownModelIsNamed) {
  script.answer(404, R"({"error":{"message":"model: model-a"}})");
  auto reply = anthropic()->complete(request());
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().what.find("does not know model \"model-a\""), std::string::npos);
}

TEST_F(HttpChatTest, OtherRefusalsCarryTheServicesWords) {
  script.answer(400, R"({"error":{"message":"prompt is too long"}})");
  auto reply = anthropic()->complete(request());
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().what.find("status 400): prompt is too long"), std::string::npos)
      << reply.error().what;
}

TEST_F(HttpChatTest, AModelThatRefusesOrSaysNothingIsAnError) {
  script.answer(200, anthropicReply("", "refusal"));
  EXPECT_NE(anthropic()->complete(request()).error().what.find("refused"), std::string::npos);
  script.answer(200, openAiReply("", "content_filter"));
  EXPECT_NE(openAi()->complete(request()).error().what.find("content filter"), std::string::npos);
  script.answer(200, openAiReply("", "stop"));
  EXPECT_NE(openAi()->complete(request()).error().what.find("empty"), std::string::npos);
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
