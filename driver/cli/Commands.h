// SPDX-License-Identifier: Apache-2.0
// What each command does once its line is parsed. They print results to standard output and return the exit code; an
// Error goes back to runCli, which prints it.
#pragma once

#include "driver/app/JudgeFile.h"
#include "driver/app/TuneSession.h"
#include "driver/config/Config.h"

#include <string>

namespace kopt {

/// Flags that several commands share.
struct CommandLine {
  std::vector<std::string> files;
  std::string buildDirectory, manifest;
  std::vector<std::string> flags; ///< after `--`: nvcc's
  TuneOptions options;
  std::string run = "latest";
  std::vector<std::string> candidates, without;
  bool keepGoing = false;
  std::string failOn = "never";
  bool resume = false, dryRun = false, json = false, check = false, explainConfig = false;
};

Result<int> tuneCommand(Services services, const CommandLine &line);
Result<int> trialCommand(Services services, const CommandLine &line);
Result<int> listCommand(Services services, const CommandLine &line);
Result<int> reportCommand(Services services, const CommandLine &line);
Result<int> applyCommand(Services services, const CommandLine &line);
Result<int> doctorCommand(Services services, const CommandLine &line);

} // namespace kopt
