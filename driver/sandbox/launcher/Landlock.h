// SPDX-License-Identifier: Apache-2.0
// Landlock: the kernel's own rules about files, connections and signals, for a process and all it
// becomes. The second layer below the file view, and the first where there can be no namespaces.
#pragma once

#include "driver/sandbox/launcher/Options.h"
#include "driver/sandbox/launcher/Outcome.h"

namespace kopt::sandbox {

/// The version of Landlock that this kernel has; 0: none, with the reason in errno.
int landlockVersion();

/// `wholeView`: the root is a view made for this program, so all of it may be read; otherwise only
/// the system's programs and libraries and what `options` name. Needs no_new_privs.
Outcome applyLandlock(const Options &options, bool wholeView);

} // namespace kopt::sandbox
