// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/Provider.h"

#include "tests/fakes/FakeHttpClient.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

class ProviderTest : public testing::Test {
protected:
  std::vector<Provider> find() {
    return findProviders([this](const char *name) -> const char * {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    });
  }
  Provider find(const std::string &kind) {
    for (Provider &provider : find())
      if (provider.kind == kind)
        return provider;
    ADD_FAILURE() << kind;
    return {};
  }
  Result<long> ask(const std::string &kind) {
    fakes::FakeHttpClient http(script);
    return askForModels(find(kind), http, Duration(3));
  }

  std::map<std::string, std::string> environment;
  fakes::FakeHttpClient::Script script;
};

TEST_F(ProviderTest, WithoutVariablesEachHasItsOwnServiceAndNoKey) {
  for (const Provider &provider : find()) {
    EXPECT_TRUE(provider.lacksKey()) << provider.name;
    EXPECT_FALSE(provider.isConfigured()) << provider.name;
    EXPECT_EQ(provider.url.find("https://api."), 0u) << provider.url;
  }
}

TEST_F(ProviderTest, AServerOfTheUsersNeedsNoKeyOnlyWhereItMayHaveNone) {
  environment["KOPT_OPENAI_BASE_URL"] = "http://localhost:8000/v1//";
  environment["KOPT_ANTHROPIC_BASE_URL"] = "http://localhost:9000";
  EXPECT_FALSE(find("openai").lacksKey());
  EXPECT_TRUE(find("openai").isConfigured());
  EXPECT_EQ(find("openai").url, "http://localhost:8000/v1");
  EXPECT_TRUE(find("anthropic").lacksKey());
  EXPECT_TRUE(find("anthropic").isConfigured());
}

TEST_F(ProviderTest, TheListOfModelsIsAskedForWithTheKeyAndALimit) {
  environment["ANTHROPIC_API_KEY"] = "k-1";
  environment["OPENAI_API_KEY"] = "k-2";
  script.answer(200, "{}");
  script.answer(401, "");
  EXPECT_EQ(ask("anthropic").value(), 200);
  EXPECT_EQ(ask("openai").value(), 401);
  const HttpRequest &first = script.requests.at(0), &second = script.requests.at(1);
  EXPECT_EQ(first.url, "https://api.anthropic.com/v1/models");
  EXPECT_EQ(first.headers.at("x-api-key"), "k-1");
  EXPECT_EQ(first.headers.at("anthropic-version"), "2023-06-01");
  EXPECT_EQ(first.timeout, Duration(3));
  EXPECT_EQ(second.url, "https://api.openai.com/v1/models");
  EXPECT_EQ(second.headers.at("authorization"), "Bearer k-2");
  EXPECT_TRUE(first.body.empty() && second.body.empty());
}

TEST_F(ProviderTest, NoAnswerIsAnError) {
  script.fail("no answer from https://api.openai.com: refused");
  const auto status = ask("openai");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Environment);
}

TEST_F(ProviderTest, MessagesNameTheHostAlone) {
  EXPECT_EQ(hostOf("https://user:secret@host:8000/v1?key=secret#x"), "https://host:8000");
  EXPECT_EQ(hostOf("host/v1"), "host");
}

} // namespace
} // namespace kopt
