// SPDX-License-Identifier: Apache-2.0
// Every gate there is, in the order in which they have their say.
#pragma once

#include "driver/gates/EmulationGate.h"
#include "driver/gates/PreciseGate.h"

#include <memory>
#include <vector>

namespace kopt {

/// What gates need that build something of their own.
struct GateServices {
  Frontend &frontend;
  Toolchain &toolchain;
  Emulation *emulation = nullptr; ///< beside a GPU; null: there is none
};

/// Those that are switched on, in order: the cheapest first.
std::vector<std::unique_ptr<Gate>> makeGates(const LayerSwitches &switches, GateServices services,
                                             const PreciseSettings &precise);

} // namespace kopt
