// SPDX-License-Identifier: Apache-2.0
// The user's sources, and the front end that reads them.
#pragma once

#include "driver/app/Services.h"
#include "driver/source/Frontend.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

struct SourceSettings {
  std::vector<std::filesystem::path> files;
  std::filesystem::path
      buildDirectory;             ///< with compile_commands.json; empty where `flags` are given
  std::vector<std::string> flags; ///< nvcc flags
  /// The files are all that the database has: one that does not compile is left out, with a note.
  bool wholeDatabase = false;
};

/// The CUDA files of the compile database where the settings name no file; else the settings as
/// they are. Fails with Usage where there is neither, or no such file in the database.
Result<SourceSettings> withDatabaseFiles(SourceSettings sources);

/// `sandbox` is for candidates' text; without one, nothing is contained. The front end uses the
/// CUDA toolkit of the installation. Fails with Environment where this build has no front end.
Result<std::unique_ptr<Frontend>>
openFrontend(const Services &services, std::optional<CompilerSandbox> sandbox = std::nullopt);

/// To extract the kernels of the files with the proof of their slices; `output` is a folder for
/// what the front end writes.
ExtractRequest extractRequest(const SourceSettings &sources, std::filesystem::path output);

} // namespace kopt
