// SPDX-License-Identifier: Apache-2.0
// What each command does once its line is parsed. They print results to standard output and return
// the exit code; an Error goes back to runCli, which prints it.
#pragma once

#include "driver/app/TrialFlow.h"
#include "driver/app/TuneSession.h"
#include "driver/app/config/Config.h"

#include <optional>
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
  bool keepGoing = false, acceptWeakWorkload = false;
  std::string failOn = "never";
  std::string program;               ///< of --run: whose launches are the workload
  std::string trace;                 ///< of replay: the folder
  std::string candidate;             ///< of profile: a file
  std::string launch;                ///< of profile: a name
  std::vector<std::string> sections; ///< of profile: of Nsight Compute
  bool ncu = false;
  std::size_t lines = 10; ///< of profile: that are printed
  std::optional<std::size_t> snapshots;
  std::uint64_t maxBytes = 2ull << 30;
  unsigned depth = 1;
  bool once = false;
  bool resume = false, dryRun = false, json = false, check = false, explainConfig = false;
};

Result<int> tuneCommand(Services services, const CommandLine &line);
Result<int> trialCommand(Services services, const CommandLine &line);
Result<int> listCommand(Services services, const CommandLine &line);
Result<int> reportCommand(Services services, const CommandLine &line);
Result<int> applyCommand(Services services, const CommandLine &line);
Result<int> doctorCommand(Services services, const CommandLine &line);
Result<int> observeCommand(Services services, const CommandLine &line);
Result<int> profileCommand(Services services, const CommandLine &line);
Result<int> replayCommand(Services services, const CommandLine &line);

/// What the flags of a line mean to every command that reads sources.
Result<Config> configOf(const CommandLine &line);
SourceSettings sourcesOf(const CommandLine &line);
DeviceConfig deviceOf(const Config &config);
SandboxMode sandboxOf(const Config &config);
SelectionRequest selectionOf(const Config &config);
/// Where .kopt/ is: the top of the user's source tree with a manifest, else the current folder.
std::filesystem::path projectRoot(const Config &config);

} // namespace kopt
