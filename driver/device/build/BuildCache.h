// SPDX-License-Identifier: Apache-2.0
// Modules of earlier runs, in a folder of the user's, so that nothing is compiled twice.
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/support/FileSystem.h"

#include <atomic>
#include <limits>

namespace kopt {

/// Nothing here fails: a folder that cannot be written, or is another user's, keeps nothing, and a
/// damaged entry is removed. Several threads and processes may use a folder at once.
class BuildCache {
public:
  /// Keeps at most `limit` bytes in `folder`; 0: nothing is kept.
  BuildCache(std::filesystem::path folder, std::uintmax_t limit);
  /// Removes the least recently used entries that are too many.
  ~BuildCache();

  /// The outcome of an earlier build with the same inputs, or else of one that is made now. An
  /// outcome is kept if it depends on its inputs alone. The log says which of both it was.
  Result<BuildOutcome> build(Toolchain &compiler, const BuildRequest &request);

  struct Counts {
    unsigned compiled = 0, taken = 0;
  };
  Counts counts() const { return {compiled_, taken_}; } ///< of the builds so far

private:
  std::optional<BuildOutcome> find(const std::filesystem::path &entry,
                                   const BuildRequest &request) const;
  void keep(const std::filesystem::path &entry, const BuildRequest &request,
            const BuildOutcome &outcome, std::int64_t started) const;

  std::filesystem::path folder_;
  std::uintmax_t limit_;
  std::atomic<unsigned> compiled_ = 0, taken_ = 0;
};

/// As trimFolder(), for a cache's folder. Without a limit, no build is removed.
FolderUse trimBuilds(const std::filesystem::path &folder,
                     std::uintmax_t limit = std::numeric_limits<std::uintmax_t>::max());

} // namespace kopt
