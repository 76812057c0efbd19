// SPDX-License-Identifier: Apache-2.0
#include "driver/gates/Gates.h"

#include "driver/gates/DeclaredGates.h"
#include "driver/gates/ReachGate.h"
#include "driver/gates/RepeatGates.h"
#include "driver/gates/SanitizerGate.h"

namespace kopt {

std::vector<std::unique_ptr<Gate>> makeGates(const LayerSwitches &switches, GateServices services,
                                             const PreciseSettings &precise) {
  const auto replays = std::make_shared<DerivedReplays>();
  std::vector<std::unique_ptr<Gate>> gates;
  const auto add = [&](std::unique_ptr<Gate> gate) {
    if (switches.on(gate->name()))
      gates.push_back(std::move(gate));
  };
  add(makeOutputsGate());
  add(makeFreshGate());
  for (const Derivation kind : {Derivation::Scalars, Derivation::Sizes, Derivation::Contents, Derivation::Placement})
    add(makeReplayGate(kind, replays));
  add(makeRepeatGate(replays));
  add(makeScheduleGate(replays));
  add(makePreciseGate(replays, services.frontend, services.toolchain, precise));
  add(makeReachGate(replays, services.frontend, services.toolchain, {precise.build, precise.scratch}));
  add(makeEmulationGate(replays, services.emulation));
  add(makeSanitizerGate(replays)); // the only one that takes the GPU for seconds
  return gates;
}

} // namespace kopt
