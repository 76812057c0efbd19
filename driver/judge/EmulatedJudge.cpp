// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/EmulatedJudge.h"
#include "driver/judge/derive/DerivedLaunches.h"
#include "driver/workload/ApplyCandidate.h"

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
/// The most threads of a candidate's own launch, if that is more than so many times the original's:
/// threads without work take some hundred instructions, in each of some thirty runs.
constexpr std::uint64_t kMostThreads = 1u << 17, kTimesOriginal = 4;
/// From a launch with more bytes none are derived: its buffers are filled and compared some two
/// hundred times for a candidate.
constexpr std::uint64_t kMuch = std::uint64_t(8) << 20;

class EmulatedJudge final : public Emulation {
public:
  EmulatedJudge(EmulatedDevices devices, Frontend &frontend, Subject subject, JudgeOptions options)
      : devices_(std::move(devices)), frontend_(frontend), subject_(std::move(subject)),
        options_(std::move(options)) {
    subject_.program = subject_.workload.launches;
    options_.scratch /= "emulated";
    // The GPU's judge runs these.
    options_.checks = CheckSwitches({CheckId::Reference, CheckId::Coverage});
    options_.testAdequacy = false;
    options_.mostInstructions = kMostInstructions;
    options_.times = false;
    options_.keepGoing = false;
  }

  Result<std::string> learn(const std::vector<DerivedLaunch> &launches) override {
    if (std::exchange(learned_, true))
      return why_;
    launches_ = launches;
    judges_.resize(launches_.size());
    for (; at_ < launches_.size(); ++at_) {
      KOPT_TRY(const bool runs, runsOn(at_));
      if (runs)
        return why_ = "";
    }
    return why_;
  }

  void compileAhead(const CompileAhead &ahead) override {
    if (ahead.subject->specialization.route == Route::InPlace)
      return;
    ahead.jobs.add([this, subject = ahead.subject, candidate = ahead.candidate,
                    output = options_.scratch / fmt::format("ahead-{}", ahead_++) / "module"] {
      static_cast<void>(devices_.toolchain->build(
          CandidateBuilder::requestOf(*subject, options_.arch, candidate->slice, output)));
    });
  }

  Result<Answer> judge(const RenderedCandidate &candidate, std::uint64_t freshSeed) override {
    KOPT_TRY(const auto fitting, launchFor(candidate));
    if (!fitting)
      return unable(fitting.error());
    std::size_t at = *fitting;
    KOPT_TRY(Answer answer, judgeOn(at, candidate, freshSeed));
    // A candidate's first blocks may have other work than the original's, so of a part of the grid
    // only races count.
    while (launches_[at].isPart && answer.failure && answer.failure->check != CheckId::Races) {
      if (ranToTheEnd(*answer.failure))
        return Answer{"", std::nullopt, answer.launch + ", only for races"};
      KOPT_TRY(const auto larger, withMoreMemory(at));
      if (!larger)
        return unable("its blocks may divide the work differently from the original's: " +
                      answer.failure->reason);
      at = *larger;
      KOPT_TRY(answer, judgeOn(at, candidate, freshSeed));
    }
    return answer;
  }

private:
  static Answer unable(std::string why) { return Answer{std::move(why), std::nullopt, ""}; }

  static bool ranToTheEnd(const Failure &failure) {
    return failure.verdict == Verdict::WrongResult && failure.ended != RunStatus::Uninitialised &&
           failure.ended != RunStatus::UnsetShared;
  }

  /// The candidate's own launch of a problem, or of a part of it. Fails as applyToLaunch() does.
  Result<Launch> ownLaunch(const DerivedLaunch &derived, const Launch &original,
                           const Candidate &candidate) const {
    KOPT_TRY(Launch own, applyToLaunch(subject_.kernel, original, candidate));
    if (derived.isPart)
      if (auto fewer = withFirstBlocks(own, original.grid.count()))
        return std::move(*fewer);
    return own;
  }

  /// The first launch that the original runs on and for which the candidate does not have far more
  /// threads than it; otherwise why there is none.
  Result<tl::expected<std::size_t, std::string>> launchFor(const Candidate &candidate) {
    using Choice = tl::expected<std::size_t, std::string>;
    std::string why;
    for (std::size_t at = at_; at < launches_.size(); ++at) {
      const Launch &original = launches_[at].launch;
      const auto own = ownLaunch(launches_[at], original, candidate);
      if (!own)
        return Choice(tl::unexpected(own.error().what));
      if (own->threads() > std::max(kMostThreads, kTimesOriginal * original.threads())) {
        why = fmt::format("the candidate launches {} threads where the original launches {}",
                          own->threads(), original.threads());
        continue;
      }
      KOPT_TRY(const bool runs, runsOn(at));
      if (runs)
        return Choice(at);
    }
    return Choice(tl::unexpected(std::move(why)));
  }

  Result<Answer> judgeOn(std::size_t at, const RenderedCandidate &candidate,
                         std::uint64_t freshSeed) {
    DeviceJudge &judge = **judges_[at];
    const Launch &original = judge.baseline().launches.front();
    auto launch = ownLaunch(launches_[at], original, candidate);
    if (!launch)
      return unable(launch.error().what);
    const BuildRequest request =
        CandidateBuilder::requestOf(subject_, options_.arch, candidate.slice,
                                    options_.scratch / fmt::format("{}", ++builds_) / "module");
    KOPT_TRY(const BuildOutcome outcome, devices_.toolchain->build(request));
    if (!outcome.ok)
      return unable("the emulated device cannot run it: " +
                    outcome.log.substr(0, outcome.log.find('\n')));
    Built built{outcome.module, request.symbol, outcome.hash, outcome.externals, 0, {*launch}};
    KOPT_TRY(auto failure, judge.whyNot(candidate, built, freshSeed));
    return Answer{"", std::move(failure), original.name};
  }

  /// A launch of the same part of the grid with more of the captured memory, which a candidate's
  /// first blocks may reach; nothing if the original runs on none.
  Result<std::optional<std::size_t>> withMoreMemory(std::size_t known) {
    const std::uint64_t bytes = memoryOf(launches_[known].launch);
    for (std::size_t next = known + 1; next < launches_.size(); ++next) {
      const DerivedLaunch &larger = launches_[next];
      if (larger.launch.grid != launches_[known].launch.grid || !larger.isPart ||
          memoryOf(larger.launch) <= bytes)
        continue;
      KOPT_TRY(const bool runs, runsOn(next));
      return runs ? std::optional(next) : std::nullopt;
    }
    return std::optional<std::size_t>();
  }

  /// True if the original runs on the launch. Learns it the first time.
  Result<bool> runsOn(std::size_t at) {
    if (!judges_[at]) {
      auto judge = learnOnce(launches_[at].launch);
      if (!judge && (judge.error().code == ErrorCode::Interrupted ||
                     judge.error().code == ErrorCode::Internal))
        return tl::unexpected(judge.error());
      if (!judge)
        why_ = "the original itself: " + judge.error().what;
      judges_[at] = judge ? std::move(*judge) : nullptr;
    }
    return *judges_[at] != nullptr;
  }

  Result<std::unique_ptr<DeviceJudge>> learnOnce(const Launch &launch) {
    if (subject_.specialization.route == Route::InPlace)
      return makeError(ErrorCode::BaselineFailed,
                       "it is built in its own file, which the emulated device cannot run");
    if (!runner_) {
      KOPT_TRY(runner_, devices_.open());
    }
    subject_.workload.launches = {launch};
    subject_.workload.launches.front().weight = 1;
    KOPT_CHECK(createDirectories(options_.scratch));
    JudgeOptions options = options_;
    options.mostDerived = memoryOf(launch) > kMuch ? 0 : kMostDerived;
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
    auto judge = std::make_unique<DeviceJudge>(JudgeDevice{*runner_, profile, "emulated", nullptr},
                                               frontend_, *devices_.toolchain, subject_, options);
    KOPT_CHECK(judge->measureBaseline(*built_, baseline));
    return judge;
  }

  EmulatedDevices devices_;
  Frontend &frontend_;
  Subject subject_;
  JudgeOptions options_;
  std::unique_ptr<Runner> runner_; ///< null until the first question
  std::optional<Built> built_;     ///< the original
  bool learned_ = false;
  std::vector<DerivedLaunch> launches_; ///< to be tried in turn
  /// For each of them that was tried; null: the original does not run on it. Declared after the
  /// runner, which they use.
  std::vector<std::optional<std::unique_ptr<DeviceJudge>>> judges_;
  std::size_t at_ = 0; ///< the first that the original runs on
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
