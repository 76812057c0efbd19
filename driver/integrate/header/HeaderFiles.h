// SPDX-License-Identifier: Apache-2.0
// The folder of the header mode in the user's source tree: kopt.lock, a .cuh file for each kernel,
// and the files that a build needs to use them without kopt.
#pragma once

#include "driver/integrate/overlay/Lock.h"
#include "driver/integrate/patch/Patch.h"
#include "driver/model/Session.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

struct HeaderRequest {
  std::filesystem::path folder;      ///< absolute; need not exist
  std::filesystem::path buildFolder; ///< contains generated files; empty: there is none
  std::vector<std::string> archs;    ///< for which the variants are; empty: where each was measured
  bool checkOnly = false;            ///< only checks, writes nothing
};

struct HeaderChange {
  std::vector<AppliedFile> files; ///< changed files, all in the folder
  std::vector<std::string> notes; ///< older variants that were removed, with the reason
};

/// Adds wins of the session to the folder, all or none. They replace older variants of the same
/// kernels and architectures. Other files of the user are not touched. Fails with StaleInput if a
/// file has changed since it was tuned or the existing lock cannot be read, with Usage if a win was
/// recorded by a kopt without header mode, and as changeFolder().
Result<HeaderChange> writeHeaders(const SessionRecord &session,
                                  const std::vector<const SessionWin *> &wins,
                                  const HeaderRequest &request);

/// The lock of the folder; an empty one if there is none. Fails with StaleInput, naming the line,
/// if it cannot be read.
Result<overlay::Lock> lockIn(const std::filesystem::path &folder);

/// Writes to kopt.lock why the build should no longer use the variant with that index; an empty
/// `why` lets it be used again. A lock that says so already is not written. Fails with StaleInput
/// if the lock cannot be read or has no such entry, and as changeFolder().
Status recordRegression(const std::filesystem::path &folder, std::size_t entry,
                        const std::string &why);

} // namespace kopt
