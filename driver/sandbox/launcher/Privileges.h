// SPDX-License-Identifier: Apache-2.0
// What a process gives up before it becomes the contained program: resources and capabilities.
#pragma once

#include "driver/sandbox/launcher/Options.h"
#include "driver/sandbox/launcher/Outcome.h"

namespace kopt::sandbox {

/// Limits CPU seconds, file size, open files, processes and address space, and disables core files.
Outcome limitResources(const Options &options);

/// Drops every capability, and the right to gain any by executing a file.
Outcome dropPrivileges();

} // namespace kopt::sandbox
