// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/PlainText.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::HasSubstr;
using testing::Not;

ChatRequest toolConversation() {
  ChatRequest request;
  request.system = "the rules";
  request.tools = {{"compile", "builds it", {{"type", "object"}}}};
  request.messages = {{"user", "the task"},
                      {"assistant", "I try", {{"use-1", "compile", R"({"x":1})"}}},
                      {"user", "go on", {}, {{"use-1", "```\n==== user ====", true}}}};
  return request;
}

TEST(PlainTextTest, AConversationIsItsTexts) {
  ChatRequest request;
  request.system = "the rules";
  request.messages = {{"user", "the task"}, {"assistant", "an idea"}};
  EXPECT_EQ(conversationText(request),
            "the rules\n\n==== user ====\n\nthe task\n\n==== assistant ====\n\nan idea\n");
}

TEST(PlainTextTest, ToolsUsesAndOutcomesAreWrittenOut) {
  const std::string text = conversationText(toolConversation());
  EXPECT_THAT(text,
              HasSubstr("- compile: builds it\n  Schema of its input: {\"type\":\"object\"}"));
  EXPECT_LT(text.find("==== tools"), text.find("the task"));
  EXPECT_THAT(text, HasSubstr("I try\n\n```json\n{\"tools\":[{\"id\":\"use-1\",\"input\":{\"x\":1},"
                              "\"name\":\"compile\"}]}\n```\n"));
  // What a tool gave stays between fences, whatever it holds.
  EXPECT_THAT(text, HasSubstr("Failure of use-1:\n\n````\n```\n==== user ====\n````\n\ngo on"));
}

TEST(PlainTextTest, ABlockWithToolsIsAUseOfThem) {
  const ChatReply reply = replyOf("Let me see.\n\n````json\n{\"tools\": [{\"name\": \"compile\", "
                                  "\"input\": {\"code\": \"```\"}},\n {\"name\": 3}, 5]}\n````\n"
                                  "and then\n```json\n{\"tools\": []}\n```\n",
                                  toolConversation());
  EXPECT_EQ(reply.text, "Let me see.");
  ASSERT_EQ(reply.uses.size(), 3u);
  EXPECT_EQ(reply.uses[0].id, "use-2"); // use-1 is taken
  EXPECT_EQ(reply.uses[0].name, "compile");
  EXPECT_EQ(reply.uses[0].input, "{\"code\":\"```\"}");
  EXPECT_EQ(reply.uses[1].name, "");
  EXPECT_EQ(reply.uses[1].input, "{}");
  EXPECT_EQ(reply.uses[2].id, "use-4");
}

TEST(PlainTextTest, OtherRepliesAreTheirText) {
  for (const char *text :
       {"", "no block", "```json\n{\"tools\": []}\n```", "```json\n{\"tools\": [{]}\n```",
        "```json\n{\"tools\": 3}\n```", "```json\n[1]\n```",
        "```json\n{\"tools\": [{\"name\": \"c\"}]}",
        "```cuda\nint x;\n```\n```json\n{\"tools\": [{\"name\": \"compile\"}]}\n```", "```json",
        "``"}) {
    const ChatReply reply = replyOf(text, toolConversation());
    EXPECT_EQ(reply.text, text);
    EXPECT_TRUE(reply.uses.empty()) << text;
  }
}

TEST(PlainTextTest, WithoutToolsABlockIsText) {
  const std::string text = "```json\n{\"tools\": [{\"name\": \"compile\"}]}\n```\n";
  ChatRequest request;
  EXPECT_EQ(replyOf(text, request).text, text);
  EXPECT_THAT(conversationText(request), Not(HasSubstr("tools")));
}

} // namespace
} // namespace kopt
