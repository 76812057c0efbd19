// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/EmulatedJudge.h"
#include "driver/source/RenderSlice.h"
#include "driver/workload/ApplyCandidate.h"
#include "driver/workload/derived/CapturedLaunches.h"

#include "driver/judge/DeviceJudge.h"
#include "driver/support/FileSystem.h"

#include <fmt/format.h>

namespace kopt {
namespace {

/// The GPU replays all other derived launches; here it only matters how a launch runs.
constexpr std::size_t kMostDerived = 6; // one of each kind, and a second one of some
/// Of a run of the original, about a quarter of a second: a launch that takes more is replaced by
/// fewer of its blocks.
constexpr std::uint64_t kMostInstructions = 50'000'000;
/// From a launch with more bytes none are derived: filling and comparing its buffers takes seconds.
constexpr std::uint64_t kMuch = std::uint64_t(32) << 20;

class EmulatedJudge final : public Emulation {
public:
  EmulatedJudge(EmulatedDevices devices, Frontend &frontend, Subject subject, JudgeOptions options)
      : devices_(std::move(devices)), frontend_(frontend), subject_(std::move(subject)),
        options_(std::move(options)) {
    options_.scratch /= "emulated";
    options_.checks =
        *CheckSwitches::without({"reference", "coverage"}); // the GPU's judge runs them
    options_.testAdequacy = false;
    options_.mostInstructions = kMostInstructions;
    options_.times = false;
    options_.keepGoing = false;
  }

  Result<std::string> learn(const std::vector<DerivedLaunch> &launches) override {
    if (std::exchange(learned_, true))
      return why_;
    launches_ = launches;
    for (; at_ < launches_.size(); ++at_) {
      const Status status = learnOnce(launches_[at_].launch);
      if (status)
        return why_ = "";
      if (status.error().code == ErrorCode::Interrupted ||
          status.error().code == ErrorCode::Internal)
        return tl::unexpected(status.error());
      judge_.reset();
      why_ = "the original itself: " + status.error().what;
    }
    return why_;
  }

  void compileAhead(const CompileAhead &ahead) override {
    if (ahead.subject->specialization.route == Route::InPlace)
      return;
    ahead.jobs.add([this, subject = ahead.subject, candidate = ahead.candidate,
                    output = options_.scratch / fmt::format("ahead-{}", ahead_++) / "module"] {
      const auto rendered =
          renderSlice(subject->sliceText, subject->kernel, subject->specialization, *candidate);
      if (rendered)
        static_cast<void>(devices_.toolchain->build(
            CandidateBuilder::requestOf(*subject, options_, *rendered, output)));
    });
  }

  Result<Answer> judge(const RenderedSlice &rendered, const Candidate &candidate,
                       std::uint64_t freshSeed) override {
    KOPT_TRY(Answer answer, judgeOnce(rendered, candidate, freshSeed));
    // A candidate's first blocks may have other work than the original's, so of a part of the grid
    // only races count.
    while (isPart() && answer.failure && answer.failure->check != "races") {
      if (ranToTheEnd(*answer.failure))
        return Answer{"", std::nullopt, answer.launch + ", only for races"};
      KOPT_TRY(const bool hasMore, learnWithMoreMemory());
      if (!hasMore)
        return unable("its blocks may divide the work differently from the original's: " +
                      answer.failure->reason);
      KOPT_TRY(answer, judgeOnce(rendered, candidate, freshSeed));
    }
    return answer;
  }

private:
  static Answer unable(std::string why) { return Answer{std::move(why), std::nullopt, ""}; }

  bool isPart() const { return launches_[at_].isPart; }

  static bool ranToTheEnd(const Failure &failure) {
    return failure.verdict == Verdict::WrongResult &&
           failure.reason.find("uninitialised read") == std::string::npos;
  }

  Result<Answer> judgeOnce(const RenderedSlice &rendered, const Candidate &candidate,
                           std::uint64_t freshSeed) {
    const Launch &original = judge_->subject().workload.launches.front(); // with what it learned
    auto launch = applyToLaunch(subject_.kernel, original, candidate);
    if (!launch)
      return unable(launch.error().what);
    if (isPart())
      if (auto fewer = withFirstBlocks(*launch, original.grid.count()))
        launch = std::move(*fewer);
    const BuildRequest request = CandidateBuilder::requestOf(
        subject_, options_, rendered, options_.scratch / fmt::format("{}", ++builds_) / "module");
    KOPT_TRY(const BuildOutcome outcome, devices_.toolchain->build(request));
    if (!outcome.ok)
      return unable("the emulated device cannot run it: " +
                    outcome.log.substr(0, outcome.log.find('\n')));
    Built built{outcome.module, request.symbol, outcome.hash, outcome.externals, 0, {*launch}};
    KOPT_TRY(auto failure, judge_->whyNot(candidate, built, freshSeed));
    return Answer{"", std::move(failure), original.name};
  }

  /// Learns the same part of the grid with more of the captured memory, which a candidate's first
  /// blocks may reach. Returns false if there is none.
  Result<bool> learnWithMoreMemory() {
    const std::size_t known = at_;
    const std::uint64_t bytes = memoryOf(launches_[known].launch);
    for (std::size_t next = known + 1; next < launches_.size(); ++next) {
      const DerivedLaunch &larger = launches_[next];
      if (larger.launch.grid != launches_[known].launch.grid || !larger.isPart ||
          memoryOf(larger.launch) <= bytes)
        continue;
      const Status status = learnOnce(larger.launch);
      if (status) {
        at_ = next;
        return true;
      }
      if (status.error().code == ErrorCode::Interrupted ||
          status.error().code == ErrorCode::Internal)
        return tl::unexpected(status.error());
      KOPT_CHECK(learnOnce(launches_[known].launch)); // as it was
      return false;
    }
    return false;
  }

  Status learnOnce(const Launch &launch) {
    if (subject_.specialization.route == Route::InPlace)
      return makeError(ErrorCode::BaselineFailed,
                       "it is built in its own file, which the emulated device cannot run");
    if (!runner_) {
      KOPT_TRY(runner_, devices_.open());
    }
    subject_.workload.launches = {launch};
    subject_.workload.launches.front().weight = 1;
    KOPT_CHECK(createDirectories(options_.scratch));
    std::uint64_t bytes = 0;
    for (const Buffer &buffer : launch.buffers)
      bytes += buffer.bytes;
    JudgeOptions options = options_;
    options.mostDerived = bytes > kMuch ? 0 : kMostDerived;
    const auto profile = [runner = runner_.get()](ModuleId module, const std::filesystem::path &,
                                                  const Launch &own) {
      return runner->profile(module, own, RunOptions{});
    };
    Trial baseline;
    if (!built_) {
      const Built none;
      CandidateBuilder builder(frontend_, *devices_.toolchain, options_, subject_, none);
      KOPT_TRY(built_, builder.buildBaseline(baseline));
    }
    built_->launches = subject_.workload.launches;
    judge_ = std::make_unique<DeviceJudge>(JudgeDevice{*runner_, profile, "emulated", nullptr},
                                           frontend_, *devices_.toolchain, subject_, options);
    return judge_->measureBaseline(*built_, baseline);
  }

  EmulatedDevices devices_;
  Frontend &frontend_;
  Subject subject_;
  JudgeOptions options_;
  std::unique_ptr<Runner> runner_;     ///< null until the first question
  std::optional<Built> built_;         ///< the original
  std::unique_ptr<DeviceJudge> judge_; ///< declared after the runner, which it uses
  bool learned_ = false;
  std::vector<DerivedLaunch> launches_; ///< to be tried in turn
  std::size_t at_ = 0;                  ///< the one of them that the original runs on
  std::string why_;
  std::size_t builds_ = 0, ahead_ = 0;
};

} // namespace

std::unique_ptr<Emulation> makeEmulation(EmulatedDevices devices, Frontend &frontend,
                                         Subject subject, JudgeOptions options) {
  if (!devices.toolchain)
    return nullptr;
  return std::make_unique<EmulatedJudge>(std::move(devices), frontend, std::move(subject),
                                         std::move(options));
}

} // namespace kopt
