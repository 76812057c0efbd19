// SPDX-License-Identifier: Apache-2.0
// Modules of earlier runs, in a folder of the user's, so that nothing is compiled twice.
#pragma once

#include "driver/device/Toolchain.h"

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

struct BuildCacheUse {
  std::size_t builds = 0;
  std::uintmax_t bytes = 0;
};
/// Removes the least recently used entries of a cache's folder until the others have at most
/// `limit` bytes. Returns what is left. Without a limit, nothing is removed.
BuildCacheUse trimBuilds(const std::filesystem::path &folder,
                         std::uintmax_t limit = std::numeric_limits<std::uintmax_t>::max());

} // namespace kopt
