// SPDX-License-Identifier: Apache-2.0
// `kopt report` and `kopt explain`: what a recorded run found.
#pragma once

#include "driver/report/Report.h"
#include "driver/support/Process.h"

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

/// The session of that name; "latest" is the last one, where no run began after it and finished.
/// Nothing where there is none: the name may be a run's. Fails with Environment where the database
/// cannot be read.
Result<std::optional<SessionRecord>> findSession(const std::filesystem::path &root,
                                                 const std::string &name);

/// What a page shows: a run, or a session of several.
struct Page {
  std::string name; ///< of the run or session: its folder below the output
  std::string file; ///< report.html or summary.html
  std::string text;
};

/// The page of that run or session, rendered from the database; "latest" is the last session where
/// it has several wins, its one win, or the last run. Fails as findRun() does.
Result<Page> renderPage(const std::filesystem::path &root, const std::string &name);

/// Opens a file in a browser and does not wait for it: $BROWSER, otherwise xdg-open or open. Fails
/// with Environment, naming the file, where there is none of these or no screen.
Status openInBrowser(ProcessRunner &processes, const std::filesystem::path &file);

} // namespace kopt
