// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/Checks.h"

namespace kopt {

std::vector<std::unique_ptr<Check>> makeChecks(const CheckSwitches &switches,
                                               const CheckServices &services,
                                               const std::shared_ptr<DerivedReplays> &replays) {
  std::vector<std::unique_ptr<Check>> checks;
  const auto add = [&](std::unique_ptr<Check> check) {
    if (switches.on(check->id()))
      checks.push_back(std::move(check));
  };
  replays->weighing().setOtherwise(
      {services.toolchain, services.build, services.scratch / "unoptimized"});
  add(makeOutputsCheck(replays));
  add(makeFreshCheck(replays));
  for (const Derivation kind :
       {Derivation::Scalars, Derivation::Sizes, Derivation::Contents, Derivation::Alignment})
    add(makeReplayCheck(kind, replays));
  add(makeRepeatCheck(replays));
  add(makeScheduleCheck(replays));
  add(makeReferenceCheck(replays, services));
  add(makeCoverageCheck(replays, services));
  add(makeEmulationCheck(replays, services.emulation));
  add(makeSanitizerCheck(replays)); // last, as only this one takes seconds of the GPU
  return checks;
}

} // namespace kopt
