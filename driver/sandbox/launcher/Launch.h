// SPDX-License-Identifier: Apache-2.0
// From this process to the contained program.
#pragma once

#include "driver/sandbox/launcher/Options.h"
#include "driver/sandbox/launcher/Outcome.h"

namespace kopt::sandbox {

/// Exit codes of kopt-sandbox itself, beside those of the program (128 + signal where one ended
/// it).
inline constexpr int kExitUsage = 2, kExitRefused = 125, kExitNoProgram = 126;

/// Runs the program contained, in namespaces where options.bubblewrap is set. Returns its exit
/// code, or kExitRefused with the reason on standard error.
int launch(const Options &options);

/// The part of launch() inside of bubblewrap's namespaces, as their first process.
int launchInside(const Options &options);

/// Makes the namespaces and the view, without a program; for the probe.
Outcome tryNamespaces(const Options &options);

} // namespace kopt::sandbox
