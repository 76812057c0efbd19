// SPDX-License-Identifier: Apache-2.0
// The files a contained program sees: a root of its own with the system's programs and libraries,
// read-only, and what the policy names. Nothing else exists there: no home, no /etc but the
// loader's, no other program's scratch.
#pragma once

#include "driver/sandbox/launcher/Options.h"
#include "driver/sandbox/launcher/Outcome.h"

namespace kopt::sandbox {

/// Programs, libraries and headers of the system, and the few files of /etc that starting a program
/// needs.
std::vector<std::string> systemPaths();
/// null, zero, full, random, urandom.
std::vector<std::string> basicDevices();

/// Makes the root and moves into it. The process must be the first of its PID namespace, with a
/// mount namespace of its own and capabilities over it. `privateProc` is set where /proc shows this
/// namespace's processes alone; false where the kernel refuses that (containers that hide parts of
/// /proc): then it is the one from outside, read-only.
Outcome enterView(const Options &options, bool &privateProc);

} // namespace kopt::sandbox
