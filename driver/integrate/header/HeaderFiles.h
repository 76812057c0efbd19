// SPDX-License-Identifier: Apache-2.0
// The header mode's folder in the user's source tree: kopt.lock, a .cuh file for each kernel, and
// what a build needs to use them without kopt.
#pragma once

#include "driver/integrate/patch/Patch.h"
#include "driver/model/Session.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

struct HeaderRequest {
  std::filesystem::path folder;      ///< absolute; need not exist
  std::filesystem::path buildFolder; ///< generated files lie below it; empty: there is none
  std::vector<std::string> archs;    ///< of the variants; empty: where each was measured
  bool checkOnly = false;            ///< nothing is written
};

struct HeaderChange {
  std::vector<AppliedFile> files; ///< that change, all in the folder
  std::vector<std::string> notes; ///< older variants that had to go, with the reason
};

/// Puts wins of the session into the folder, all or none; those of its kernels and architectures
/// replace older ones. The other files of the user are not touched. Fails with StaleInput where a
/// file is not as it was tuned, or the lock that is there cannot be read, with Usage where a win
/// was recorded by a kopt without header mode, and as changeFolder().
Result<HeaderChange> writeHeaders(const SessionRecord &session,
                                  const std::vector<const SessionWin *> &wins,
                                  const HeaderRequest &request);

} // namespace kopt
