// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The options that one source sets. In files the names are written with dashes (budget-seconds),
/// in the environment as KOPT_BUDGET_SECONDS, in manifests as budget_seconds.
struct TuneOptions {
  std::optional<std::int64_t> rounds, trials, patience, maxTokens, seed, buildJobs;
  std::optional<double> budgetSeconds, minSpeedup;
  std::optional<std::vector<std::string>> proposers, kernels, benchmark, run, archs;
  std::optional<std::string> model, device, gpus, modelGpu, arch, output, tests, sandbox, assurance,
      mode;
};

/// The processors that this process may use, less two for each GPU, so that a measurement never
/// shares a processor with a build.
std::int64_t defaultBuildJobs(std::size_t gpus = 1);

/// Every option with its value.
struct ResolvedOptions {
  std::int64_t rounds = 12;         ///< at most
  std::int64_t trials = 200;        ///< at most
  std::int64_t patience = 4;        ///< rounds without a new incumbent before the search stops
  std::int64_t maxTokens = 500'000; ///< of all model calls together; 0: no limit
  std::int64_t seed = 1;
  /// Candidates built at a time while others run; 0: none.
  std::int64_t buildJobs = defaultBuildJobs();
  double budgetSeconds = 1800; ///< wall time of the run
  /// Smallest speedup that is worth a patch, as a ratio: 1.02 for 2 percent.
  double minSpeedup = 1.02;
  std::vector<std::string> proposers = {"params", "transform"}; ///< and llm if a model is given
  std::vector<std::string> kernels;   ///< names or globs; empty: every annotated kernel
  std::vector<std::string> benchmark; ///< command in which wins are confirmed; empty: none
  std::vector<std::string> run;       ///< command whose launches are the workload; empty: none
  std::string mode =
      "patch"; ///< how wins reach the program: patch, or header (docs/header-mode.md)
  /// For which variants of the header mode are written; empty: the one they were measured on.
  std::vector<std::string> archs;
  std::string model;             ///< "anthropic:MODEL", "openai:MODEL", "exec:COMMAND"; empty: none
  std::string device = "auto";   ///< auto, cuda, emulated
  std::string gpus = "1";        ///< GPUs that judge candidates: a number, "all", or ordinals "0,2"
  std::string modelGpu = "H200"; ///< GPU whose times the emulated device models
  std::string arch;              ///< "sm_90"; empty: the device's
  std::string output = "kopt.out";    ///< folder for run folders
  std::string sandbox = "auto";       ///< of candidates: auto, required, off
  std::string assurance = "standard"; ///< that a win needs: standard, strict
  std::string tests; ///< regular expression of ctest tests that a patched program must pass
};

} // namespace kopt
