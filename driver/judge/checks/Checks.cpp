// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/Checks.h"

#include "driver/judge/checks/Weighing.h"

namespace kopt {

std::vector<std::unique_ptr<Check>> makeChecks(const CheckSwitches &switches,
                                               const CheckServices &services,
                                               const std::shared_ptr<DerivedReplays> &replays) {
  std::vector<std::unique_ptr<Check>> checks;
  const auto add = [&](std::unique_ptr<Check> check) {
    if (switches.on(check->id()))
      checks.push_back(std::move(check));
  };
  const auto otherwise = std::make_shared<OtherwiseBuilt>(services.toolchain, services.build,
                                                          services.scratch / "unoptimized");
  replays->setUndefined([otherwise](CheckContext &context, const Launch &launch,
                                    const Expected &expected, const std::vector<Slack> &allowed) {
    return otherwise->whyUndefined(context, launch, expected, allowed);
  });
  add(makeOutputsCheck(replays));
  add(makeFreshCheck(replays));
  for (const Derivation kind :
       {Derivation::Scalars, Derivation::Sizes, Derivation::Contents, Derivation::Alignment})
    add(makeReplayCheck(kind, replays, services.assurance));
  add(makeRepeatCheck(replays));
  add(makeScheduleCheck(replays));
  add(makeReferenceCheck(replays, services));
  add(makeCoverageCheck(replays, services));
  add(makeEmulationCheck(replays, services.emulation));
  add(makeSanitizerCheck(replays)); // last, as only this one takes seconds of the GPU
  return checks;
}

} // namespace kopt
