// SPDX-License-Identifier: Apache-2.0
// The system calls that a contained program may make. libseccomp makes the filter.
#pragma once

#include "driver/sandbox/launcher/Outcome.h"

namespace kopt::sandbox {

struct CallRules {
  bool unixSockets = false; ///< AF_UNIX sockets; no others are ever allowed
  /// False outside of namespaces, where every socket of the machine is reachable: connect() and
  /// sockets that need no connection are then refused.
  bool connect = true;
  bool fork = true;         ///< new processes; threads are always allowed
  bool signalOthers = true; ///< signals to other processes
};

/// Installs the filter for this process and its descendants; it cannot be removed. Needs
/// no_new_privs. A refused call fails with EPERM; a call of another architecture or ABI kills the
/// process.
Outcome installCallFilter(const CallRules &rules);

} // namespace kopt::sandbox
