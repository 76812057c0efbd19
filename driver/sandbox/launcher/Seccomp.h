// SPDX-License-Identifier: Apache-2.0
// Which system calls a contained program may make; libseccomp makes the filter.
#pragma once

#include "driver/sandbox/launcher/Outcome.h"

namespace kopt::sandbox {

struct CallRules {
  bool unixSockets = false; ///< AF_UNIX sockets; no others are ever allowed
  /// Outside of namespaces every socket of the machine is in sight: then only sockets that have to
  /// be connected may be made, and connect() finds nobody.
  bool connect = true;
  bool fork = true;         ///< new processes; threads are always allowed
  bool signalOthers = true; ///< signals to other processes than itself
};

/// Installs the filter for this process and all it becomes; it cannot be taken off. Needs
/// no_new_privs. A refused call fails with EPERM; a call of another architecture or ABI kills the
/// process.
Outcome installCallFilter(const CallRules &rules);

} // namespace kopt::sandbox
