// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clang_plugin/output/Fields.h"

#include <map>
#include <optional>
#include <string>

namespace kopt {

/// One exchange with a language model, stored so that a resumed run does not ask again.
struct ModelCall {
  std::string requestHash, purpose, model, request, reply;
  long inputTokens = 0, outputTokens = 0, cachedTokens = 0;
  double seconds = 0;
  // Unset in records of earlier versions:
  std::optional<int> ask{};                              ///< id of the Ask that it was made for
  std::optional<std::string> uses{};                     ///< JSON: of tools, in the reply
  std::optional<long> cacheWriteTokens{};                ///< of inputTokens
  std::optional<double> dollars{};                       ///< unset, too, where no price is known
  std::optional<std::map<std::string, long>> sections{}; ///< bytes of each section of the prompt
  std::optional<std::string> key{}; ///< of the request, by which the reply is found

  /// It waits for its reply, which comes in a later session.
  bool isOpen() const { return reply.empty() && !uses; }
};
KOPT_FIELDS(ModelCall, requestHash, purpose, model, request, reply, inputTokens, outputTokens,
            cachedTokens, seconds, ask, uses, cacheWriteTokens, dollars, sections, key)

} // namespace kopt
