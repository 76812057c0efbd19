// SPDX-License-Identifier: Apache-2.0
// `kopt clean`: removes old runs.
#pragma once

#include "driver/device/build/BuildCache.h"
#include "driver/support/Result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

struct CleanSettings {
  std::filesystem::path root;   ///< of the project: where .kopt is
  std::filesystem::path output; ///< with the folders of runs and sessions
  std::size_t keep = 3;         ///< runs of each kernel, and sessions
  bool dryRun = false;          ///< only say what would go
};

struct Cleaned {
  std::vector<std::string> removed, kept; ///< names of runs and sessions, the oldest first
  std::uintmax_t bytes = 0;               ///< of the folders and of the database that are gone
};

/// Removes what the build cache holds, of all projects; with `dryRun` says only how much that is.
/// Fails with Environment if something is left.
Result<FolderUse> cleanBuilds(bool dryRun);

/// Removes runs and sessions, from the database and from the output folder. The last runs of each
/// kernel stay, the last sessions, and what the sessions that stay consist of. Fails with
/// Environment if something cannot be removed: the records of what is gone are gone, too.
Result<Cleaned> cleanRuns(const CleanSettings &settings);

} // namespace kopt
