// SPDX-License-Identifier: Apache-2.0
// The options of a run and where each came from. Earlier sources take precedence: command line,
// environment (KOPT_*), kopt_tune_kernels() arguments, nearest kopt.toml, user config, defaults.
#pragma once

#include "driver/config/Options.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

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
