// SPDX-License-Identifier: Apache-2.0
// What a run of `kopt tune` depends on.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/app/config/Config.h"
#include "driver/search/Budget.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// Everything a run depends on, after all sources of configuration were merged.
struct TuneSettings {
  SourceSettings sources;
  SelectionRequest selection;
  std::filesystem::path root;   ///< .kopt/ and relative outputs live here
  std::filesystem::path output; ///< run folders
  DeviceConfig device;
  std::vector<int> gpus{
      0}; ///< ordinals of those that judge candidates, all alike; none: all there are
  SandboxMode sandbox = SandboxMode::Auto;
  std::string arch;                   ///< empty: the device's
  std::vector<std::string> proposers; ///< params, transform, llm
  std::string model;                  ///< of the llm proposer
  Budget budget;
  double minGain = 0.01;
  std::size_t batch = 6; ///< candidates a round
  std::uint64_t seed = 1;
  int maxModelCalls = 40;
  long maxTokens = 0; ///< of the language model; 0: no limit
  std::optional<unsigned>
      buildJobs; ///< candidates built while others run; changes no result. None: as many as fit
  std::string
      program; ///< command line whose launches are the workload; empty: the declared ones are
  std::string benchmark; ///< command line in which wins are confirmed where `program` is empty
  std::string build;     ///< command line that builds the program, for a shell; empty: as found out
  std::string tests;     ///< regular expression of ctest tests that a patched program must pass
  AssurancePolicy assurance = AssurancePolicy::Standard; ///< which wins are taken
  bool resume = false;
  bool dryRun = false;
};

/// What options alone say: everything but sources, selection, device, sandbox, and the program.
/// Fails with Usage.
Result<TuneSettings> tuneSettingsOf(const ResolvedOptions &options,
                                    const std::filesystem::path &root);

} // namespace kopt
