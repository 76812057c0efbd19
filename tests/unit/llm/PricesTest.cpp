// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/Prices.h"

#include "knowledge/PriceFiles.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {
namespace {

TEST(PricesTest, EachRowSaysWhatItCostsAndWhoSaysSo) {
  const auto rows = nlohmann::json::parse(knowledge::prices::kFiles.front().second);
  std::set<std::string> models;
  for (const auto &row : rows) {
    EXPECT_EQ(row.size(), 7u) << row;
    EXPECT_TRUE(models.insert(row.at("model")).second) << row;
    EXPECT_EQ(row.at("source").get<std::string>().find("https://"), 0u) << row;
    EXPECT_EQ(row.at("date").get<std::string>().size(), std::string("2026-11-30").size()) << row;
    const Price price = priceOf(row.at("model")).value();
    EXPECT_GT(price.cached, 0) << row;
    EXPECT_LT(price.cached, price.input) << row;
    EXPECT_LE(price.input, price.cacheWrite) << row;
    EXPECT_LT(price.cacheWrite, price.output) << row;
  }
  EXPECT_FALSE(models.empty());
}

TEST(PricesTest, ADateIsAVersionAndOtherWordsAreOtherModels) {
  EXPECT_EQ(priceOf("anthropic:claude-opus-4-5")->output, 25);
  EXPECT_EQ(priceOf("claude-opus-4-5-20251101")->output, 25);
  EXPECT_EQ(priceOf("openai:gpt-4.1-2025-04-14")->input, 2);
  EXPECT_EQ(priceOf("claude-opus-5-5")->input, 4);
  for (const char *other :
       {"", "gpt-4.1-mini", "gpt-4", "claude-opus-5-6", "claude-opus-5-6-20270101",
        "exec:claude-opus-5", "folder:claude-opus-5", "anthropic:"})
    EXPECT_FALSE(priceOf(other)) << other;
}

TEST(PricesTest, TokensOfEachKindHaveTheirPrice) {
  const Price price{1, 0.1, 2, 10};
  ChatReply reply;
  reply.inputTokens = 1'000'000;
  reply.cachedTokens = 300'000;
  reply.cacheWriteTokens = 200'000;
  reply.outputTokens = 50'000;
  EXPECT_DOUBLE_EQ(dollarsOf(price, reply), 0.5 + 0.03 + 0.4 + 0.5);
  reply.inputTokens = 0; // a service that contradicts itself
  EXPECT_DOUBLE_EQ(dollarsOf(price, reply), 0.03 + 0.4 + 0.5);
  EXPECT_DOUBLE_EQ(dollarsOf(price, {}), 0);
}

TEST(PricesTest, AnExchangeCostsNoMoreThanItsBound) {
  const Price price{1, 0.1, 2, 10};
  ChatRequest request;
  request.maxTokens = 1000;
  request.system = std::string(3'000'000, 'x');
  EXPECT_NEAR(mostDollars(price, request), 2 + 0.01, 1e-4);
  const double before = mostDollars(price, request);
  request.messages = {{"user", "", {}, {{"a", std::string(30'000, 'y')}}}};
  EXPECT_GT(mostDollars(price, request), before + 0.0199);
}

} // namespace
} // namespace kopt
