// SPDX-License-Identifier: Apache-2.0
// The settings of a run of `kopt tune`.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/app/config/Config.h"
#include "driver/search/Budget.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
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
      /// Ordinals of the GPUs that judge candidates, which must be of one kind; empty: all GPUs.
      0};
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
  /// How many candidates are built while others run, which changes no result. None: a suitable
  /// number.
  std::optional<unsigned> buildJobs;
  /// Command line whose launches are the workload; empty: the declared launches are the workload.
  std::string program;
  std::string benchmark; ///< command line in which wins are confirmed if `program` is empty
  std::string build;     ///< shell command that builds the program; empty: kopt determines it
  std::string tests;     ///< regular expression of ctest tests that a patched program must pass
  AssurancePolicy assurance = AssurancePolicy::Standard; ///< that a win needs
  bool resume = false;
  bool dryRun = false;
};

/// The settings that follow from options alone: everything except sources, selection, device,
/// sandbox and the program. Fails with Usage.
Result<TuneSettings> tuneSettingsOf(const ResolvedOptions &options,
                                    const std::filesystem::path &root);

/// The settings as a run's record in the database keeps them.
nlohmann::json toJson(const TuneSettings &settings);

} // namespace kopt
