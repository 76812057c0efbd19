// SPDX-License-Identifier: Apache-2.0
// The settings of a run of `kopt tune`.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/config/Config.h"
#include "driver/config/Goal.h"
#include "driver/search/Budget.h"

#include "driver/app/resume/FrozenPoint.h"
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// Everything a run depends on, after all sources of configuration were merged.
struct TuneSettings : KernelRequest {
  ResolvedOptions options{};      ///< what follows from them in another form is below
  std::filesystem::path output{}; ///< run folders
  /// Ordinals of the GPUs that judge candidates, which must be of one kind; empty: all GPUs.
  std::vector<int> gpus{0};
  Budget budget{};
  double minGain = 0.01;
  Goal goal{};
  std::vector<std::string> programs{}; ///< command lines of --run, the first one is `program`
  std::vector<std::filesystem::path> candidates{}; ///< files that the user wrote, tried first
  std::size_t batch = 6;                           ///< candidates a round
  int maxModelCalls = 40;
  /// How many candidates are built while others run, which changes no result. None: a suitable
  /// number.
  std::optional<unsigned> buildJobs{};
  std::string benchmark{}; ///< command line in which wins are confirmed if `program` is empty
  std::string build{};     ///< shell command that builds the program; empty: kopt determines it
  AssurancePolicy assurance = AssurancePolicy::Standard; ///< that a win needs
  bool verifyAll = false; ///< the search verifies every candidate, not only what looks faster
  bool resume = false;
  std::optional<FrozenPoint> at{}; ///< only this is asked again
  bool dryRun = false;

  /// Nothing but these candidates is tried.
  bool triesOnlyGiven() const { return options.proposers == std::vector<std::string>{"given"}; }
};

/// The settings of a request, and what follows from options. Fails with Usage.
Result<TuneSettings> tuneSettingsOf(const ResolvedOptions &options, KernelRequest request);

/// How a strategy of knowledge/policy.json decides, in words; empty: it is none of them.
Result<std::string> strategyInWords(const std::string &strategy);

/// The settings as a run's record in the database keeps them.
nlohmann::json toJson(const TuneSettings &settings);

} // namespace kopt
