// SPDX-License-Identifier: Apache-2.0
// Every check there is, in the order in which they have their say.
#pragma once

#include "driver/judge/checks/EmulationCheck.h"
#include "driver/judge/checks/ReferenceCheck.h"

#include <memory>
#include <vector>

namespace kopt {

/// What checks need that build something of their own.
struct CheckServices {
  Frontend &frontend;
  Toolchain &toolchain;
  Emulation *emulation = nullptr; ///< beside a GPU; null: there is none
  AssurancePolicy assurance = AssurancePolicy::Standard;
};

/// Those that are switched on, in order: the cheapest first. They share the derived launches.
std::vector<std::unique_ptr<Check>> makeChecks(const CheckSwitches &switches,
                                               CheckServices services,
                                               const ReferenceSettings &precise,
                                               const std::shared_ptr<DerivedReplays> &replays);

} // namespace kopt
