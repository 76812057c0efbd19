// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/llm/Tool.h"
#include "driver/support/Process.h"

namespace kopt {

/// Runs kopt itself, with --json, and returns what it prints: cli/Envelope.h. Its progress is the
/// call's, and a cancelled call kills it. Fails with Interrupted if the call was cancelled, and
/// with Environment if it cannot be started or ends without a result.
Result<nlohmann::json> runKopt(ProcessRunner &processes, const std::vector<std::string> &arguments,
                               const ToolCall &call);

} // namespace kopt
