// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/ModelSeat.h"

#include "driver/llm/Prices.h"
#include "driver/llm/Provider.h"

#include <fmt/format.h>

namespace kopt {

Result<std::unique_ptr<ChatModel>> modelOf(const TuneSettings &settings, Services &services) {
  const ResolvedOptions &options = settings.options;
  if (options.model.empty())
    return makeError(
        ErrorCode::Usage, "the proposer 'llm' needs a model",
        "give one with --model anthropic:MODEL, openai:MODEL, exec:COMMAND, agent:COMMAND or "
        "folder:DIR");
  KOPT_TRY(auto model, makeChatModel(options.model, services.processes, services.clock));
  if (options.maxDollars > 0 && !priceOf(model->name()))
    return makeError(ErrorCode::Usage,
                     fmt::format("no price is known for the model {}", model->name()),
                     "leave out --max-dollars, and limit it with --max-tokens");
  return model;
}

LlmOptions llmOptionsOf(const TuneSettings &settings, const ChatModel &model,
                        const std::string &run) {
  LlmOptions options;
  options.run = run;
  options.maxCalls = settings.maxModelCalls;
  options.maxTokens = settings.options.maxTokens;
  options.maxDollars = settings.options.maxDollars;
  options.price = priceOf(model.name());
  if (settings.at) {
    options.without = settings.at->turns();
    options.maxCalls = 0; // the samples are what was asked for
  }
  return options;
}

} // namespace kopt
