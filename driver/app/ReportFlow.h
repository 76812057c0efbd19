// SPDX-License-Identifier: Apache-2.0
// `kopt report`: what a recorded run found.
#pragma once

#include "driver/report/Report.h"

#include <filesystem>
#include <string>

namespace kopt {

enum class LatestRun {
  Any, ///< one that was interrupted, or failed, too
  Finished
};

/// The run of that name recorded below `root`, or the last one for "latest". Fails with Usage where
/// there is none, listing those there are, and with Environment where the database cannot be read.
Result<RunHistory> findRun(const std::filesystem::path &root, const std::string &name,
                           LatestRun latest = LatestRun::Any);

/// The session of that name; "latest" is the one of the last run that finished. Nothing where there
/// is none: the name may be a run's. Fails with Environment where the database cannot be read.
Result<std::optional<SessionRecord>> findSession(const std::filesystem::path &root,
                                                 const std::string &name);

} // namespace kopt
