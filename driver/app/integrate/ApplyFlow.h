// SPDX-License-Identifier: Apache-2.0
// `kopt apply`: what a tuning found, put into the user's files.
#pragma once

#include "driver/integrate/header/HeaderFiles.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

struct ApplyOptions {
  bool checkOnly = false;   ///< nothing is written
  bool modelled = false;    ///< wins whose times are modelled, too
  bool unconfirmed = false; ///< wins that were not confirmed in the program, too
};

/// Applies a patch to every file or to none: of a session the composed one of all its kernels, of a
/// run its winner alone. "latest" is the session of the last run that finished. Only what was
/// confirmed in the program is applied without one of the flags. Fails as findRun() and
/// applyPatch(), and with Usage where there is no win, or none without a flag, which it names.
Result<std::vector<AppliedFile>> applyRun(const std::filesystem::path &root,
                                          const std::string &name, const ApplyOptions &options);

/// The same in the header mode: each win that may be applied becomes a variant in the folder of
/// `request`, and the user's other files stay as they are. Fails as applyRun() and writeHeaders().
Result<HeaderChange> applyToHeaders(const std::filesystem::path &root, const std::string &name,
                                    const ApplyOptions &options, const HeaderRequest &request);

} // namespace kopt
