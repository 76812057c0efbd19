// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/Turn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using Next = Turn::Next;

Turn begun(TurnLimits limits = {}) { return Turn({{"user", "task"}}, 0, limits); }

ChatReply text(const std::string &words) { return {words, "m"}; }

ChatReply uses(std::vector<std::string> names) {
  ChatReply reply{"", "m"};
  for (const std::string &name : names)
    reply.uses.push_back({"id-" + name, name, "{}"});
  return reply;
}

TEST(Turn, EndsWithAReplyThatIsRead) {
  Turn turn = begun();
  EXPECT_EQ(turn.next(), Next::Call);
  turn.replied(text("code"));
  EXPECT_EQ(turn.next(), Next::Read);
  EXPECT_EQ(turn.reply(), "code");
}

TEST(Turn, AnswersAllUsesInOneMessage) {
  Turn turn = begun();
  turn.replied(uses({"compile", "sass"}));
  ASSERT_EQ(turn.next(), Next::Use);
  EXPECT_EQ(turn.use().name, "compile");
  turn.used("ok", false);
  ASSERT_EQ(turn.next(), Next::Use);
  EXPECT_EQ(turn.use().name, "sass");
  turn.used("no nvcc", true);
  ASSERT_EQ(turn.next(), Next::Call);
  const ChatMessage &answer = turn.messages().back();
  EXPECT_EQ(answer.role, "user");
  EXPECT_EQ(answer.text, "");
  ASSERT_EQ(answer.outcomes.size(), 2u);
  EXPECT_EQ(answer.outcomes[0].id, "id-compile");
  EXPECT_EQ(answer.outcomes[1].text, "no nvcc");
  EXPECT_TRUE(answer.outcomes[1].failed);
}

TEST(Turn, EndsALoopOfTools) {
  Turn turn = begun({.calls = 3});
  for (int call = 0; call < 2; ++call) {
    ASSERT_EQ(turn.next(), Next::Call);
    EXPECT_TRUE(turn.mayUseTools());
    turn.replied(uses({"check"}));
    turn.used("wrong", false);
  }
  ASSERT_EQ(turn.next(), Next::Call);
  EXPECT_FALSE(turn.mayUseTools());
  EXPECT_THAT(turn.messages().back().text, testing::HasSubstr("Reply now"));
  Turn obedient = turn;
  obedient.replied(text("code"));
  EXPECT_EQ(obedient.next(), Next::Read);
  turn.replied(uses({"check"}));
  EXPECT_EQ(turn.next(), Next::End);
  EXPECT_EQ(turn.why(), "it still used tools in the last of 3 calls");
}

TEST(Turn, CorrectsAReplyAsOftenAsItMay) {
  Turn turn = begun();
  turn.replied(text("prose"));
  turn.correct("no header", "Reply again");
  ASSERT_EQ(turn.next(), Next::Call);
  EXPECT_EQ(turn.messages().back().text, "Reply again");
  turn.replied(text("more prose"));
  ASSERT_EQ(turn.next(), Next::Read);
  turn.correct("still no header", "Reply again");
  EXPECT_EQ(turn.next(), Next::End);
  EXPECT_EQ(turn.why(), "its replies could not be used: still no header");
}

TEST(Turn, GoesOnAfterItsLastMessage) {
  Turn first = begun({.calls = 5});
  first.replied(uses({"compile", "check"}));
  const Turn withUses(first.messages(), 0, {.calls = 5});
  EXPECT_EQ(withUses.next(), Next::Use);
  EXPECT_EQ(withUses.use().name, "compile"); // a half-answered message is answered from its start
  first.used("a", false);
  first.used("b", false);
  EXPECT_EQ(Turn(first.messages(), 0, {.calls = 5}).next(), Next::Call);
  first.replied(text("prose"));
  first.correct("no header", "Reply again");
  first.replied(text("prose"));
  Turn again(first.messages(), 0, {.calls = 5});
  ASSERT_EQ(again.next(), Next::Read);
  again.correct("no header", "Reply again");
  EXPECT_EQ(again.next(), Next::End); // the correction before the interruption counts
}

TEST(Turn, CountsOnlyWhatIsItsOwnOfAConversation) {
  const std::vector<ChatMessage> messages = {
      {"user", "task"}, {"assistant", "code"}, {"user", "evidence"}};
  Turn turn(messages, 2, {.calls = 2});
  EXPECT_TRUE(turn.mayUseTools());
  turn.replied(text("prose"));
  turn.correct("no header", "Reply again");
  EXPECT_EQ(turn.next(), Next::Call);
}

} // namespace
} // namespace kopt
