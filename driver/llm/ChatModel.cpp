// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/ChatModel.h"
#include "driver/llm/Models.h"

#include <fmt/format.h>

namespace kopt {

std::unique_ptr<ChatDialect> makeDialect(const Provider &provider, std::string model) {
  if (provider.kind == "anthropic")
    return makeAnthropicDialect(std::move(model), provider.key, provider.url);
  return makeOpenAiDialect(std::move(model), provider.key, provider.url, !provider.ownUrl);
}

Result<std::unique_ptr<ChatModel>> makeChatModel(const std::string &spec, ProcessRunner &processes,
                                                 Clock &clock) {
  std::size_t colon = spec.find(':');
  std::string kind = spec.substr(0, colon);
  std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (!rest.empty() && kind == "exec")
    return makeExecModel(rest, processes, clock);
  for (const Provider &provider : findProviders()) {
    if (rest.empty() || kind != provider.kind)
      continue;
    if (provider.lacksKey())
      return makeError(
          ErrorCode::Environment,
          fmt::format("{} needs a key and {} is not set", provider.name, provider.keyVariable),
          fmt::format("export {}=..., or use --model exec:COMMAND; kopt also works without a model",
                      provider.keyVariable));
    return makeHttpChat(makeDialect(provider, rest), makeHttpClient(), clock);
  }
  return makeError(ErrorCode::Usage, fmt::format("\"{}\" does not name a model", spec),
                   "use anthropic:MODEL, openai:MODEL (KOPT_OPENAI_BASE_URL for another server) or "
                   "exec:COMMAND");
}

} // namespace kopt
