// SPDX-License-Identifier: Apache-2.0
// From this process to the contained program.
#pragma once

#include "driver/sandbox/launcher/Options.h"
#include "driver/sandbox/launcher/Outcome.h"

#include <functional>

namespace kopt::sandbox {

/// Exit codes of kopt-sandbox itself, beside those of the program (128 + signal where one ended
/// it).
inline constexpr int kExitUsage = 2, kExitRefused = 125, kExitNoProgram = 126;

/// Runs the program in namespaces of its own; returns its exit code, or kExitRefused with the
/// reason on standard error.
int launchInNamespaces(const Options &options);

/// The same through bubblewrap, which starts this program again, inside. Does not return where that
/// works.
int launchInBubblewrap(const Options &options);

/// Gives up privileges, then becomes the program. Does not return where that works. `wholeView` as
/// applyLandlock().
int becomeProgram(const Options &options, bool wholeView);

/// Namespaces and the view, then `step` in place of a program; for the probe. `privateProc` as
/// enterView().
Outcome tryNamespaces(const Options &options, bool &privateProc);

} // namespace kopt::sandbox
