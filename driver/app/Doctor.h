// SPDX-License-Identifier: Apache-2.0
// `kopt doctor`: checks what works on this machine.
#pragma once

#include "driver/app/Services.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The check of something that kopt needs or can use.
struct MachineCheck {
  std::string name; ///< "nvcc", "sandbox: seccomp"
  bool ok = false;
  std::string detail; ///< what was found, or what is wrong
  std::string remedy; ///< what to do if it is not ok; empty if it is ok or nothing can be done
};

struct MachineReport {
  std::vector<MachineCheck> checks; ///< in a fixed order
  /// Set if kopt cannot work at all, with the remedy: there is no folder for temporary files.
  /// Checks that need that folder are then missing.
  std::optional<Error> blocked;
};

/// Looks for every program and library that kopt uses, and opens each kind of device. Changes
/// nothing.
MachineReport examineMachine(Services services);

} // namespace kopt
