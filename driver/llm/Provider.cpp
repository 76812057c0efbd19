// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/Provider.h"

#include "driver/llm/Models.h"

#include <cstdlib>

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

Result<long> askForModels(const Provider &provider, HttpClient &http, Duration limit) {
  HttpRequest request = makeDialect(provider, "")->listModels();
  request.timeout = limit;
  KOPT_TRY(const HttpResponse response, http.get(request));
  return response.status;
}

} // namespace kopt
