// SPDX-License-Identifier: Apache-2.0
// makeChatModel() from the command line's words to an answer: real commands, and a scripted service
// on loopback.
#include "driver/llm/ChatModel.h"
#include "driver/llm/Provider.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"
#include "tests/fakes/FakeClock.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

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
    auto folder = TemporaryDirectory::create("kopt-llm");
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
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
    request.timeout = timeout;
    return (*model)->complete(request);
  }

  std::unique_ptr<ProcessRunner> processes_ = makeProcessRunner();
  fakes::FakeClock clock_;
  std::optional<TemporaryDirectory> folder_;
  std::unique_ptr<InteractiveProcess> server_;
};

TEST_F(ChatModelTest, OtherWordsAreAUsageError) {
  for (const char *spec : {"", "gpt", "anthropic", "anthropic:", "exec:", "claude:x"}) {
    auto reply = ask(spec);
    ASSERT_FALSE(reply) << spec;
    EXPECT_EQ(reply.error().code, ErrorCode::Usage) << spec;
    EXPECT_NE(reply.error().hint.find("exec:COMMAND"), std::string::npos);
  }
}

TEST_F(ChatModelTest, AMissingKeyNamesItsVariable) {
  auto anthropic = ask("anthropic:m");
  ASSERT_FALSE(anthropic);
  EXPECT_EQ(anthropic.error().code, ErrorCode::Environment);
  EXPECT_NE(anthropic.error().what.find("ANTHROPIC_API_KEY"), std::string::npos);
  auto openAi = ask("openai:m");
  ASSERT_FALSE(openAi);
  EXPECT_NE(openAi.error().what.find("OPENAI_API_KEY"), std::string::npos);
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
  auto reply = ask("anthropic:some-model");
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->text, "one two");
  EXPECT_EQ(reply->inputTokens, 110);
  EXPECT_EQ(reply->cachedTokens, 80);
  EXPECT_EQ(reply->outputTokens, 15);
  EXPECT_EQ(reply->model, "some-model");
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
  auto reply = ask("openai:local");
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->text, "one two");
  EXPECT_EQ(reply->inputTokens, 110);
  EXPECT_EQ(reply->cachedTokens, 7);
  auto records = requests();
  EXPECT_EQ(records[0]["path"], "/v1/chat/completions");
  EXPECT_FALSE(records[0]["headers"].contains("authorization"));
}

TEST_F(ChatModelTest, ErrorsOfTheServiceAreWords) {
  std::string url = serve(
      {{{"status", 401}, {"error", "bad key"}}, {{"status", 404}, {"error", "no such model"}}});
  Environment key("OPENAI_API_KEY", "k-2"), base("KOPT_OPENAI_BASE_URL", url + "/v1");
  EXPECT_NE(ask("openai:m").error().hint.find("OPENAI_API_KEY"), std::string::npos);
  EXPECT_NE(ask("openai:m").error().what.find("does not know model \"m\""), std::string::npos);
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
  const auto late = askForModels(provider, *http, Duration{0.2});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Environment);
}

TEST_F(ChatModelTest, AServiceThatIsNotThereIsAnErrorAfterRetries) {
  Environment base("KOPT_OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
  auto reply = ask("openai:m");
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().what.find("no answer from http://127.0.0.1:1"), std::string::npos)
      << reply.error().what;
}

TEST_F(ChatModelTest, ACommandGetsThePromptAndItsNumber) {
  auto reply = ask("exec:echo \"$KOPT_PURPOSE $KOPT_CALL\"; cat");
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->text.find("coder 3\nthe rules"), 0u) << reply->text;
  EXPECT_NE(reply->text.find("==== user ====\n\nthe task"), std::string::npos);
}

TEST_F(ChatModelTest, ACommandThatFailsOrSaysNothingIsAnErrorWithItsWords) {
  auto failed = ask("exec:echo no credit >&2; exit 4");
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().what.find("exit code 4"), std::string::npos);
  EXPECT_NE(failed.error().hint.find("no credit"), std::string::npos);
  EXPECT_NE(ask("exec:cat >/dev/null").error().what.find("wrote nothing"), std::string::npos);
  EXPECT_NE(ask("exec:/no/such/command").error().what.find("exit code 127"), std::string::npos);
}

TEST_F(ChatModelTest, ACommandThatIsLateIsAnError) {
  const auto late = ask("exec:sleep 30", Duration{0.2});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Environment);
  EXPECT_NE(late.error().what.find("did not answer within"), std::string::npos)
      << late.error().what;
}

TEST_F(ChatModelTest, ReplayedRepliesAreFoundByCallNumber) {
  ASSERT_TRUE(writeFileAtomically(folder_->path() / "03_good.md", "the third reply"));
  std::string command = std::string("exec:python3 ") + KOPT_SOURCE_DIR +
                        "/tests/fakes/replay_model.py " + folder_->path().string();
  auto reply = ask(command);
  ASSERT_TRUE(reply) << reply.error().hint;
  EXPECT_EQ(reply->text, "the third reply");
  std::filesystem::remove(folder_->path() / "03_good.md");
  EXPECT_NE(ask(command).error().hint.find("0 recorded replies to call 3"), std::string::npos);
}

} // namespace
} // namespace kopt
