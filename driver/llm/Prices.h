// SPDX-License-Identifier: Apache-2.0
// What models cost, by the list in knowledge/prices.json.
#pragma once

#include "driver/llm/ChatModel.h"

#include <optional>
#include <string>

namespace kopt {

/// Dollars per million tokens.
struct Price {
  double input = 0, cached = 0, cacheWrite = 0, output = 0;
};

/// Of "anthropic:MODEL", "openai:MODEL" or MODEL, which may end in a date; nothing where the list
/// has no such model. It is the provider's own price, whichever server answers.
std::optional<Price> priceOf(const std::string &model);

double dollarsOf(const Price &price, const ChatReply &reply);

/// What one exchange may cost at most: three bytes of text are no more than a token. A reply that
/// is cut off and continued is more than one exchange.
double mostDollars(const Price &price, const ChatRequest &request);

} // namespace kopt
