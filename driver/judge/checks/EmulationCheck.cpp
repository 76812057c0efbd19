// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/EmulationCheck.h"
#include "driver/source/RenderSlice.h"

#include "driver/workload/derived/CapturedLaunches.h"

#include <utility>

namespace kopt {
namespace {

/// How many bytes of each captured buffer are tried, in turn, and the most bytes of all buffers
/// together.
constexpr std::uint64_t kPieces[] = {256 << 10, 4 << 20, 256 << 20};
constexpr std::uint64_t kMostBytes = std::uint64_t(1) << 30;

class EmulationGate final : public Check {
public:
  EmulationGate(std::shared_ptr<DerivedReplays> replays, Emulation *emulation)
      : replays_(std::move(replays)), emulation_(emulation) {}
  std::string name() const override { return "emulated"; }

  void compileAhead(const CompileAhead &ahead) override {
    if (emulation_)
      emulation_->compileAhead(ahead);
  }

  Status learn(CheckContext &context, Trial &baseline) override {
    return replays_->learnAll(context, baseline);
  }

  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen,
                                     CheckRecord &record) override {
    if (context.runner().device().modelled)
      return notApplicable(record, "this is the emulated device");
    if (!emulation_)
      return notRun(record, "there is no emulated device");
    const std::vector<DerivedLaunch> launches = launchesToTry();
    if (launches.empty())
      return notRun(record, "no launch is small enough");
    const StageTimer timer(seen.trial, "verify/emulated");
    KOPT_TRY(const std::string unable, emulation_->learn(launches));
    if (!unable.empty())
      return notRun(record, unable);
    const Subject &subject = context.subject();
    KOPT_TRY(RenderedSlice rendered, renderSlice(subject.sliceText, subject.kernel,
                                                 subject.specialization, seen.candidate));
    // A wrong version of the original has no edits: its text is in the trial.
    if (!seen.trial.sliceText.empty())
      rendered.text = seen.trial.sliceText;
    KOPT_TRY(Emulation::Answer answer, emulation_->judge(rendered, seen.candidate, seen.freshSeed));
    if (!answer.why.empty())
      return notRun(record, answer.why);
    if (answer.failure)
      return Failure{name(), answer.failure->verdict,
                     "on the emulated device: " + answer.failure->reason};
    record.detail = "launch '" + answer.launch + "' and others like it";
    return std::nullopt;
  }

private:
  /// The small launches. If memory was captured, each launch is tried with only a part of it first:
  /// memory that the original does not reach need not be copied.
  std::vector<DerivedLaunch> launchesToTry() const {
    std::vector<DerivedLaunch> launches;
    std::size_t asTheyAre = 0, parts = 0;
    for (const DerivedLaunch *one : replays_->smallOnes()) {
      if (++(one->isPart ? parts : asTheyAre) > 1)
        continue;
      if (!isCaptured(one->launch)) {
        launches.push_back(*one);
        continue;
      }
      std::uint64_t known = 0;
      for (const std::uint64_t most : kPieces) {
        launches.push_back(*one);
        launches.back().launch = withLessMemory(one->launch, most);
        std::uint64_t bytes = 0;
        for (const Buffer &buffer : launches.back().launch.buffers)
          bytes += buffer.bytes;
        if (bytes > kMostBytes || bytes == std::exchange(known, bytes))
          launches.pop_back();
      }
    }
    return launches;
  }

  std::shared_ptr<DerivedReplays> replays_;
  Emulation *emulation_;
};

} // namespace

std::unique_ptr<Check> makeEmulationCheck(std::shared_ptr<DerivedReplays> replays,
                                          Emulation *emulation) {
  return std::make_unique<EmulationGate>(std::move(replays), emulation);
}

} // namespace kopt
