// SPDX-License-Identifier: Apache-2.0
// Which system calls a contained program may make. Classic BPF written out here: no library is
// needed.
#pragma once

#include "driver/sandbox/launcher/Outcome.h"

namespace kopt::sandbox {

struct CallRules {
  bool network = false;     ///< any socket
  bool unixSockets = false; ///< AF_UNIX sockets
  bool fork = true;         ///< new processes; threads are always allowed
  bool signalOthers = true; ///< signals to other processes than itself
};

/// Installs the filter for this process and all it becomes; it cannot be taken off. Needs
/// no_new_privs. What is refused fails with EPERM; a call of another architecture or ABI kills the
/// process.
Outcome installCallFilter(const CallRules &rules);

} // namespace kopt::sandbox
