// SPDX-License-Identifier: Apache-2.0
#include "driver/evaluate/EmulatedExaminer.h"

#include "driver/evaluate/Examiner.h"
#include "driver/support/FileSystem.h"

#include <fmt/format.h>

namespace kopt {
namespace {

class EmulatedExaminer final : public Emulation {
public:
  EmulatedExaminer(OpenEmulated open, Frontend &frontend, Subject subject, EvaluatorOptions options)
      : open_(std::move(open)), frontend_(frontend), subject_(std::move(subject)), options_(std::move(options)) {
    options_.scratch /= "emulated";
    options_.layers = *LayerSwitches::without({"precise", "reached"}); // the GPU's gates ask for them
    options_.testWorkload = false;
    options_.keepGoing = false;
  }

  Result<std::string> learn(const Launch &launch) override {
    if (std::exchange(learned_, true))
      return why_;
    const Status status = learnOnce(launch);
    if (status)
      return why_;
    if (status.error().code == ErrorCode::Interrupted || status.error().code == ErrorCode::Internal)
      return tl::unexpected(status.error());
    examiner_.reset();
    return why_ = "the original itself: " + status.error().what;
  }

  Result<Answer> judge(const RenderedSlice &rendered, const Candidate &candidate, std::uint64_t freshSeed) override {
    const auto unable = [](std::string why) { return Answer{std::move(why), std::nullopt}; };
    const auto launch = applyToLaunch(subject_.kernel, subject_.workload.launches.front(), candidate);
    if (!launch)
      return unable(launch.error().what);
    const BuildRequest request = CandidateBuilder::requestOf(subject_, options_, rendered,
                                                             options_.scratch / fmt::format("{}", ++builds_) / "module");
    KOPT_TRY(const BuildOutcome outcome, device_.toolchain->build(request));
    if (!outcome.ok)
      return unable("the emulated device cannot run it: " + outcome.log.substr(0, outcome.log.find('\n')));
    Built built{outcome.module, request.symbol, outcome.hash, outcome.externals, 0, {*launch}};
    KOPT_TRY(auto failure, examiner_->whyNot(candidate, built, freshSeed));
    return Answer{"", std::move(failure)};
  }

private:
  Status learnOnce(const Launch &launch) {
    if (subject_.specialization.route == "overlay")
      return makeError(ErrorCode::BaselineFailed, "it is built in its own file, which the emulated device cannot run");
    KOPT_TRY(device_, open_());
    subject_.workload.launches = {launch};
    subject_.workload.launches.front().weight = 1;
    KOPT_CHECK(createDirectories(options_.scratch));
    const auto profile = [runner = device_.runner.get()](ModuleId module, const std::filesystem::path &, const Launch &own) {
      return runner->profile(module, own, RunOptions{});
    };
    const Built none;
    CandidateBuilder builder(frontend_, *device_.toolchain, options_, subject_, none);
    Trial baseline;
    KOPT_TRY(const Built built, builder.buildBaseline(baseline));
    examiner_ = std::make_unique<Examiner>(EvaluatorDevice{*device_.runner, profile, "emulated", nullptr}, frontend_,
                                           *device_.toolchain, subject_, options_);
    return examiner_->measureBaseline(built, baseline);
  }

  OpenEmulated open_;
  Frontend &frontend_;
  Subject subject_;
  EvaluatorOptions options_;
  EmulatedDevice device_;
  std::unique_ptr<Examiner> examiner_; ///< after the device, which it uses
  bool learned_ = false;
  std::string why_;
  std::size_t builds_ = 0;
};

} // namespace

std::unique_ptr<Emulation> makeEmulation(OpenEmulated open, Frontend &frontend, Subject subject, EvaluatorOptions options) {
  if (!open)
    return nullptr;
  return std::make_unique<EmulatedExaminer>(std::move(open), frontend, std::move(subject), std::move(options));
}

} // namespace kopt
