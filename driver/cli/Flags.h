// SPDX-License-Identifier: Apache-2.0
// Flags that several commands have, and what they mean.
#pragma once

#include "driver/app/KernelRequest.h"
#include "driver/cli/Envelope.h"
#include "driver/config/Config.h"
#include "driver/judge/JudgeOptions.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kopt {

inline constexpr int kFailOnMatched = 2;   ///< exit code where --fail-on applies
inline constexpr int kWaitsForReplies = 7; ///< exit code where a model replies in a later session

/// Which files, and how they are compiled.
struct SourceFlags {
  std::vector<std::string> files;
  std::string buildDirectory, command;

  /// Where nvcc's flags follow after `--`, as the end of the help then says.
  void addTo(CLI::App &app, const std::string &help = ".cu files");
  /// Files may be left out with -p: then they are all CUDA files of the compile database. Fails as
  /// withDatabaseFiles() does.
  Result<SourceSettings> settings(const std::vector<std::string> &nvccFlags) const;
  /// The same where no files may be meant as well: then there are none.
  Result<SourceSettings> settingsIfAny(const std::vector<std::string> &nvccFlags) const;
};

/// Flags that override the configuration.
struct ConfigFlags {
  TuneOptions options;
  std::string manifest;

  /// Adds the flags of these options, by key.
  void add(CLI::App &app, const std::vector<std::string> &keys);
  /// Adds the flag of an option, with another help than that of the table; empty: that. The help
  /// says the default.
  void add(CLI::App &app, const std::string &key, const std::string &help);
  /// All about which kernels, and where they run.
  void addPlace(CLI::App &app);
  void addExecutor(CLI::App &app);
  void addManifest(CLI::App &app);
  /// Merges them with the environment, the manifest and the configuration files; the search for
  /// kopt.toml starts at the first file.
  Result<Config> load(const std::vector<std::string> &files) const;
  /// What load() asks for.
  ConfigRequest request(const std::vector<std::string> &files) const;
};

AssurancePolicy assuranceOf(const Config &config);
/// Which kernels, and where they run, by flags and configuration. Fails as SourceFlags::settings().
Result<KernelRequest> kernelRequest(const Config &config, const SourceFlags &sources,
                                    const std::vector<std::string> &nvccFlags,
                                    const std::string &program = {});
/// The same without sources.
KernelRequest kernelRequest(const Config &config);
/// Where candidates are judged, for commands that have addExecutor()'s flags. Fails with Usage.
Status setExecutor(const Config &config, KernelRequest &request);
/// How single candidates are judged: one may take longer than in a search.
JudgeOptions trialOptions(const Config &config);

/// Prints a note of a flow; the label of a warning is painted.
void printNote(const std::string &note, Terminal &terminal);
/// Prints the notes of a flow and adds them to the answer.
void addNotes(const std::vector<std::string> &notes, Answer &answer, Terminal &terminal);

/// The files of --candidate. Fails with Usage if one does not exist.
Result<std::vector<std::filesystem::path>>
candidateFiles(const std::vector<std::string> &candidates);

/// `--run PROGRAM`.
void addProgram(CLI::App &app, std::string &program);
/// `--run-id NAME`.
void addRunId(CLI::App &app, std::string &runId);

} // namespace kopt
