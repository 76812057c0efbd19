// SPDX-License-Identifier: Apache-2.0
// What services do that they should not: each kind against both protocols, streamed and not. The
// first table has what arrives whole, over a client that answers from a list; the second has what
// happens to connections, over real sockets.
#include "driver/llm/HttpClient.h"
#include "driver/llm/Models.h"
#include "driver/llm/Wire.h"
#include "tests/fakes/FakeClock.h"
#include "tests/fakes/FakeHttpClient.h"
#include "tests/fakes/WireReply.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {
namespace {

using fakes::Way;
using fakes::WireReply;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kKey = "sk-0123456789-abcdefghij";

/// The body of that reply with one text in it replaced by another.
std::string edited(const Way &way, const WireReply &reply, const std::string &from,
                   const std::string &to) {
  std::string text = way.body(reply);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from << " in " << text;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

ChatRequest toolsRequest() {
  ChatRequest request;
  request.purpose = "coder";
  request.system = "the rules";
  request.tools = {{"time", "times it", {{"type", "object"}}}};
  request.messages = {{"user", "the task"}};
  request.maxTokens = 1000;
  return request;
}

/// Nothing that a person or a file will see has the key, or half of it.
void expectNoKey(const Result<ChatReply> &reply) {
  std::string seen = reply ? reply->text + reply->model
                           : reply.error().what + reply.error().hint + reply.error().where;
  if (reply)
    for (const ToolUse &use : reply->uses)
      seen += use.id + use.name + use.input;
  EXPECT_THAT(seen, Not(HasSubstr("sk-0123456789")));
}

struct Step {
  long status = 200; ///< 0: no answer
  std::string body;
  std::map<std::string, std::string> headers{};
};

struct Kind {
  std::string name;
  std::function<std::vector<Step>(const Way &)> steps;
  std::string text = "fine"; ///< of the reply
  std::string error{};       ///< or words of the error
  std::size_t requests = 2;
  double slept = 1;
  std::size_t uses = 0;
  long output = 5; ///< tokens
};

std::string errorBody(const std::string &message) {
  return json{{"error", {{"type", "x"}, {"message", message}}}}.dump();
}
std::vector<Step> thenFine(const Way &way, std::vector<Step> steps) {
  steps.push_back({200, way.body({"fine"})});
  return steps;
}
/// A body that is no reply, and then one.
Kind garbage(const std::string &name, const std::string &body) {
  return {name, [body](const Way &way) { return thenFine(way, {{200, body}}); }};
}
Kind always(const std::string &name, const Step &step, const std::string &error,
            std::size_t requests = 1, double slept = 0) {
  return {name, [step](const Way &) { return std::vector<Step>(8, step); }, "", error, requests,
          slept};
}
Kind reply(const std::string &name, const WireReply &reply, const std::string &text,
           std::size_t uses = 0) {
  return {name, [reply](const Way &way) { return std::vector<Step>{{200, way.body(reply)}}; },
          text, "",
          1,    0,
          uses};
}
std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

const WireReply kUse{"", {{"c", "time", "{}"}}};

std::vector<Kind> limits() {
  std::vector<Kind> kinds;
  for (const auto &[after, seconds] : std::vector<std::pair<std::string, double>>{
           {"7", 7}, {"0.5", 0.5}, {"-3", 1}, {"nan", 1}, {"Wed, 21 Oct 2026 07:28:00 GMT", 1}})
    kinds.push_back({"RetryAfter" + after,
                     [after = after](const Way &way) {
                       return thenFine(way, {{429, errorBody("slow"), {{"retry-after", after}}}});
                     },
                     "fine", "", 2, seconds});
  kinds.push_back(
      {"LimitWithoutRetryAfter", [](const Way &way) { return thenFine(way, {{429, "{}"}}); }});
  for (const char *after : {"3600", "inf", "1e999"})
    kinds.push_back(always(std::string("RetryAfterIsTooLong") + after,
                           {429, errorBody("slow"), {{"retry-after", after}}}, "asks to wait"));
  kinds.push_back({"ServerErrors",
                   [](const Way &way) {
                     return thenFine(way, {{500, "oops"},
                                           {502, ""},
                                           {503, errorBody("down")},
                                           {529, errorBody("overloaded")}});
                   },
                   "fine", "", 5, 1 + 2 + 4 + 8});
  kinds.push_back({"RequestTimeout", [](const Way &way) { return thenFine(way, {{408, ""}}); }});
  kinds.push_back(always("OverloadedForEver", {529, errorBody("overloaded")},
                         "6 attempts; the last: status 529: overloaded", 6, 31));
  kinds.push_back({"NoConnection", [](const Way &way) { return thenFine(way, {{0, ""}}); }});
  kinds.push_back(always("NeverAConnection", {0, ""}, "no answer", 6, 31));
  return kinds;
}

std::vector<Kind> refusals() {
  const std::string long_(290, 'x');
  return {
      always("WrongKey", {401, errorBody("invalid key")}, "refused the key (status 401): invalid"),
      always("Forbidden", {403, errorBody("no")}, "refused the key (status 403)"),
      always("UnknownModel", {404, errorBody("model: x")}, "does not know model \"model\""),
      always("BadRequest", {400, errorBody("too long")}, "(status 400): too long"),
      always("ErrorIsAText", {422, R"({"error":"no such field"})"}, "(status 422): no such field"),
      always("ErrorHasAMessage", {413, R"({"message":"too large"})"}, "(status 413): too large"),
      always("ErrorIsAPage", {400, "<html><body>no</body></html>"}, "(status 400): no message"),
      always("ErrorIsBinary", {400, std::string("\0\xff\x1b[2J", 6)}, "(status 400): no message"),
      always("ErrorHasControls", {400, errorBody("a\x1b[2J\nb")}, "(status 400): a [2J b"),
      always("ErrorIsNotUtf8", {400, "{\"error\":\"caf\xe9\"}"}, "caf\xEF\xBF\xBD"),
      always("Redirect", {302, "", {{"location", "http://other/"}}}, "(status 302)"),
      always("NoStatus", {1, ""}, "(status 1)"),
      always("KeyInError", {401, errorBody("wrong key " + kKey)}, "wrong key (the key)"),
      always("KeyInBadRequest", {400, errorBody("header x-api-key: " + kKey)}, "(the key)"),
      always("KeyInServerError", {500, errorBody("with " + kKey)}, "with (the key)", 6, 31),
      always("KeyAtTheCut", {400, errorBody(long_ + kKey)}, "(the key"),
      {"KeyInPageThenFine",
       [](const Way &way) { return thenFine(way, {{502, "<html>Bearer " + kKey + "</html>"}}); }},
      {"KeyInReply",
       [](const Way &way) { return std::vector<Step>{{200, way.body({"I know " + kKey})}}; },
       "I know (the key)", "", 1, 0},
      {"KeyInUse",
       [](const Way &way) {
         return std::vector<Step>{{200, way.body({"", {{"c", kKey, "{\"a\":\"" + kKey + "\"}"}}})}};
       },
       "", "", 1, 0, 1},
      {"Refusal",
       [](const Way &way) {
         return std::vector<Step>{{200, way.anthropic ? way.body({"", {}, false, "refusal"})
                                                      : edited(way, {"x"}, "\"content\":\"x\"",
                                                               "\"refusal\":\"I won't\"")}};
       },
       "", "gave no reply", 1, 0},
      {"ContentFilter",
       [](const Way &way) {
         return std::vector<Step>{
             {200, way.body({"half", {}, false, way.anthropic ? "refusal" : "content_filter"})}};
       },
       "", "gave no reply", 1, 0},
      {"EmptyReply", [](const Way &way) { return std::vector<Step>{{200, way.body({""})}}; }, "",
       "the reply is empty", 1, 0},
      {"CannotStream",
       [](const Way &way) {
         std::vector<Step> steps{{400, errorBody("stream is not supported")}};
         return thenFine(way, way.streamed ? steps : std::vector<Step>{});
       },
       "fine", "", 0, 0},
  };
}

std::vector<Kind> cuts() {
  const auto then = [](const WireReply &cut, const WireReply &rest) {
    return [=](const Way &way) {
      return std::vector<Step>{{200, way.body(cut)}, {200, way.body(rest)}};
    };
  };
  const fakes::WireUse use{"c", "time", "{}"}, half{"d", "time", "{\"a\": \"b"};
  return {
      {"CutOffOnce", then({"first ha", {}, true}, {"lf"}), "first half", "", 2, 0, 0, 10},
      {"CutOffAlways",
       [](const Way &way) { return std::vector<Step>(8, {200, way.body({"more", {}, true})}); }, "",
       "cut off 5 times", 5, 0},
      {"CutOffWithoutAWord",
       [](const Way &way) { return std::vector<Step>{{200, way.body({"", {}, true})}}; }, "",
       "without writing a word", 1, 0},
      {"CutOffWithinAUse", then({"I ", {half}, true}, {"try", {use}}), "I try", "", 2, 0, 1, 10},
      {"CutOffWithinASecondUse", then({"", {use, half}, true}, {"not asked"}), "", "", 1, 0, 1, 5},
      {"CutOffWithinAUseAlways",
       [half](const Way &way) { return std::vector<Step>(8, {200, way.body({"", {half}, true})}); },
       "", "cut off 5 times", 5, 0},
      {"CutOffThenDown",
       [](const Way &way) {
         return std::vector<Step>{
             {200, way.body({"a", {}, true})}, {503, ""}, {200, way.body({"b"})}};
       },
       "ab", "", 3, 1, 0, 10},
  };
}

std::vector<Kind> uses() {
  return {
      reply("UnknownTool", {"", {{"c", "rm -rf", "{}"}}}, "", 1),
      reply("ArgumentsAreNoJson", {"", {{"c", "time", "{\"a\": "}}}, "", 1),
      reply("ArgumentsAreNoObject", {"", {{"c", "time", "[1]"}, {"d", "time", "3"}}}, "", 2),
      reply("NoArguments", {"", {{"c", "time", ""}}}, "", 1),
      reply("SameIds", {"", {{"c", "time", "{}"}, {"c", "time", "{}"}, {"c", "x", "{}"}}}, "", 3),
      reply("NoIds", {"", {{nullptr, "time", "{}"}, {7, "time", "{}"}, {"", "time", "{}"}}}, "", 3),
      reply("NoName", {"", {{"c", nullptr, "{}"}, {"d", 5, "{}"}}}, "", 2),
      reply("NameIsHuge", {"", {{"c", std::string(100'000, 'n'), "{}"}}}, "", 1),
      reply("ManyUses", {"", std::vector<fakes::WireUse>(500, {"c", "time", "{}"})}, "", 500),
      reply("UsesAndStop", {"text", {{"c", "time", "{}"}}, false, "stop"}, "text", 1),
      reply("UnknownStop", {"text", {}, false, "who knows"}, "text"),
      reply("StopForUsesWithoutAny", {"text", {}, false, "tool_calls"}, "text"),
      {"ArgumentsAreDeep",
       [](const Way &way) { // in one piece of JSON deeper ones are no reply: see bodies()
         const bool isJson = way.anthropic && !way.streamed;
         return std::vector<Step>{
             {200, way.body({"", {{"c", "time", nested(isJson ? 40 : 100'000)}}})}};
       },
       "", "", 1, 0, 1},
  };
}

std::vector<Kind> counts() {
  const auto with = [](const json &output, long expected, const std::string &name) -> Kind {
    return {name,
            [output](const Way &way) {
              return std::vector<Step>{{200, way.body({"fine", {}, false, "", 30, output})}};
            },
            "fine",
            "",
            1,
            0,
            0,
            expected};
  };
  return {
      with(-5, 0, "NegativeTokens"),
      with(1e300, 0, "AbsurdTokens"),
      with(std::uint64_t(-1), 1'000'000'000'000, "OverflowingTokens"),
      with("many", 0, "TokensAreAText"),
      with(nullptr, 0, "TokensAreNull"),
      {"NoUsage",
       [](const Way &way) {
         std::string body = way.body({"fine"});
         for (std::size_t at; (at = body.find("\"usage\":")) != body.npos;)
           body.replace(at, 7, "\"other\"");
         return std::vector<Step>{{200, body}};
       },
       "fine", "", 1, 0, 0, 0},
      {"UsageIsAList",
       [](const Way &way) {
         std::string body = way.body({"fine"});
         for (std::size_t at; (at = body.find("\"usage\":{")) != body.npos;)
           body.replace(at, 9, "\"usage\":[],\"other\":{");
         return std::vector<Step>{{200, body}};
       },
       "fine", "", 1, 0, 0, 0},
  };
}

std::vector<Kind> bodies() {
  std::vector<Kind> kinds{
      garbage("NoBody", ""),
      garbage("Blanks", " \r\n\t\n"),
      garbage("Null", "null"),
      garbage("AList", "[]"),
      garbage("AnEmptyObject", "{}"),
      garbage("AText", "\"fine\""),
      garbage("APage", "<html><body>bad gateway</body></html>"),
      garbage("Words", "upstream connect error"),
      garbage("HalfJson", "{\"content\": [{\"type\""),
      garbage("Binary", std::string("\0\x01\xff\xfe\0data: \0\n\n", 14)),
      garbage("Deep", nested(1'000'000)),
      garbage("DeepObject", "{\"content\":" + nested(5000) + "}"),
      garbage("ErrorInPlaceOfAReply", errorBody("overloaded")),
      garbage("WrongTypes", R"({"content":7,"choices":{"0":1}})"),
      garbage("WrongTypesWithin", R"({"content":"x","choices":[{"message":[1]}]})"),
      garbage("NullsWithin", R"({"content":null,"choices":[null]})"),
      garbage("DoneAlone", "data: [DONE]\n\n"),
      garbage("EventsOfNothing", "data: {}\n\ndata: {}\n\n: ping\n\n"),
      garbage("EventIsNoJson", "data: {\"type\": \n\n"),
      garbage("EventIsAList", "data: [1]\n\n"),
      garbage("EventIsDeep", "data: " + nested(100'000) + "\n\n"),
      garbage("ErrorEvent",
              "data: {\"type\":\"error\",\"error\":{\"message\":\"overloaded\"}}\n\n"),
      garbage("ErrorEventIsAText", "event: error\ndata: {\"error\":\"overloaded\"}\n\n"),
      garbage("EndWithoutABeginning", "data: {\"type\":\"message_stop\"}\n\ndata: [DONE]\n\n"),
  };
  kinds.push_back({"Truncated",
                   [](const Way &way) {
                     const std::string body = way.body({"a long reply"});
                     return thenFine(way, {{200, body.substr(0, body.find("long") + 2)}});
                   },
                   "fine", "", 2, 1, 0, -1});
  kinds.push_back(
      {"TruncatedAndCutConnection",
       [](const Way &way) {
         return thenFine(
             way, {{200, way.body({"a long reply"}).substr(0, 150), {{"content-length", "9999"}}}});
       },
       "fine", "", 2, 1, 0, -1});
  kinds.push_back({"ErrorWithinAReply",
                   [](const Way &way) {
                     std::string body = way.body({"a long reply"});
                     if (way.streamed)
                       body.insert(body.find("event: ", body.size() / 2),
                                   "data: " + errorBody("overloaded " + kKey) + "\n\n");
                     else
                       body = errorBody("overloaded " + kKey);
                     return thenFine(way, {{200, body}});
                   },
                   "fine", "", 2, 1, 0, -1});
  kinds.push_back({"OtherProtocol", [](const Way &way) {
                     return thenFine(way,
                                     {{200, Way{!way.anthropic, way.streamed}.body({"fine"})}});
                   }});
  kinds.push_back({"PlainForStreamAndStreamForPlain",
                   [](const Way &way) {
                     return std::vector<Step>{
                         {200, Way{way.anthropic, !way.streamed}.body({"fine"})}};
                   },
                   "fine", "", 1, 0});
  kinds.push_back({"MoreAfterTheEnd",
                   [](const Way &way) {
                     return std::vector<Step>{
                         {200, way.body({"fine"}) + (way.streamed ? "data: {{{\n\n" : "\n\n")}};
                   },
                   "fine", "", 1, 0});
  kinds.push_back({"NotUtf8",
                   [](const Way &way) {
                     return std::vector<Step>{
                         {200, edited(way, {"caf_"}, way.streamed ? "f_" : "caf_",
                                      way.streamed ? "f\xe9" : "caf\xe9")}};
                   },
                   "caf\xEF\xBF\xBD", "", 1, 0});
  kinds.push_back({"AbsurdIndex",
                   [](const Way &way) {
                     if (!way.streamed)
                       return thenFine(way, {});
                     std::string body = way.body(kUse);
                     for (std::size_t at = 0; (at = body.find("\"index\":0", at)) != body.npos;)
                       body.replace(at, 9, "\"index\":4000000000");
                     return thenFine(way, {{200, body}});
                   },
                   "fine", "", 0, -1, 0, -1});
  return kinds;
}

class Misbehaviours : public testing::TestWithParam<Way> {
protected:
  void play(const std::vector<Kind> &kinds) {
    for (const Kind &kind : kinds) {
      SCOPED_TRACE(kind.name);
      play(kind);
    }
  }

private:
  void play(const Kind &kind) {
    const Way &way = GetParam();
    fakes::FakeHttpClient::Script script;
    for (const Step &step : kind.steps(way))
      if (step.status == 0)
        script.fail("no answer from http://host: connection reset");
      else
        script.answer(step.status, step.body, step.headers);
    fakes::FakeClock clock;
    const auto model =
        way.model(kKey, "http://host", std::make_unique<fakes::FakeHttpClient>(script), clock);
    const ChatRequest request = toolsRequest();
    const Result<ChatReply> reply = model->complete(request);
    expectNoKey(reply);
    if (kind.requests > 0)
      EXPECT_EQ(script.requests.size(), kind.requests);
    if (kind.slept >= 0)
      EXPECT_DOUBLE_EQ(clock.slept, kind.slept);
    EXPECT_LE(clock.slept, request.timeout.count());
    if (!kind.error.empty()) {
      ASSERT_FALSE(reply) << reply->text;
      EXPECT_EQ(reply.error().code, ErrorCode::Environment);
      EXPECT_THAT(reply.error().what, HasSubstr(kind.error));
      EXPECT_LT(reply.error().what.size(), 500u);
      return;
    }
    ASSERT_TRUE(reply) << reply.error().what;
    EXPECT_EQ(reply->text, kind.text);
    EXPECT_EQ(reply->uses.size(), kind.uses);
    expectTokens(kind, *reply);
    expectAnswerable(*model, request, *reply, script);
  }

  /// In a stream the first event has counted one token, and of a broken one that is all.
  void expectTokens(const Kind &kind, const ChatReply &reply) const {
    const bool mayHaveOne = GetParam().anthropic && kind.output == 0;
    if (kind.output >= 0)
      EXPECT_THAT(reply.outputTokens,
                  testing::AllOf(testing::Ge(kind.output), testing::Le(kind.output + mayHaveOne)));
    EXPECT_GE(reply.inputTokens, reply.cachedTokens + reply.cacheWriteTokens);
    if (kind.output > 0)
      EXPECT_EQ(reply.inputTokens, 150 * std::max(1l, kind.output / 5 % 1000));
  }

  /// Whatever was used, the conversation goes on: with ids of their own and what services take.
  void expectAnswerable(ChatModel &model, ChatRequest request, const ChatReply &reply,
                        fakes::FakeHttpClient::Script &script) const {
    if (reply.uses.empty())
      return;
    ChatMessage said{"assistant", reply.text, reply.uses}, heard{"user", "", {}, {}};
    std::set<std::string> ids;
    for (const ToolUse &use : reply.uses) {
      EXPECT_TRUE(!use.id.empty() && ids.insert(use.id).second) << use.id;
      heard.outcomes.push_back({use.id, "no such tool", true});
    }
    request.messages.push_back(said);
    request.messages.push_back(heard);
    script.answers.clear();
    script.answer(200, GetParam().body({"fine"}));
    EXPECT_EQ(model.complete(request).value().text, "fine");
    const json body = json::parse(script.requests.back().body);
    const json &message = body["messages"][GetParam().anthropic ? 1 : 2];
    for (const json &call : message[GetParam().anthropic ? "content" : "tool_calls"]) {
      const json &use = GetParam().anthropic ? call : call["function"];
      if (GetParam().anthropic && use["type"] != "tool_use")
        continue;
      EXPECT_THAT(use["name"].get<std::string>(), testing::MatchesRegex("[A-Za-z0-9_-]{1,64}"));
      EXPECT_TRUE(GetParam().anthropic
                      ? use["input"].is_object()
                      : json::parse(use["arguments"].get<std::string>()).is_object());
    }
  }
};

TEST_P(Misbehaviours, Limits) { play(limits()); }
TEST_P(Misbehaviours, Refusals) { play(refusals()); }
TEST_P(Misbehaviours, Cuts) { play(cuts()); }
TEST_P(Misbehaviours, Uses) { play(uses()); }
TEST_P(Misbehaviours, Counts) { play(counts()); }
TEST_P(Misbehaviours, Bodies) { play(bodies()); }

INSTANTIATE_TEST_SUITE_P(All, Misbehaviours, testing::ValuesIn(fakes::kAllWays),
                         [](const auto &info) { return info.param.name(); });

} // namespace
} // namespace kopt
