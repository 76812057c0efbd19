// SPDX-License-Identifier: Apache-2.0
#include "driver/app/doctor/ModelChecks.h"

#include "tests/fakes/FakeHttpClient.h"
#include "tests/fakes/FakeProcessRunner.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kKey = "sk-secret";

class ModelChecksTest : public testing::Test {
protected:
  void choose(const std::string &model) {
    options.model = model;
    options.proposers = {"params", "transform", "llm"};
  }
  /// The checks by name; none shows the key.
  std::map<std::string, MachineCheck> check() {
    fakes::FakeHttpClient http(script);
    const auto providers = findProviders([this](const char *name) -> const char * {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    });
    std::map<std::string, MachineCheck> checks;
    for (MachineCheck &one : checkModels(options, providers, http, processes)) {
      EXPECT_THAT(one.detail + one.remedy, Not(HasSubstr(kKey)));
      EXPECT_EQ(one.ok(), one.remedy.empty()) << one.name;
      const std::string name = one.name;
      EXPECT_TRUE(checks.emplace(name, std::move(one)).second) << name;
    }
    return checks;
  }
  CheckOutcome outcome(const std::string &name) { return check().at(name).outcome; }

  ResolvedOptions options;
  std::map<std::string, std::string> environment;
  fakes::FakeHttpClient::Script script;
  fakes::FakeProcessRunner processes;
};

TEST_F(ModelChecksTest, NoModelIsInOrderAndAsksNobody) {
  const auto checks = check();
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_TRUE(checks.at("language model").ok());
  EXPECT_THAT(checks.at("language model").detail,
              HasSubstr("no language model configured; search works without"));
  EXPECT_TRUE(script.requests.empty());
}

TEST_F(ModelChecksTest, AProposerWithoutItsModelBlocks) {
  options.proposers = {"params", "llm"};
  const MachineCheck missing = check().at("language model");
  EXPECT_EQ(missing.outcome, CheckOutcome::Blocking);
  EXPECT_EQ(missing.code, ErrorCode::Usage);
}

TEST_F(ModelChecksTest, AModelWithItsKeyAnswers) {
  choose("anthropic:m");
  environment["ANTHROPIC_API_KEY"] = kKey;
  script.answer(200, "{}");
  const auto checks = check();
  EXPECT_EQ(checks.size(), 3u); // nothing of OpenAI
  EXPECT_EQ(checks.at("language model").detail, "anthropic:m");
  EXPECT_EQ(checks.at("Anthropic key").detail, "ANTHROPIC_API_KEY is set");
  EXPECT_EQ(checks.at("Anthropic endpoint").detail, "https://api.anthropic.com answers");
  EXPECT_LE(script.requests.at(0).timeout, Duration(3));
}

TEST_F(ModelChecksTest, AModelThatNoProposerAsksIsNamedSo) {
  choose("openai:m");
  options.proposers = {"params"};
  const auto checks = check();
  EXPECT_THAT(checks.at("language model").detail, HasSubstr("no proposer asks"));
  EXPECT_EQ(checks.at("OpenAI key").outcome, CheckOutcome::Optional);
}

TEST_F(ModelChecksTest, AMissingKeyOfTheChosenModelBlocks) {
  choose("openai:m");
  script.answer(401, "");
  auto checks = check();
  EXPECT_EQ(checks.at("OpenAI key").outcome, CheckOutcome::Blocking);
  EXPECT_THAT(checks.at("OpenAI key").remedy, HasSubstr("OPENAI_API_KEY"));
  EXPECT_TRUE(checks.at("OpenAI endpoint").ok()); // it wants a key, so it is there
}

TEST_F(ModelChecksTest, ARefusedKeyBlocksOnlyWhereNobodyElseProposes) {
  choose("openai:m");
  environment["OPENAI_API_KEY"] = kKey;
  script.answer(401, "");
  const MachineCheck refused = check().at("OpenAI key");
  EXPECT_EQ(refused.outcome, CheckOutcome::Optional);
  EXPECT_THAT(refused.detail, HasSubstr("refuses the key of OPENAI_API_KEY"));
  options.proposers = {"llm"};
  script.answer(403, "");
  EXPECT_EQ(outcome("OpenAI key"), CheckOutcome::Blocking);
}

TEST_F(ModelChecksTest, AnEndpointThatIsNotThereBlocksOnlyWhereNobodyElseProposes) {
  choose("openai:m");
  environment["KOPT_OPENAI_BASE_URL"] = "http://me:sk-secret@host/v1";
  script.fail("no answer from http://host: refused");
  auto checks = check();
  EXPECT_EQ(checks.at("OpenAI key").detail, "OPENAI_API_KEY is not set, nor needed");
  EXPECT_EQ(checks.at("OpenAI endpoint").outcome, CheckOutcome::Optional);
  EXPECT_THAT(checks.at("OpenAI endpoint").remedy, HasSubstr("KOPT_OPENAI_BASE_URL"));
  options.proposers = {"llm"};
  script.fail("no answer from http://host: refused");
  EXPECT_EQ(outcome("OpenAI endpoint"), CheckOutcome::Blocking);
}

TEST_F(ModelChecksTest, WhatAnEndpointAnswersIsJudged) {
  choose("openai:m");
  environment["KOPT_OPENAI_BASE_URL"] = "http://host/v1";
  for (const auto &[status, ok] : std::vector<std::pair<long, bool>>{
           {200, true}, {404, true}, {429, true}, {301, false}, {503, false}}) {
    script.answer(status, "");
    EXPECT_EQ(check().at("OpenAI endpoint").ok(), ok) << status;
  }
  script.answer(401, ""); // a server of the user's that wants a key after all
  EXPECT_THAT(check().at("OpenAI key").detail, HasSubstr("wants a key"));
}

TEST_F(ModelChecksTest, AKeyWithoutAModelIsLookedAtAndNeverBlocks) {
  environment["ANTHROPIC_API_KEY"] = kKey;
  script.fail("no answer from https://api.anthropic.com: refused");
  auto checks = check();
  EXPECT_THAT(checks.at("language model").detail, HasSubstr("--model"));
  EXPECT_TRUE(checks.at("language model").ok());
  EXPECT_EQ(checks.at("Anthropic endpoint").outcome, CheckOutcome::Optional);
}

TEST_F(ModelChecksTest, ACommandIsLookedForAndNeverRun) {
  choose("exec:my-client --key sk-secret");
  processes.on({"command -v", "my-client "}, 0, "/usr/bin/my-client\n");
  EXPECT_THAT(check().at("language model").detail, HasSubstr("'my-client'"));
  ASSERT_EQ(processes.calls.size(), 1u);
  EXPECT_EQ(processes.calls[0].argv.back(), "my-client"); // without its arguments

  choose("exec:other");
  const MachineCheck missing = check().at("language model");
  EXPECT_EQ(missing.outcome, CheckOutcome::Optional);
  EXPECT_THAT(missing.detail, HasSubstr("'other' is not found"));
  options.proposers = {"llm"};
  EXPECT_EQ(outcome("language model"), CheckOutcome::Blocking);

  processes.calls.clear();
  choose("exec:KEY=sk-secret my-client");
  EXPECT_TRUE(check().at("language model").ok());
  EXPECT_TRUE(processes.calls.empty());
}

} // namespace
} // namespace kopt
