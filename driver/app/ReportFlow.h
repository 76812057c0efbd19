// SPDX-License-Identifier: Apache-2.0
// `kopt report` and `kopt explain`: show what a recorded run found.
#pragma once

#include "driver/report/Report.h"
#include "driver/support/Process.h"

#include <filesystem>
#include <string>

namespace kopt {

enum class LatestRun {
  Any, ///< also a run that was interrupted or failed
  Finished
};

/// The run with that name recorded below `root`; "latest" is the last one. Fails with Usage,
/// listing the known runs, if there is none, and with Environment if the database cannot be read.
Result<RunHistory> findRun(const std::filesystem::path &root, const std::string &name,
                           LatestRun latest = LatestRun::Any);

/// The session with that name; "latest" is the last one, unless a later run has finished. Nothing
/// if there is none: the name may be a run's. Fails with Environment if the database cannot be
/// read.
Result<std::optional<SessionRecord>> findSession(const std::filesystem::path &root,
                                                 const std::string &name);

/// A rendered page of a run, or of a session with several wins.
struct Page {
  std::string name; ///< of the run or session, and of its folder below the output
  std::string file; ///< report.html or summary.html
  std::string text;
};

/// Renders the page of that run or session from the database. "latest" is the last session if it
/// has several wins, the run of its only win, or the last run. Fails as findRun().
Result<Page> renderPage(const std::filesystem::path &root, const std::string &name);

/// Opens a file in a browser and does not wait for it: $BROWSER, otherwise xdg-open or open. Fails
/// with Environment, naming the file, if there is no browser or no screen.
Status openInBrowser(ProcessRunner &processes, const std::filesystem::path &file);

} // namespace kopt
