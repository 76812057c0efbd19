// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/Checks.h"

namespace kopt {
namespace {

/// A check that has nothing to show on this kind of device.
class Inapplicable final : public Check {
public:
  Inapplicable(CheckId id, std::string why) : id_(id), why_(std::move(why)) {}
  CheckId id() const override { return id_; }
  Status learn(CheckContext &, Trial &) override { return {}; }
  Result<std::optional<Failure>> ask(CheckContext &, Examination &, CheckRecord &record) override {
    return notApplicable(record, why_);
  }

private:
  const CheckId id_;
  const std::string why_;
};

std::unique_ptr<Check> inapplicable(CheckId id, std::string why) {
  return std::make_unique<Inapplicable>(id, std::move(why));
}

} // namespace

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
  add(services.isModelled
          ? makeScheduleCheck(replays)
          : inapplicable(CheckId::Schedule, "the order of threads cannot be chosen on a GPU; the "
                                            "check 'emulated' covers it"));
  add(makeReferenceCheck(replays, services));
  add(makeCoverageCheck(replays, services));
  add(services.isModelled ? inapplicable(CheckId::Emulated, "this is the emulated device")
                          : makeEmulationCheck(replays, services.emulation));
  add(services.isModelled // last, as only this one takes seconds of the GPU
          ? inapplicable(CheckId::Sanitizer, "the emulated device checks every launch itself")
          : makeSanitizerCheck(replays));
  return checks;
}

} // namespace kopt
