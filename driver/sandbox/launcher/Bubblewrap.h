// SPDX-License-Identifier: Apache-2.0
// bubblewrap makes the namespaces and the view of files of a contained program: a read-only root
// with the system's programs and libraries, and what the policy names. The view has no home, no
// /etc except the loader's files, and no scratch folders of other programs.
#pragma once

#include "driver/sandbox/launcher/Options.h"

namespace kopt::sandbox {

/// The system's programs, libraries and headers, and the few files of /etc that are needed to start
/// a program.
std::vector<std::string> systemPaths();
/// null, zero, full, random, urandom.
std::vector<std::string> basicDevices();

/// The entries of /proc that belong to the kernel, not to a process: folders, and writable files.
/// Root may write to some of them without any capability.
std::vector<std::string> kernelFilesOfProc();

/// The absolute path of bwrap in PATH; empty if it is not installed.
std::string findBubblewrap();

/// The command line of bubblewrap that starts this program again (`--inside` and options.words) as
/// the first process of new namespaces. Paths that do not exist are left out.
std::vector<std::string> bubblewrapCommand(const Options &options);

} // namespace kopt::sandbox
