// SPDX-License-Identifier: Apache-2.0
// What happens to connections, over real sockets: to the client alone, and to models over it, with
// both protocols, streamed and not. Misbehaviours.cpp has what services say.
#include "driver/llm/HttpClient.h"
#include "driver/llm/Models.h"
#include "tests/fakes/LoopbackServer.h"
#include "tests/fakes/Results.h"
#include "tests/fakes/WireReply.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using fakes::LoopbackServer;
using fakes::Treatment;
using testing::HasSubstr;
using testing::Not;

const std::string kSecret = "sk-0123456789-abcdefghij";

const std::string kFine = "fine \xC3\xA9";

std::string head(const std::string &more, const std::string &status = "200 OK") {
  return "HTTP/1.1 " + status + "\r\n" + more + "\r\n";
}
std::string withLength(const std::string &body, std::size_t length) {
  return head("content-length: " + std::to_string(length) + "\r\n") + body;
}
std::string whole(const std::string &body) { return withLength(body, body.size()); }
std::string chunked(const std::string &body, std::size_t piece) {
  std::string text = head("transfer-encoding: chunked\r\n");
  for (std::size_t at = 0; at < body.size(); at += piece) {
    const std::string part = body.substr(at, piece);
    char size[20];
    snprintf(size, sizeof size, "%zx\r\n", part.size());
    text += size + part + "\r\n";
  }
  return text + "0\r\n\r\n";
}

double secondsOf(const std::function<void()> &work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return Duration(std::chrono::steady_clock::now() - begin).count();
}

class HttpClientTest : public testing::Test {
protected:
  void SetUp() override { setenv("NO_PROXY", "127.0.0.1", 1); }
  std::unique_ptr<HttpClient> http_ = makeHttpClient();
};

TEST_F(HttpClientTest, AStreamArrivesInPiecesAndEndsWhenThereIsEnough) {
  LoopbackServer server({{head("") + "one two", 3, false, Treatment::Hang}});
  std::string taken;
  std::size_t pieces = 0;
  HttpRequest request{server.url(), {}, "body"};
  const auto take = [&](std::string_view bytes) {
    taken += bytes;
    ++pieces;
    return taken.find("two") == taken.npos;
  };
  EXPECT_LT(secondsOf([&] { EXPECT_EQ(must(http_->stream(request, take)).status, 200); }), 5);
  EXPECT_EQ(taken, "one two");
  EXPECT_GT(pieces, 1u);
}

TEST_F(HttpClientTest, TheBodyOfAnErrorIsNotStreamed) {
  LoopbackServer server({{head("content-length: 2\r\n", "500 no") + "no"}});
  const auto response = must(http_->stream({server.url(), {}, ""}, [](std::string_view) {
    ADD_FAILURE();
    return true;
  }));
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "no");
}

TEST_F(HttpClientTest, AnAnswerThatStallsIsCutAndOneThatHasNotBegunIsWaitedFor) {
  LoopbackServer server({{head("content-length: 9\r\n") + "half", 0, false, Treatment::Hang},
                         {"", 0, false, Treatment::Hang}});
  HttpRequest request{server.url(), {}, "body", Duration{20}, Duration{0.2}};
  EXPECT_LT(secondsOf([&] {
              EXPECT_THAT(http_->post(request), fails({.what = HasSubstr("stalled for 200 ms")}));
            }),
            10);
  request.timeout = Duration{0.5};
  EXPECT_THAT(http_->post(request), fails({.what = Not(HasSubstr("stalled"))}));
}

struct Fate {
  std::string name;
  std::function<std::vector<Treatment>(const std::string &fine)> treatments;
  std::string error{}; ///< none: the reply comes
  std::size_t connections = 2;
  double timeout = 20;
  bool breaksOff = false; ///< in the middle of a reply
};

/// Once, and then a reply.
Fate once(const std::string &name, const Treatment &treatment) {
  return {name, [treatment](const std::string &fine) {
            return std::vector<Treatment>{treatment, {whole(fine)}};
          }};
}
Fate atLast(const std::string &name, const Treatment &treatment, double timeout,
            const std::string &error = "did not answer in time") {
  return {name, [treatment](const std::string &) { return std::vector{treatment}; }, error, 0,
          timeout};
}

std::vector<Fate> fates() {
  const std::string drip = head("content-type: text/event-stream\r\n");
  const auto with = [](const std::string &name, std::string (*bytes)(const std::string &),
                       std::size_t connections, std::size_t piece = 0) -> Fate {
    return {name,
            [=](const std::string &fine) {
              return std::vector<Treatment>{{bytes(fine), piece}, {whole(fine)}};
            },
            "",
            connections,
            20,
            connections == 2};
  };
  return {
      once("ClosedAtOnce", {""}),
      once("ClosedBeforeTheRequest", {"", 0, false, Treatment::Close, false}),
      once("Reset", {"", 0, false, Treatment::Reset}),
      once("ResetAfterHead", {head("content-length: 100\r\n"), 0, false, Treatment::Reset}),
      once("NoHttp", {"BANANA\r\n\r\n"}),
      once("Binary", {std::string("\0\x01\x02\xff\r\n\r\n", 8)}),
      once("TlsInPlaceOfHttp", {"\x15\x03\x01\x02\x02\x02\x16"}),
      once("StatusIsNoNumber", {"HTTP/1.1 OK\r\n\r\n"}),
      once("LengthIsNegative", {head("content-length: -5\r\n") + "{}"}),
      once("LengthIsNoNumber", {head("content-length: many\r\n") + "{}"}),
      once("ChunkSizeIsGarbage", {head("transfer-encoding: chunked\r\n") + "zz\r\ndata\r\n"}),
      once("ChunkIsMissing", {head("transfer-encoding: chunked\r\n") + "ff\r\ndata"}),
      once("Compressed", {head("content-encoding: gzip\r\n") + "\x1f\x8b\x08 nonsense"}),
      once("NoBody", {head("content-length: 0\r\n")}),
      once("ServerError", {head("content-length: 0\r\n", "503 down")}),
      with(
          "LengthIsTooLong",
          [](const std::string &fine) {
            return withLength(fine, fine.size() + 10).substr(0, fine.size() / 2);
          },
          2),
      with(
          "LengthIsTooShort",
          [](const std::string &fine) { return withLength(fine, fine.size() / 2); }, 2),
      with(
          "TruncatedWithoutLength",
          [](const std::string &fine) { return head("") + fine.substr(0, fine.size() / 2); }, 2),
      with(
          "WholeWithoutLength", [](const std::string &fine) { return head("") + fine; }, 1),
      with(
          "ManySmallChunks", [](const std::string &fine) { return chunked(fine, 1); }, 1),
      with(
          "SlowDripThatEnds", [](const std::string &fine) { return whole(fine); }, 1, 10),
      with(
          "ContinueFirst",
          [](const std::string &fine) { return head("", "100 Continue") + whole(fine); }, 1),
      with(
          "BareLineEnds", [](const std::string &fine) { return "HTTP/1.1 200 OK\n\n" + fine; }, 1),
      {"StaysOpenAfterTheEnd",
       [](const std::string &fine) {
         return std::vector<Treatment>{{whole(fine), 0, false, Treatment::Hang}};
       },
       "", 1},
      {"Redirect",
       [](const std::string &) {
         return std::vector<Treatment>{
             {head("location: http://127.0.0.1:1/\r\ncontent-length: 0\r\n", "302 Found")}};
       },
       "(status 302)", 1},
      atLast("Hang", {"", 0, false, Treatment::Hang}, 0.2),
      atLast("HangAfterHead", {drip, 0, false, Treatment::Hang}, 0.2),
      atLast("SlowDripForEver", {drip + ": ping\n\n", 1, true}, 0.3),
      atLast("EndlessHead", {"HTTP/1.1 200 OK\r\n" + std::string(1000, 'x') + ": y\r\n", 0, true},
             20, "did not answer"),
      {"HugeBody",
       [](const std::string &) {
         return std::vector<Treatment>{{head("") + std::string(1 << 20, ' '), 0, true}};
       },
       "longer than any reply", 2},
  };
}

class Connections : public testing::TestWithParam<fakes::Way> {};

TEST_P(Connections, EveryFateEndsInTimeAndKeepsTheKey) {
  setenv("NO_PROXY", "127.0.0.1", 1);
  const fakes::Way way = GetParam();
  for (const Fate &fate : fates()) {
    SCOPED_TRACE(fate.name);
    LoopbackServer server(fate.treatments(way.body({kFine})));
    const auto model = way.model(kSecret, server.url(), makeHttpClient(), systemClock(),
                                 {.attempts = 2, .firstDelay = Duration{0.01}});
    ChatRequest request;
    request.messages = {{"user", "the task"}};
    request.timeout = Duration{fate.timeout};
    Result<ChatReply> reply;
    EXPECT_LT(secondsOf([&] { reply = model->complete(request); }),
              fate.timeout < 1 ? fate.timeout + 2 : 10);
    if (fate.connections > 0)
      EXPECT_EQ(server.connections(), fate.connections);
    if (fate.error.empty()) {
      ASSERT_TRUE(reply) << reply.error().what;
      EXPECT_EQ(reply->text, kFine);
      // The first event of this stream has counted a token before it broke off.
      const bool brokeOff = fate.breaksOff && way.anthropic && way.streamed;
      EXPECT_EQ(reply->outputTokens, brokeOff ? 6 : 5);
      EXPECT_THAT(server.received(), HasSubstr(kSecret));
    } else {
      ASSERT_FALSE(reply) << reply->text;
      EXPECT_EQ(reply.error().code, ErrorCode::Environment);
      EXPECT_THAT(reply.error().what, HasSubstr(fate.error));
      EXPECT_THAT(reply.error().what + reply.error().hint, Not(HasSubstr("sk-0123")));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Connections, testing::ValuesIn(fakes::kAllWays),
                         [](const auto &info) { return info.param.name(); });

} // namespace
} // namespace kopt
