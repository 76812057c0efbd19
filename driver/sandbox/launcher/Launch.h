// SPDX-License-Identifier: Apache-2.0
// Starts the contained program.
#pragma once

#include "driver/sandbox/launcher/Options.h"
#include "driver/sandbox/launcher/Outcome.h"

namespace kopt::sandbox {

/// Exit codes of kopt-sandbox itself. Otherwise it exits with the program's exit code, or 128 + the
/// signal that ended the program.
inline constexpr int kExitUsage = 2, kExitRefused = 125, kExitNoProgram = 126;

/// Runs the program contained; in namespaces, if options.bubblewrap is set. Returns its exit code,
/// or kExitRefused with the reason on standard error.
int launch(const Options &options);

/// The part of launch() that runs inside bubblewrap's namespaces, as their first process.
int launchInside(const Options &options);

/// Makes the namespaces and the view without a program, for the probe.
Outcome tryNamespaces(const Options &options);

} // namespace kopt::sandbox
