// SPDX-License-Identifier: Apache-2.0
// The table of all options: the name of each, its member of the settings, its check and its help.
#pragma once

#include "driver/source/TuneClauses.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace kopt {

/// The processors that this process may use, less two for each GPU, so that a measurement never
/// shares a processor with a build.
std::int64_t defaultBuildJobs(std::size_t gpus = 1);

/// Every option with its value.
struct ResolvedOptions {
  std::int64_t rounds = 100;        ///< at most
  std::int64_t trials = 200;        ///< at most
  std::int64_t patience = 8;        ///< rounds without a new incumbent before the search stops
  std::int64_t maxTokens = 500'000; ///< of all model calls together; 0: no limit
  double maxDollars = 0;            ///< of all model calls together; 0: no limit
  std::int64_t seed = 1;
  /// Candidates built at a time while others run; 0: none.
  std::int64_t buildJobs = defaultBuildJobs();
  double budgetSeconds = 1800; ///< wall time of the run
  /// Smallest speedup that is worth a patch, as a ratio: 1.02 for 2 percent.
  double minSpeedup = 1.02;
  std::string objective = "mean"; ///< as parseGoal() reads it
  double maxLaunchRegression = 2; ///< percent; a launch that gets slower by more is no win
  std::vector<std::string> proposers = {"params", "transform"}; ///< and llm if a model is given
  /// Options of the compiler that may be tried: registers, load-cache, fast-math, file:PATH, none.
  std::vector<std::string> controls = {"registers", "load-cache"};
  std::string strategy = "auto";    ///< what is tried next (knowledge/policy.json); greedy, survey
  std::string experience = "on";    ///< of earlier runs: on, off
  std::string roof = "stop";        ///< what becomes of a kernel at its roof: stop, ignore
  std::vector<std::string> kernels; ///< names or globs; empty: every annotated kernel
  std::vector<std::string> benchmark; ///< command in which wins are confirmed; empty: none
  std::vector<std::string> run;       ///< command whose launches are the workload; empty: none
  std::string mode =
      "patch"; ///< how wins reach the program: patch, or header (docs/header-mode.md)
  /// For which variants of the header mode are written; empty: the one they were measured on.
  std::vector<std::string> archs;
  std::string model;           ///< "anthropic:MODEL", "exec:COMMAND", …; empty: none
  std::string device = "auto"; ///< auto, cuda, emulated
  std::string gpus = "1";      ///< GPUs that judge candidates: a number, "all", or ordinals "0,2"
  std::string executor = "local";     ///< where candidates are judged; as parseExecutor() takes it
  std::string executorProgram;        ///< kopt on the executor's hosts; empty: this one
  std::string executorFolder;         ///< the root of the project there; empty: as it is here
  std::int64_t executorRestarts = 3;  ///< of one worker
  std::string modelGpu = "H200";      ///< GPU whose times the emulated device models
  std::string arch;                   ///< "sm_90"; empty: the device's
  std::string output = "kopt.out";    ///< folder for run folders
  std::string sandbox = "auto";       ///< of candidates: auto, required, off
  std::string assurance = "standard"; ///< that a win needs: standard, strict
  std::string cacheMode = "auto";     ///< with which launches are timed: auto, cold, warm
  std::int64_t buildCache = 1024; ///< MiB of builds kept for later runs of all projects; 0: none
  std::string tests; ///< regular expression of ctest tests that a patched program must pass
};

using OptionValue = std::variant<std::int64_t, double, std::string, std::vector<std::string>>;
/// The options that one source sets, by key. In files the keys are written with dashes
/// (budget-seconds), in the environment as KOPT_BUDGET_SECONDS, in manifests as budget_seconds.
using TuneOptions = std::map<std::string, OptionValue>;

template <class T> using OptionMember = T ResolvedOptions::*;
struct Option {
  const char *key;
  std::variant<OptionMember<std::int64_t>, OptionMember<double>, OptionMember<std::string>,
               OptionMember<std::vector<std::string>>>
      member;
  /// Returns what is wrong with a value of the member's type; empty: it is valid.
  std::function<std::string(const OptionValue &)> check;
  std::string help{};                 ///< of its flag; empty: no command has one
  std::vector<std::string> choices{}; ///< empty: other values are valid too
};

/// All options, in the order in which they are explained.
const std::vector<Option> &allOptions();
const Option *findOption(const std::string &key); ///< null: there is none
std::string showValue(const OptionValue &value);
OptionValue valueOf(const ResolvedOptions &settings, const Option &option);
/// Sets a value that has been checked.
void setValue(ResolvedOptions &settings, const Option &option, const OptionValue &value);

namespace config {

/// The options of one source, each with the place that set it.
struct ConfigSource {
  TuneOptions options;
  std::map<std::string, std::string> places; ///< key -> "kopt.toml:4"
  std::vector<KernelClauses> kernels;
  std::map<std::string, std::string> manifest;
};

/// Checks and stores a value. Returns what is wrong with key or value; empty: both are valid.
std::string setOption(ConfigSource &source, const std::string &key, OptionValue value,
                      const std::string &place);
/// As setOption(), from text: parses numbers and splits lists at commas.
std::string setOptionFromText(ConfigSource &source, const std::string &key, const std::string &text,
                              const std::string &place);

std::vector<std::string> optionKeys();

/// Whose file it is. A repository's file may not choose what runs on the user's machine or where
/// sources are sent.
enum class Trust { User, Repository };

Result<ConfigSource> readToml(const std::filesystem::path &file, Trust trust);
Result<ConfigSource> readManifest(const std::filesystem::path &file);

} // namespace config
} // namespace kopt
