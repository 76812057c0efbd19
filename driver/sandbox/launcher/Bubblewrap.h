// SPDX-License-Identifier: Apache-2.0
// bubblewrap makes the namespaces and the files that a contained program sees: a root with the
// system's programs and libraries, read-only, and what the policy names. There is no home, no /etc
// except the loader's files, and no other program's scratch.
#pragma once

#include "driver/sandbox/launcher/Options.h"

namespace kopt::sandbox {

/// Programs, libraries and headers of the system, and the few files of /etc that starting a program
/// needs.
std::vector<std::string> systemPaths();
/// null, zero, full, random, urandom.
std::vector<std::string> basicDevices();

/// What /proc has beside processes is the kernel's, and root may write to some of it without any
/// capability: folders, and files that somebody may write to.
std::vector<std::string> kernelFilesOfProc();

/// The absolute path of bwrap in PATH; empty where it is not installed.
std::string findBubblewrap();

/// The command line of bubblewrap that starts this program again (`--inside` and options.words) as
/// the first process of new namespaces. Paths that do not exist are left out.
std::vector<std::string> bubblewrapCommand(const Options &options);

} // namespace kopt::sandbox
