// SPDX-License-Identifier: Apache-2.0
// makeChatModel() from the command line's words to an answer: real commands, and a scripted service
// on loopback.
#include "driver/llm/ChatModel.h"
#include "driver/llm/Provider.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"
#include "tests/fakes/FakeClock.h"
#include "tests/fakes/Results.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

using testing::HasSubstr;

using nlohmann::json;

class Environment {
public:
  Environment(const char *name, const std::string &value) : name_(name) {
    if (const char *old = std::getenv(name))
      old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (old_)
      setenv(name_, old_->c_str(), 1);
    else
      unsetenv(name_);
  }

private:
  const char *name_;
  std::optional<std::string> old_;
};

class ChatModelTest : public ::testing::Test {
protected:
  void SetUp() override {
    unsetenv("ANTHROPIC_API_KEY");
    unsetenv("OPENAI_API_KEY");
    unsetenv("KOPT_ANTHROPIC_BASE_URL");
    unsetenv("KOPT_OPENAI_BASE_URL");
    // Loopback is reached directly, whatever proxy the machine uses.
    setenv("NO_PROXY", "127.0.0.1", 1);
    auto folder = must(TemporaryDirectory::create("kopt-llm"));
    folder_.emplace(std::move(folder));
  }

  /// Starts the scripted service; its address without a path.
  std::string serve(const json &steps) {
    auto script = folder_->path() / "script.json";
    EXPECT_TRUE(writeFileAtomically(script, steps.dump()));
    ProcessSpec spec;
    spec.argv = {"python3", KOPT_SOURCE_DIR "/tests/fakes/llm_server.py", script.string(), "--log",
                 (folder_->path() / "log").string()};
    auto process = processes_->start(spec);
    EXPECT_TRUE(process);
    server_ = std::move(*process);
    auto port = server_->readLine(Duration{30});
    EXPECT_TRUE(port) << server_->errorTail();
    return "http://127.0.0.1:" + *port;
  }
  std::vector<json> requests() {
    std::vector<json> records;
    auto text = readFile(folder_->path() / "log");
    EXPECT_TRUE(text);
    for (const std::string &line : split(*text, '\n'))
      if (!line.empty())
        records.push_back(json::parse(line));
    return records;
  }
  Result<ChatReply> ask(const std::string &spec, Duration timeout = Duration{30}) {
    auto model = makeChatModel(spec, *processes_, clock_);
    if (!model)
      return tl::unexpected<Error>(model.error());
    ChatRequest request;
    request.purpose = "coder";
    request.system = "the rules";
    request.messages = {{"user", "the task"}};
    request.call = 3;
    request.key = "4-2";
    request.timeout = timeout;
    return (*model)->complete(request);
  }

  std::unique_ptr<ProcessRunner> processes_ = makeProcessRunner();
  fakes::FakeClock clock_;
  std::optional<TemporaryDirectory> folder_;
  std::unique_ptr<InteractiveProcess> server_;
};

TEST_F(ChatModelTest, OtherWordsAreAUsageError) {
  for (const char *spec :
       {"", "gpt", "anthropic", "anthropic:", "exec:", "agent:", "folder:", "claude:x"}) {
    EXPECT_THAT(ask(spec), fails({.code = ErrorCode::Usage, .hint = HasSubstr("exec:COMMAND")}))
        << spec;
  }
}

TEST_F(ChatModelTest, AMissingKeyNamesItsVariable) {
  EXPECT_THAT(ask("anthropic:m"),
              fails({.code = ErrorCode::Environment, .what = HasSubstr("ANTHROPIC_API_KEY")}));
  EXPECT_THAT(ask("openai:m"), fails({.what = HasSubstr("OPENAI_API_KEY")}));
}

TEST_F(ChatModelTest, AnthropicOverHttpSurvivesA429A500AndACutConnection) {
  std::string url =
      serve({{{"status", 429}, {"headers", {{"Retry-After", "3"}}}, {"error", "slow down"}},
             {{"status", 500}, {"error", "oops"}},
             {{"drop", true}},
             {{"raw", "{not json"}},
             {{"text", "one "}, {"cut_off", true}, {"usage", {50, 10, 40}}},
             {{"text", "two"}, {"usage", {60, 5, 40}}}});
  Environment key("ANTHROPIC_API_KEY", "k-1"), base("KOPT_ANTHROPIC_BASE_URL", url + "/");
  auto reply = must(ask("anthropic:some-model"));
  EXPECT_EQ(reply.text, "one two");
  EXPECT_EQ(reply.inputTokens, 110);
  EXPECT_EQ(reply.cachedTokens, 80);
  EXPECT_EQ(reply.outputTokens, 15);
  EXPECT_EQ(reply.model, "some-model");
  EXPECT_DOUBLE_EQ(clock_.slept, 3 + 2 + 4 + 8);
  auto records = requests();
  ASSERT_EQ(records.size(), 6u);
  EXPECT_EQ(records[0]["path"], "/v1/messages");
  EXPECT_EQ(records[0]["headers"]["x-api-key"], "k-1");
  EXPECT_EQ(records[5]["body"]["messages"].size(), 3u);
}

TEST_F(ChatModelTest, ChatCompletionsOverHttpWithoutAKey) {
  std::string url = serve({{{"status", 503}, {"error", "loading"}},
                           {{"text", "one "}, {"cut_off", true}, {"usage", {50, 10, 0}}},
                           {{"text", "two"}, {"usage", {60, 5, 7}}}});
  Environment base("KOPT_OPENAI_BASE_URL", url + "/v1");
  auto reply = must(ask("openai:local"));
  EXPECT_EQ(reply.text, "one two");
  EXPECT_EQ(reply.inputTokens, 110);
  EXPECT_EQ(reply.cachedTokens, 7);
  auto records = requests();
  EXPECT_EQ(records[0]["path"], "/v1/chat/completions");
  EXPECT_FALSE(records[0]["headers"].contains("authorization"));
}

TEST_F(ChatModelTest, ErrorsOfTheServiceAreWords) {
  std::string url = serve(
      {{{"status", 401}, {"error", "bad key"}}, {{"status", 404}, {"error", "no such model"}}});
  Environment key("OPENAI_API_KEY", "k-2"), base("KOPT_OPENAI_BASE_URL", url + "/v1");
  EXPECT_THAT(ask("openai:m").error().hint, HasSubstr("OPENAI_API_KEY"));
  EXPECT_THAT(ask("openai:m").error().what, HasSubstr("does not know model \"m\""));
}

TEST_F(ChatModelTest, TheListOfModelsIsAskedForWithGetAndHasALimit) {
  std::string url = serve({{{"raw", "{}"}}, {{"seconds", 20}}});
  Environment key("OPENAI_API_KEY", "k-2"), base("KOPT_OPENAI_BASE_URL", url + "/v1");
  const Provider provider = findProviders().back();
  const auto http = makeHttpClient();
  EXPECT_EQ(askForModels(provider, *http, Duration{30}).value(), 200);
  auto records = requests();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["path"], "/v1/models");
  EXPECT_EQ(records[0]["headers"]["authorization"], "Bearer k-2");
  EXPECT_TRUE(records[0]["body"].is_null()); // no POST
  EXPECT_THAT(askForModels(provider, *http, Duration{0.2}),
              fails({.code = ErrorCode::Environment}));
}

TEST_F(ChatModelTest, AServiceThatIsNotThereIsAnErrorAfterRetries) {
  Environment base("KOPT_OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
  EXPECT_THAT(ask("openai:m"), fails({.what = HasSubstr("no answer from http://127.0.0.1:1")}));
}

TEST_F(ChatModelTest, ACommandGetsThePromptAndItsNumber) {
  auto reply = must(ask("exec:echo \"$KOPT_PURPOSE $KOPT_CALL $KOPT_KEY\"; cat"));
  EXPECT_EQ(reply.text.find("coder 3 4-2\nthe rules"), 0u) << reply.text;
  EXPECT_THAT(reply.text, HasSubstr("==== user ====\n\nthe task"));
}

TEST_F(ChatModelTest, ACommandThatFailsOrSaysNothingIsAnErrorWithItsWords) {
  EXPECT_THAT(ask("exec:echo no credit >&2; exit 4"),
              fails({.what = HasSubstr("exit code 4"), .hint = HasSubstr("no credit")}));
  EXPECT_THAT(ask("exec:cat >/dev/null").error().what, HasSubstr("wrote nothing"));
  EXPECT_THAT(ask("exec:/no/such/command").error().what, HasSubstr("exit code 127"));
}

TEST_F(ChatModelTest, ACommandThatIsLateIsAnError) {
  EXPECT_THAT(ask("exec:sleep 30", Duration{0.2}),
              fails({.code = ErrorCode::Environment, .what = HasSubstr("did not answer within")}));
}

TEST_F(ChatModelTest, AnAgentHasAFolderForTheRunAndAnswersInAFile) {
  auto model = must(makeChatModel("agent:cat > asked; echo note >> notes; echo chatter; "
                                  "[ $KOPT_CALL = 2 ] || { cat notes asked > REPLY.md; }",
                                  *processes_, clock_));
  ChatRequest request;
  request.messages = {{"user", "the task"}};
  request.call = 1;
  const std::string first = must(model->complete(request)).text;
  EXPECT_EQ(first.find("note\n"), 0u);
  EXPECT_THAT(first, HasSubstr("==== user ====\n\nthe task"));
  EXPECT_THAT(first, HasSubstr("into the file REPLY.md"));
  request.call = 2; // an old reply is none
  EXPECT_EQ(must(model->complete(request)).text, "chatter\n");
  request.call = 3;
  EXPECT_EQ(must(model->complete(request)).text.find("note\nnote\nnote\n"), 0u);
  EXPECT_THAT(ask("agent:echo lost >&2; exit 3"), fails({.hint = HasSubstr("lost")}));
}

TEST_F(ChatModelTest, AFolderHasRequestsAndTakesRepliesLater) {
  const std::filesystem::path folder = folder_->path() / "new" / "seat";
  const std::string spec = "folder:" + folder.string();
  EXPECT_TRUE(must(ask(spec)).isLater);
  const std::filesystem::path asked = *std::filesystem::directory_iterator(folder);
  EXPECT_THAT(asked.filename().string(), testing::MatchesRegex("4-2-[0-9a-f]{12}\\.request\\.md"));
  EXPECT_THAT(must(readFile(asked)), HasSubstr("==== user ====\n\nthe task"));
  EXPECT_TRUE(must(ask(spec)).isLater);
  const std::string answer = replaceAll(asked.string(), ".request.", ".reply.");
  ASSERT_TRUE(writeFileAtomically(answer, "an idea \xff"));
  const auto reply = must(ask(spec));
  EXPECT_FALSE(reply.isLater);
  EXPECT_EQ(reply.text, "an idea \xEF\xBF\xBD");
  EXPECT_EQ(reply.model, spec);
  ASSERT_TRUE(writeFileAtomically(answer, " \n"));
  EXPECT_THAT(ask(spec), fails({.code = ErrorCode::Environment, .where = HasSubstr("reply.md")}));
  std::filesystem::remove(answer);
  std::filesystem::create_directory(answer);
  EXPECT_THAT(ask(spec), fails({.code = ErrorCode::Environment, .what = HasSubstr("reply.md")}));
  ASSERT_TRUE(writeFileAtomically(folder_->path() / "file", ""));
  EXPECT_THAT(ask("folder:" + (folder_->path() / "file" / "x").string()),
              fails({.code = ErrorCode::Environment}));
}

TEST_F(ChatModelTest, AReplyIsOneToItsRequestAlone) {
  auto model = must(makeChatModel("folder:" + folder_->path().string(), *processes_, clock_));
  ChatRequest request;
  request.messages = {{"user", "the task"}};
  request.key = "4-2";
  ASSERT_TRUE(must(model->complete(request)).isLater);
  const std::filesystem::path asked = *std::filesystem::directory_iterator(folder_->path());
  ASSERT_TRUE(writeFileAtomically(replaceAll(asked.string(), ".request.", ".reply."), "an idea"));
  EXPECT_EQ(must(model->complete(request)).text, "an idea");
  request.messages[0].text = "another task";
  EXPECT_TRUE(must(model->complete(request)).isLater);
}

TEST_F(ChatModelTest, ReplayedRepliesAreFoundByCallNumber) {
  ASSERT_TRUE(writeFileAtomically(folder_->path() / "03_good.md", "the third reply"));
  std::string command = std::string("exec:python3 ") + KOPT_SOURCE_DIR +
                        "/tests/fakes/replay_model.py " + folder_->path().string();
  auto reply = must(ask(command));
  EXPECT_EQ(reply.text, "the third reply");
  std::filesystem::remove(folder_->path() / "03_good.md");
  EXPECT_THAT(ask(command).error().hint, HasSubstr("0 recorded replies to call 3"));
}

} // namespace
} // namespace kopt
