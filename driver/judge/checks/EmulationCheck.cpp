// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/EmulationCheck.h"
#include "driver/source/RenderSlice.h"

namespace kopt {
namespace {

class EmulationGate final : public Check {
public:
  EmulationGate(std::shared_ptr<DerivedReplays> replays, Emulation *emulation)
      : replays_(std::move(replays)), emulation_(emulation) {}
  std::string name() const override { return "emulated"; }

  Status learn(CheckContext &bench, Trial &baseline) override {
    return replays_->learn(bench, baseline);
  }

  Result<std::optional<Failure>> check(CheckContext &bench, Examination &seen,
                                       CheckRecord &record) override {
    if (bench.runner().device().modelled)
      return notRun(record, "this is the emulated device");
    if (seen.depth == Depth::Search)
      return notRun(record, kForWinners);
    if (!emulation_)
      return notRun(record, "there is no emulated device");
    const Launch *small = replays_->small();
    if (!small)
      return notRun(record, "no launch is small enough");
    const StageTimer timer(seen.trial, "verify/emulated");
    KOPT_TRY(const std::string unable, emulation_->learn(*small));
    if (!unable.empty())
      return notRun(record, unable);
    const Subject &subject = bench.subject();
    KOPT_TRY(RenderedSlice rendered, renderSlice(subject.sliceText, subject.kernel,
                                                 subject.specialization, seen.candidate));
    // A wrong version of the original is no candidate: its text is the trial's.
    if (!seen.trial.sliceText.empty())
      rendered.text = seen.trial.sliceText;
    KOPT_TRY(Emulation::Answer answer, emulation_->judge(rendered, seen.candidate, seen.freshSeed));
    if (!answer.why.empty())
      return notRun(record, answer.why);
    if (answer.failure)
      return Failure{name(), answer.failure->verdict,
                     "on the emulated device: " + answer.failure->reason};
    record.detail = "launch '" + small->name + "' and others like it";
    return std::nullopt;
  }

private:
  std::shared_ptr<DerivedReplays> replays_;
  Emulation *emulation_;
};

} // namespace

std::unique_ptr<Check> makeEmulationCheck(std::shared_ptr<DerivedReplays> replays,
                                          Emulation *emulation) {
  return std::make_unique<EmulationGate>(std::move(replays), emulation);
}

} // namespace kopt
