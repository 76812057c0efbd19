// SPDX-License-Identifier: Apache-2.0
// `kopt check`: which tuned kernels still are what was tuned. Reads the lock and the user's files;
// needs no device and no compiler.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

enum class TunedState {
  Tuned,
  Stale,     ///< its text, or the variant's, changed since
  Regressed, ///< the lock says that it is no longer faster
};

struct TunedKernel {
  std::string kernel, place, variants, run;
  std::vector<std::string> archs;
  double speedup = 1;
  TunedState state = TunedState::Tuned;
  struct Change {
    std::string file;
    unsigned line = 0; ///< 0: of the whole file
    std::string what;
  };
  std::vector<Change> changes; ///< why it is stale
  std::string regressed;       ///< why it is no longer faster
};

/// All kernels of the lock in `folder`. Fails with Usage where there is none, and with StaleInput
/// where it cannot be read. `buildFolder` is where generated files lie; empty: not known.
Result<std::vector<TunedKernel>> checkLock(const std::filesystem::path &folder,
                                           const std::filesystem::path &buildFolder);

/// The folders with a lock that the targets of a CMake build folder use, from their manifests.
/// Fails with Usage where there is none.
Result<std::vector<std::filesystem::path>> lockFoldersOf(const std::filesystem::path &buildFolder);

} // namespace kopt
