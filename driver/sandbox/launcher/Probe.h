// SPDX-License-Identifier: Apache-2.0
// Finds out by trying which layers of a sandbox this machine supports for this user.
#pragma once

namespace kopt::sandbox {

/// Prints a line for each layer: its name, 1 or 0, how it works or why not, and the remedy,
/// separated by tabs. The line "use" has options for the command line instead of a layer. Returns
/// the exit code.
int probe();

} // namespace kopt::sandbox
