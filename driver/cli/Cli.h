// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kopt {

/// Parses the command line, runs the command, prints its result or its error, and returns the exit
/// code.
int runCli(int argc, char **argv);

} // namespace kopt
