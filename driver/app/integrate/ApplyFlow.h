// SPDX-License-Identifier: Apache-2.0
// `kopt apply`: puts the wins of a session into the user's files.
#pragma once

#include "driver/integrate/header/HeaderFiles.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

struct ApplyOptions {
  bool checkOnly = false;   ///< only checks, writes nothing
  bool modelled = false;    ///< also applies wins whose times are modelled
  bool unconfirmed = false; ///< also applies wins that were not confirmed in the program
};

/// Applies a patch to all of its files, or to none: the composed patch of a session, or the winner
/// of a run. "latest" is the session of the last run that finished. Without one of the flags, only
/// confirmed wins are applied. Fails as findRun() and applyPatch(), and with Usage if there is no
/// win, or only wins that need a flag, which it names.
Result<std::vector<AppliedFile>> applyRun(const std::filesystem::path &root,
                                          const std::string &name, const ApplyOptions &options);

/// As applyRun(), but in header mode: each win that may be applied becomes a variant in the folder
/// of `request`, and the user's other files do not change. Fails as applyRun() and writeHeaders().
Result<HeaderChange> applyToHeaders(const std::filesystem::path &root, const std::string &name,
                                    const ApplyOptions &options, const HeaderRequest &request);

} // namespace kopt
