// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/ChatModel.h"
#include "driver/llm/Models.h"

#include <cstdlib>
#include <fmt/format.h>

namespace kopt {
namespace {

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

std::string withoutTrailingSlash(std::string url) {
  while (!url.empty() && url.back() == '/')
    url.pop_back();
  return url;
}

tl::unexpected<Error> noKey(const std::string &service, const std::string &name) {
  return makeError(
      ErrorCode::Environment, fmt::format("{} needs a key and {} is not set", service, name),
      fmt::format("export {}=..., or use --model exec:COMMAND; kopt also works without a model",
                  name));
}

} // namespace

Result<std::unique_ptr<ChatModel>> makeChatModel(const std::string &spec, ProcessRunner &processes,
                                                 Clock &clock) {
  std::size_t colon = spec.find(':');
  std::string kind = spec.substr(0, colon);
  std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (!rest.empty() && kind == "exec")
    return makeExecModel(rest, processes, clock);
  if (!rest.empty() && kind == "anthropic") {
    std::string key = variable("ANTHROPIC_API_KEY");
    if (key.empty())
      return noKey("Anthropic", "ANTHROPIC_API_KEY");
    std::string url = withoutTrailingSlash(variable("KOPT_ANTHROPIC_BASE_URL"));
    return makeHttpChat(
        makeAnthropicDialect(rest, key, url.empty() ? "https://api.anthropic.com" : url),
        makeHttpClient(), clock);
  }
  if (!rest.empty() && kind == "openai") {
    std::string key = variable("OPENAI_API_KEY");
    std::string url = withoutTrailingSlash(variable("KOPT_OPENAI_BASE_URL"));
    if (key.empty() && url.empty())
      return noKey("OpenAI", "OPENAI_API_KEY");
    return makeHttpChat(
        makeOpenAiDialect(rest, key, url.empty() ? "https://api.openai.com/v1" : url, url.empty()),
        makeHttpClient(), clock);
  }
  return makeError(ErrorCode::Usage, fmt::format("\"{}\" does not name a model", spec),
                   "use anthropic:MODEL, openai:MODEL (KOPT_OPENAI_BASE_URL for another server) or "
                   "exec:COMMAND");
}

} // namespace kopt
