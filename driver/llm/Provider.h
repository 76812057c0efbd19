// SPDX-License-Identifier: Apache-2.0
// The services that answer over HTTP: where their keys and addresses come from, and whether one
// answers.
#pragma once

#include "driver/llm/HttpClient.h"

#include <functional>
#include <string>
#include <vector>

namespace kopt {

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

/// Asks the provider which models it has, which costs nothing, and returns the status of its
/// answer. Fails with Environment where none comes within the limit; the message names the host,
/// never the key.
Result<long> askForModels(const Provider &provider, HttpClient &http, Duration limit);

} // namespace kopt
