// SPDX-License-Identifier: Apache-2.0
// Makes all checks, in the order in which they run.
#pragma once

#include "driver/judge/checks/EmulationCheck.h"
#include "driver/judge/checks/ReferenceCheck.h"

#include <memory>
#include <vector>

namespace kopt {

/// What checks need to build something of their own.
struct CheckServices {
  Frontend &frontend;
  Toolchain &toolchain;
  Emulation *emulation = nullptr; ///< used beside a GPU; null: there is none
  AssurancePolicy assurance = AssurancePolicy::Standard;
};

/// The checks that are switched on, the cheapest first. They share the derived launches.
std::vector<std::unique_ptr<Check>> makeChecks(const CheckSwitches &switches,
                                               CheckServices services,
                                               const ReferenceSettings &precise,
                                               const std::shared_ptr<DerivedReplays> &replays);

} // namespace kopt
