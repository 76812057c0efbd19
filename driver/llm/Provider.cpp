// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/Provider.h"

#include "driver/llm/Models.h"

#include <cstdlib>
#include <fmt/format.h>

namespace kopt {
namespace {

std::string withoutTrailingSlash(std::string url) {
  while (!url.empty() && url.back() == '/')
    url.pop_back();
  return url;
}

} // namespace

std::vector<Provider> findProviders(const std::function<const char *(const char *)> &environment) {
  const auto variable = [&](const std::string &name) {
    const char *value = environment ? environment(name.c_str()) : std::getenv(name.c_str());
    return std::string(value ? value : "");
  };
  const auto find = [&](Provider provider) {
    provider.key = variable(provider.keyVariable);
    if (std::string own = withoutTrailingSlash(variable(provider.urlVariable)); !own.empty()) {
      provider.url = std::move(own);
      provider.ownUrl = true;
    }
    return provider;
  };
  Provider anthropic, openAi;
  anthropic.kind = "anthropic";
  anthropic.name = "Anthropic";
  anthropic.keyVariable = "ANTHROPIC_API_KEY";
  anthropic.urlVariable = "KOPT_ANTHROPIC_BASE_URL";
  anthropic.url = "https://api.anthropic.com";
  openAi.kind = "openai";
  openAi.name = "OpenAI";
  openAi.keyVariable = "OPENAI_API_KEY";
  openAi.urlVariable = "KOPT_OPENAI_BASE_URL";
  openAi.url = "https://api.openai.com/v1";
  std::vector<Provider> found{find(std::move(anthropic)), find(std::move(openAi))};
  found.back().needsKey = !found.back().ownUrl; // servers on the user's own machines have none
  return found;
}

std::unique_ptr<ChatDialect> makeDialect(const Provider &provider, std::string model) {
  if (provider.kind == "anthropic")
    return makeAnthropicDialect(std::move(model), provider.key, provider.url);
  return makeOpenAiDialect(std::move(model), provider.key, provider.url, !provider.ownUrl);
}

Result<long> askForModels(const Provider &provider, HttpClient &http, Duration limit) {
  HttpRequest request = makeDialect(provider, "")->listModels();
  request.timeout = limit;
  KOPT_TRY(const HttpResponse response, http.get(request));
  return response.status;
}

Result<std::unique_ptr<ChatModel>> makeChatModel(const std::string &spec, ProcessRunner &processes,
                                                 Clock &clock) {
  std::size_t colon = spec.find(':');
  std::string kind = spec.substr(0, colon);
  std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (!rest.empty() && kind == "exec")
    return makeExecModel(rest, processes, clock);
  if (!rest.empty() && kind == "agent")
    return makeAgentModel(rest, processes, clock);
  if (!rest.empty() && kind == "folder")
    return makeFolderModel(rest);
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
                   "use anthropic:MODEL, openai:MODEL (KOPT_OPENAI_BASE_URL for another server), "
                   "exec:COMMAND, agent:COMMAND or folder:DIR");
}

} // namespace kopt
