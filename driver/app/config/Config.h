// SPDX-License-Identifier: Apache-2.0
// The options of a run and where each came from. Earlier sources take precedence: command line,
// environment (KOPT_*), kopt_tune_kernels() arguments, nearest kopt.toml, user config, defaults.
#pragma once

#include "driver/source/TuneClauses.h"

#include <filesystem>
#include <functional>
#include <map>
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

struct ConfigValue {
  std::string key, value,
      source; ///< source: "command line", "KOPT_ROUNDS", "kopt.toml:4", "default"
};

struct Config {
  ResolvedOptions settings;
  std::vector<ConfigValue> values; ///< every option, in a fixed order: what explainConfig() prints
  std::vector<KernelClauses> kernels; ///< the user's config first, then the project's
  /// target, source_dir and build_dir; empty if there is no manifest.
  std::map<std::string, std::string> manifest;
};

struct ConfigRequest {
  std::filesystem::path directory; ///< where the search for kopt.toml starts, upwards
  std::filesystem::path manifest;  ///< written by kopt_tune_kernels(); empty: none
  TuneOptions commandLine;
  std::function<const char *(const char *)> environment; ///< null: the process's own
};

/// The kopt.toml of the folder, or of the nearest parent folder that has one; empty: there is none.
std::filesystem::path nearestConfig(const std::filesystem::path &directory);

/// Fails with Usage, naming file, line and key, for an unknown key (with a suggestion), a value of
/// the wrong type or out of range, or a key that a repository may not set (commands, endpoints,
/// sandbox; the hint says where to set it).
Result<Config> loadConfig(const ConfigRequest &request);

/// Where .kopt/ is: the top of the user's source tree with a manifest, else the current folder.
std::filesystem::path projectRoot(const Config &config);

/// The folder of the header mode, absolute: as the command line says (may be empty), or as
/// kopt_tune_kernels() does, or else kopt in the project's root.
std::filesystem::path headerFolder(const Config &config, const std::string &folder);

/// One line for each option: "rounds = 12 (default)".
std::string explainConfig(const Config &config);

} // namespace kopt
