// SPDX-License-Identifier: Apache-2.0
// Runs kopt-runner with a prepared script under a tool that watches it.
#pragma once

#include "driver/support/Process.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

struct WatchRequest {
  std::vector<std::string> runner; ///< the command of kopt-runner with its device, without a script
  std::string script;              ///< lines of requests
  std::filesystem::path folder{};  ///< for the script and its replies
  Duration deadline{120};

  std::filesystem::path replies() const { return folder / "replies"; }
};

/// Runs the tool, whose command line begins with `tool`. Fails if a file cannot be written or the
/// tool cannot be started.
Result<ProcessResult> watchRunner(ProcessRunner &processes, std::vector<std::string> tool,
                                  const WatchRequest &request);

} // namespace kopt
