// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/Prices.h"

#include "driver/llm/PlainText.h"
#include "knowledge/PriceFiles.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

constexpr double kMillion = 1e6;

/// "claude-opus-4-5-20251101" is a claude-opus-4-5, "gpt-4.1-mini" is no gpt-4.1.
bool isVersionOf(const std::string &model, const std::string &name) {
  if (name.compare(0, model.size(), model) != 0)
    return false;
  std::string rest = name.substr(model.size());
  std::replace_if(rest.begin(), rest.end(), [](unsigned char c) { return std::isdigit(c); }, '0');
  return rest.empty() || rest == "-00000000" || rest == "-0000-00-00" || rest == "-latest";
}

} // namespace

std::optional<Price> priceOf(const std::string &model) {
  static const auto kRows = nlohmann::json::parse(knowledge::prices::kFiles.front().second);
  std::string name = model;
  for (const std::string_view kind : {"anthropic:", "openai:"})
    if (model.starts_with(kind))
      name = model.substr(kind.size());
  for (const auto &row : kRows)
    if (isVersionOf(row.at("model"), name))
      return Price{row.at("input"), row.at("cached"), row.at("cache_write"), row.at("output")};
  return std::nullopt;
}

double dollarsOf(const Price &price, const ChatReply &reply) {
  const long plain = std::max(0L, reply.inputTokens - reply.cachedTokens - reply.cacheWriteTokens);
  return (double(plain) * price.input + double(reply.cachedTokens) * price.cached +
          double(reply.cacheWriteTokens) * price.cacheWrite +
          double(reply.outputTokens) * price.output) /
         kMillion;
}

double mostDollars(const Price &price, const ChatRequest &request) {
  const double tokens = double(conversationText(request).size()) / 3;
  return (tokens * std::max(price.input, price.cacheWrite) +
          double(request.maxTokens) * price.output) /
         kMillion;
}

} // namespace kopt
