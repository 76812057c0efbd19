// SPDX-License-Identifier: Apache-2.0
// The user's sources, and the front end that reads them.
#pragma once

#include "driver/app/services/Services.h"
#include "driver/source/Frontend.h"
#include "driver/source/Subjects.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

struct SourceSettings {
  std::vector<std::filesystem::path> files;
  /// Contains compile_commands.json; empty if `flags` are given.
  std::filesystem::path buildDirectory;
  std::vector<std::string> flags; ///< nvcc flags
  std::string command{};          ///< as ExtractRequest has it
  /// True if the files are all those of the database; a file that does not compile is then left
  /// out, with a note.
  bool wholeDatabase = false;
};

/// If the settings name no file, adds the CUDA files of the compile database; otherwise returns
/// them unchanged. Fails with Usage if there is no database either, or it has no CUDA file.
Result<SourceSettings> withDatabaseFiles(SourceSettings sources);

/// Opens the front end. `sandbox` contains it while it reads text of candidates; without one, it is
/// not contained. The front end uses the CUDA toolkit of the installation. Fails with Environment
/// if this build has no front end.
Result<std::unique_ptr<Frontend>>
openFrontend(const Services &services, std::optional<CompilerSandbox> sandbox = std::nullopt);

/// A request to extract the kernels of the files and prove their slices. The front end writes to
/// the folder `output`.
ExtractRequest extractRequest(const SourceSettings &sources, std::filesystem::path output);

/// Without nvcc there is nothing to prove: an extraction then needs no second one, with proof.
bool canProve(const Services &services);

/// The same for these kernels alone, as an extraction without proof found them, and the files that
/// define or launch them.
ExtractRequest proofRequest(const SourceSettings &sources, std::filesystem::path output,
                            const std::vector<KernelInstance> &kernels);

} // namespace kopt
