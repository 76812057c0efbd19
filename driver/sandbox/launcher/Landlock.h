// SPDX-License-Identifier: Apache-2.0
// Landlock: rules of the kernel about files, connections and signals, for a process and its
// descendants. It is a second layer behind the view of files, and the first if there are no
// namespaces.
#pragma once

#include "driver/sandbox/launcher/Options.h"
#include "driver/sandbox/launcher/Outcome.h"

namespace kopt::sandbox {

/// The version of Landlock in this kernel; 0: none, with the reason in errno.
int landlockVersion();

/// Applies the rules of `options` to this process. `wholeView`: the root is a view made for this
/// program, so all of it may be read; otherwise only the system's programs and libraries and what
/// `options` names. Needs no_new_privs.
Outcome applyLandlock(const Options &options, bool wholeView);

} // namespace kopt::sandbox
