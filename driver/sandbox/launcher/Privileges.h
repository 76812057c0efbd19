// SPDX-License-Identifier: Apache-2.0
// What a process gives up before it becomes the contained program.
#pragma once

#include "driver/sandbox/launcher/Options.h"
#include "driver/sandbox/launcher/Outcome.h"

namespace kopt::sandbox {

/// CPU seconds, file size, open files, processes, address space; never a core file.
Outcome limitResources(const Options &options);

/// Every capability, and the right to gain any by executing a file. Nothing to do for a process
/// that has none.
Outcome dropPrivileges();

} // namespace kopt::sandbox
