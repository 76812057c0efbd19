// SPDX-License-Identifier: Apache-2.0
// `kopt doctor`: what works on this machine.
#pragma once

#include "driver/app/Services.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// Something that kopt needs, or can use.
struct MachineCheck {
  std::string name; ///< "nvcc", "sandbox: seccomp"
  bool ok = false;
  std::string detail; ///< what was found, or what is wrong
  std::string remedy; ///< what to do where it is not ok; empty where it is, or nothing can be done
};

struct MachineReport {
  std::vector<MachineCheck> checks; ///< in a fixed order
  /// Why kopt cannot work here at all, with the remedy: no folder for temporary files. Checks that
  /// need that folder are missing then.
  std::optional<Error> blocked;
};

/// Looks for every program and library that kopt uses, and opens each kind of device. Changes
/// nothing.
MachineReport examineMachine(Services services);

} // namespace kopt
