// SPDX-License-Identifier: Apache-2.0
// `kopt check`: tells which tuned kernels have changed since they were tuned. Reads the lock and
// the user's files; needs no device and no compiler.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "driver/integrate/overlay/Lock.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

namespace overlay {
KOPT_FIELDS(Change, file, line, what)
}

enum class TunedState {
  Tuned,
  Stale,     ///< its text or that of the variant has changed
  Regressed, ///< the lock says that it is no longer faster
};
constexpr auto spellings(TunedState) {
  return std::to_array<std::string_view>({"tuned", "stale", "regressed"});
}

struct TunedKernel {
  std::string kernel, place, variants, run;
  std::vector<std::string> archs;
  double speedup = 1;
  bool modelled = false; ///< the speedup is of the emulated device
  TunedState state = TunedState::Tuned;
  std::vector<overlay::Change> changes; ///< why it is stale
  std::string regressed;                ///< why it is no longer faster
};
KOPT_FIELDS(TunedKernel, kernel, place, variants, run, archs, speedup, modelled, state, changes,
            regressed)

/// The lock in `folder`. Fails with Usage if there is none, and with StaleInput if it cannot be
/// read.
Result<overlay::Lock> readLock(const std::filesystem::path &folder);

/// Checks all kernels of the lock in `folder`, in its order. `buildFolder` contains generated
/// files; empty: not known. Fails as readLock().
Result<std::vector<TunedKernel>> checkLock(const std::filesystem::path &folder,
                                           const std::filesystem::path &buildFolder);

/// The folders with a lock that the targets of a CMake build folder use, from their manifests.
/// Fails with Usage if there is none.
Result<std::vector<std::filesystem::path>> lockFoldersOf(const std::filesystem::path &buildFolder);

} // namespace kopt
