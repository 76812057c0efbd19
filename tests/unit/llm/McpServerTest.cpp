// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/mcp/McpServer.h"

#include <condition_variable>
#include <gmock/gmock.h>

namespace kopt {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// `echo` says what it was given; `wait` ends when it is cancelled or let go; `fail` cannot.
class FakeTools final : public ToolBox {
public:
  const std::vector<Tool> &tools() const override { return tools_; }
  ToolResult call(const Tool &tool, const json &arguments, const ToolCall &call) override {
    {
      const std::lock_guard lock(mutex_);
      called.push_back(tool.name);
    }
    if (tool.name == "fail")
      return {.text = "no such kernel", .failed = true};
    if (tool.name == "wait") {
      call.progress(1, 4, "timing");
      std::unique_lock lock(mutex_);
      waiting_ = true;
      wake_.notify_all();
      while (!call.cancelled && !released_)
        wake_.wait_for(lock, std::chrono::milliseconds(1));
      call.progress(2, 4, "timed");
      return {.text = call.cancelled ? "cancelled" : "done"};
    }
    return {.text = arguments.value("text", ""), .data = arguments};
  }
  void untilOneWaits() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return waiting_; });
  }
  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    wake_.notify_all();
  }

  std::vector<std::string> called;

private:
  static json schema() {
    return {{"type", "object"},
            {"additionalProperties", false},
            {"properties", {{"text", {{"type", "string"}}}}}};
  }
  std::vector<Tool> tools_{{"echo", "says it again", schema()},
                           {"wait", "takes long", schema()},
                           {"fail", "cannot", schema(), true}};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool waiting_ = false, released_ = false;
};

class FakeDocuments final : public Documents {
public:
  std::vector<Document> list() override {
    return {{"kopt://skill/a", "a", "about a", "text/markdown"}};
  }
  std::optional<std::string> read(const std::string &uri) override {
    return uri == "kopt://skill/a" ? std::optional<std::string>("# a") : std::nullopt;
  }
};

class McpServerTest : public testing::Test {
protected:
  McpServerTest() { restart(); }

  void restart() {
    server_.reset();
    server_.emplace(tools_, documents_, "read this first", [this](const std::string &line) {
      const std::lock_guard lock(mutex_);
      EXPECT_EQ(line.find('\n'), line.npos);
      sent_.push_back(json::parse(line));
    });
  }
  void begin() {
    receive(
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})");
    receive(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    sent();
  }
  void receive(const std::string &line) { server_->receive(line); }
  void call(const json &id, const std::string &tool, const json &arguments = json::object(),
            const json &token = nullptr) {
    json params{{"name", tool}, {"arguments", arguments}};
    if (!token.is_null())
      params["_meta"] = {{"progressToken", token}};
    receive(
        json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", params}}.dump());
  }
  void cancel(const json &id) {
    receive(json{
        {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}}
                .dump());
  }
  /// What was sent since the last question.
  std::vector<json> sent() {
    const std::lock_guard lock(mutex_);
    return std::exchange(sent_, {});
  }
  json answer() {
    server_->finish();
    const auto all = sent();
    EXPECT_THAT(all, SizeIs(1));
    return all.empty() ? json() : all.front();
  }
  /// The error's code that a line is answered with; 0: something else.
  int codeOf(const std::string &line) {
    receive(line);
    server_->finish();
    const auto all = sent();
    return all.size() == 1 ? all.front().value(json::json_pointer("/error/code"), 0) : 0;
  }

  FakeTools tools_;
  FakeDocuments documents_;
  std::mutex mutex_;
  std::vector<json> sent_;
  std::optional<McpServer> server_;
};

TEST_F(McpServerTest, AgreesOnARevisionAndSaysWhatItIs) {
  receive(
      R"({"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2024-11-05"}})");
  const json first = answer();
  EXPECT_EQ(first["id"], "a");
  EXPECT_EQ(first["result"]["protocolVersion"], "2024-11-05");
  EXPECT_EQ(first["result"]["serverInfo"]["name"], "kopt");
  EXPECT_EQ(first["result"]["instructions"], "read this first");
  receive(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2031-01-01"}})");
  EXPECT_EQ(answer()["result"]["protocolVersion"], "2025-11-25");
}

TEST_F(McpServerTest, ListsAndCallsTools) {
  begin();
  receive(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  const json tools = answer()["result"]["tools"];
  ASSERT_THAT(tools, SizeIs(3));
  EXPECT_EQ(tools[0]["name"], "echo");
  EXPECT_EQ(tools[0]["inputSchema"]["type"], "object");
  EXPECT_EQ(tools[0]["annotations"]["readOnlyHint"], true);
  EXPECT_EQ(tools[2]["annotations"]["readOnlyHint"], false);

  call(2, "echo", {{"text", "a\nb"}});
  const json result = answer()["result"];
  EXPECT_EQ(result["isError"], false);
  EXPECT_THAT(result["content"][0]["text"].get<std::string>(), HasSubstr("a\nb"));
  EXPECT_TRUE(result["structuredContent"].contains("text"));
  call("three", "fail");
  EXPECT_EQ(answer()["result"]["isError"], true);
}

TEST_F(McpServerTest, WrongArgumentsAreTheModelsToRead) {
  begin();
  call(1, "echo", {{"text", 7}, {"more", 1}});
  const json result = answer()["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_THAT(result["content"][0]["text"].get<std::string>(),
              HasSubstr("/text: string is expected, not number"));
  EXPECT_THAT(tools_.called, IsEmpty());
}

TEST_F(McpServerTest, AnswersOthersWhileAToolRuns) {
  begin();
  call(1, "wait", json::object(), "token");
  tools_.untilOneWaits();
  call(2, "echo");
  receive(R"({"jsonrpc":"2.0","id":3,"method":"ping"})");
  const auto meanwhile = sent();
  ASSERT_THAT(meanwhile, SizeIs(2));
  EXPECT_EQ(meanwhile[0]["method"], "notifications/progress");
  EXPECT_EQ(
      meanwhile[0]["params"],
      (json{{"progressToken", "token"}, {"progress", 1}, {"total", 4}, {"message", "timing"}}));
  EXPECT_EQ(meanwhile[1]["id"], 3);
  tools_.release();
  server_->finish();
  const auto later = sent();
  ASSERT_THAT(later, SizeIs(3));
  EXPECT_EQ(later[1]["id"], 1);
  EXPECT_EQ(later[2]["id"], 2) << "calls come one after another";
}

TEST_F(McpServerTest, WhatIsCancelledIsNotAnswered) {
  begin();
  call(1, "wait", json::object(), 5);
  tools_.untilOneWaits();
  call(2, "echo");
  cancel(2);
  cancel(1);
  cancel(99);
  cancel(nullptr);
  server_->finish();
  for (const json &message : sent())
    EXPECT_FALSE(message.contains("id")) << message;
  EXPECT_EQ(tools_.called, std::vector<std::string>{"wait"});
  call(1, "echo");
  EXPECT_EQ(answer()["id"], 1) << "the id may be used again";
}

TEST_F(McpServerTest, TheEndCancelsWhatRuns) {
  begin();
  call(1, "wait");
  tools_.untilOneWaits();
  call(2, "echo");
  server_.reset();
  EXPECT_EQ(tools_.called, std::vector<std::string>{"wait"});
}

TEST_F(McpServerTest, GivesResources) {
  begin();
  receive(R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})");
  EXPECT_EQ(answer()["result"]["resources"][0]["uri"], "kopt://skill/a");
  receive(
      R"({"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"kopt://skill/a"}})");
  EXPECT_EQ(answer()["result"]["contents"][0]["text"], "# a");
  receive(R"({"jsonrpc":"2.0","id":3,"method":"resources/templates/list"})");
  EXPECT_THAT(answer()["result"]["resourceTemplates"], IsEmpty());
  EXPECT_EQ(
      codeOf(
          R"({"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"file:///etc/passwd"}})"),
      -32002);
}

struct Misbehaviour {
  const char *what, *line;
  int code; ///< 0: no answer at all
};

/// What a client should not do. After each the server goes on.
TEST_F(McpServerTest, SurvivesMisbehaviour) {
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  const std::string deepParams = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)" +
                                 std::string(200, '[') + std::string(200, ']') + "}";
  const std::string large = R"({"jsonrpc":"2.0","id":1,"method":"nothing","params":{"a":")" +
                            std::string(1 << 20, 'x') + "\"}}";
  const Misbehaviour kCases[] = {
      {"an empty line", "", 0},
      {"blanks", "  \t\r", 0},
      {"no JSON", "hello", -32700},
      {"half a message", R"({"jsonrpc":"2.0","id":1,"method":"pi)", -32700},
      {"two messages in a line", R"({"jsonrpc":"2.0","id":1,"method":"ping"}{"a":1})", -32700},
      {"a header of another transport", "Content-Length: 40", -32700},
      {"bytes that are no text", "\xff\xfe{}", -32700},
      {"text that is not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\x28\",\"method\":\"ping\"}",
       -32700},
      {"a very deep array", deep.c_str(), -32700},
      {"deep params", deepParams.c_str(), -32700},
      {"a number", "17", -32600},
      {"null", "null", -32600},
      {"a batch", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", -32600},
      {"an empty batch", "[]", -32600},
      {"no version", R"({"id":1,"method":"ping"})", -32600},
      {"an old version", R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600},
      {"a version that is a number", R"({"jsonrpc":2.0,"id":1,"method":"ping"})", -32600},
      {"an id of null", R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600},
      {"an id that is an object", R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600},
      {"an id that is a fraction", R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600},
      {"a method that is a number", R"({"jsonrpc":"2.0","id":1,"method":1})", -32600},
      {"params that are a list", R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})",
       -32600},
      {"params that are a text", R"({"jsonrpc":"2.0","id":1,"method":"ping","params":"x"})",
       -32600},
      {"an unknown method", R"({"jsonrpc":"2.0","id":1,"method":"tools/destroy"})", -32601},
      {"a method of newer revisions", R"({"jsonrpc":"2.0","id":1,"method":"server/discover"})",
       -32601},
      {"prompts", R"({"jsonrpc":"2.0","id":1,"method":"prompts/list"})", -32601},
      {"a level of logging",
       R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}})",
       -32601},
      {"a large unknown request", large.c_str(), -32601},
      {"a cursor", R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}})",
       -32602},
      {"an unknown tool",
       R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}})", -32602},
      {"no name of a tool", R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})", -32602},
      {"a name that is a list",
       R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["echo"]}})", -32602},
      {"initialize without a revision", R"({"jsonrpc":"2.0","id":1,"method":"initialize"})",
       -32602},
      {"a revision that is a number",
       R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":3}})", -32602},
      {"a resource that there is not",
       R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"../../x"}})", -32002},
      {"a resource without a name", R"({"jsonrpc":"2.0","id":1,"method":"resources/read"})",
       -32002},
      {"an unknown notification",
       R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})", 0},
      {"a notification of nothing", R"({"jsonrpc":"2.0","method":""})", 0},
      {"a request without an id",
       R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}})", 0},
      {"a cancellation of nothing", R"({"jsonrpc":"2.0","method":"notifications/cancelled"})", 0},
      {"a cancellation of an object",
       R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}})", 0},
      {"an answer to nothing", R"({"jsonrpc":"2.0","id":7,"result":{}})", 0},
      {"an error to nothing", R"({"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}})", 0},
      {"a notification with wrong params",
       R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]})", 0},
  };
  begin();
  for (const Misbehaviour &one : kCases) {
    EXPECT_EQ(codeOf(one.line), one.code) << one.what;
    receive(R"({"jsonrpc":"2.0","id":"still","method":"ping"})");
    EXPECT_EQ(answer()["id"], "still") << one.what;
  }
  EXPECT_THAT(tools_.called, IsEmpty());
}

TEST_F(McpServerTest, WantsToBeginWithInitialize) {
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"), -32600);
  receive(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  EXPECT_EQ(answer()["result"], json::object());
}

TEST_F(McpServerTest, AnIdThatIsStillOpenIsRefused) {
  begin();
  call(1, "wait");
  tools_.untilOneWaits();
  call(1, "echo");
  const auto all = sent();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0]["error"]["code"], -32600);
  tools_.release();
  EXPECT_EQ(answer()["id"], 1);
}

} // namespace
} // namespace kopt
