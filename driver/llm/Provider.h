// SPDX-License-Identifier: Apache-2.0
// The services that answer over HTTP: where their keys and addresses come from, and whether one
// answers.
#pragma once

#include "driver/llm/ChatModel.h"
#include "driver/llm/HttpClient.h"

#include <functional>
#include <string>
#include <vector>

namespace kopt {

class ChatDialect;

/// A service as the environment describes it.
struct Provider {
  std::string kind; ///< how the names of its models begin: "anthropic"
  std::string name; ///< for people: "Anthropic"
  std::string keyVariable, urlVariable;
  std::string key;     ///< empty: none is set. Never shown
  std::string url;     ///< without a slash at its end
  bool ownUrl = false; ///< the user named the address in `urlVariable`
  bool needsKey = true;

  bool isConfigured() const { return !key.empty() || ownUrl; }
  bool lacksKey() const { return needsKey && key.empty(); }
};

/// All providers that kopt knows. `environment` returns the value of a variable, or null; if it is
/// not given, the process's own environment is read.
std::vector<Provider>
findProviders(const std::function<const char *(const char *)> &environment = {});

/// How that provider is spoken to.
std::unique_ptr<ChatDialect> makeDialect(const Provider &provider, std::string model);

/// Asks the provider which models it has, which costs nothing, and returns the status of its
/// answer. Fails with Environment where none comes within the limit; the message names the host,
/// never the key.
Result<long> askForModels(const Provider &provider, HttpClient &http, Duration limit);

/// "anthropic:MODEL", "openai:MODEL" (with KOPT_OPENAI_BASE_URL for vLLM, llama.cpp, Ollama, …),
/// "exec:COMMAND" (prompt on standard input, reply on standard output; KOPT_PURPOSE, KOPT_CALL and
/// KOPT_KEY in its environment), "agent:COMMAND" (the same in a folder of its own, with the prompt
/// and the reply as files) or "folder:DIR": a request is left in DIR/KEY-HASH.request.md, and
/// ChatReply::isLater until there is DIR/KEY-HASH.reply.md, a reply to just that text. The last
/// three have conversations as PlainText.h writes them. Fails with Usage on any other form, with
/// Environment where a key is missing (names the variable).
Result<std::unique_ptr<ChatModel>> makeChatModel(const std::string &spec, ProcessRunner &processes,
                                                 Clock &clock);

} // namespace kopt
