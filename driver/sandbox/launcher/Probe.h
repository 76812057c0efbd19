// SPDX-License-Identifier: Apache-2.0
// What of a sandbox this machine gives this user: tried, not guessed.
#pragma once

namespace kopt::sandbox {

/// Prints a line for each layer: name, 1 or 0, how or why not, what to do; separated by tabs. The
/// name "use" has words for the command line in place of a layer. Returns the exit code.
int probe();

} // namespace kopt::sandbox
