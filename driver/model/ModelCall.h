// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clang_plugin/output/Fields.h"

#include <string>

namespace kopt {

/// One exchange with a language model, stored so that a resumed run does not ask again.
struct ModelCall {
  std::string requestHash, purpose, model, request, reply;
  long inputTokens = 0, outputTokens = 0, cachedTokens = 0;
  double seconds = 0;
};
KOPT_FIELDS(ModelCall, requestHash, purpose, model, request, reply, inputTokens, outputTokens,
            cachedTokens, seconds)

} // namespace kopt
