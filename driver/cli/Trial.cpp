// SPDX-License-Identifier: Apache-2.0
#include "driver/app/trial/TrialText.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"

#include <fmt/format.h>
#include <iostream>

namespace kopt {
namespace {

using nlohmann::json;

struct TrialFlags {
  SourceFlags sources;
  ConfigFlags config;
  std::vector<std::string> candidates, without;
  std::string program, failOn = "refused";
  bool keepGoing = false;
};

class TrialCommand final : public Command {
public:
  explicit TrialCommand(CLI::App &app) {
    flags_.sources.addTo(app, "the .cu file with the kernel");
    app.get_option("files")->required();
    app.add_option("--candidate", flags_.candidates,
                   "the file, or its slice, with the kernel's code changed; may be repeated")
        ->required()
        ->allow_extra_args(false);
    addProgram(app, flags_.program);
    flags_.config.addPlace(app);
    flags_.config.addExecutor(app);
    flags_.config.add(app, {"gpus"});
    flags_.config.add(app, "min-gain", "smallest speedup that counts as faster, as a ratio");
    flags_.config.add(app, {"seed", "assurance", "cache-mode"});
    app.add_option("--without", flags_.without,
                   "checks to skip, for experiments: without them no candidate counts as a win")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_flag("--keep-going", flags_.keepGoing,
                 "run the remaining checks after one has failed; the first failure decides");
    app.add_option("--fail-on", flags_.failOn,
                   "exit with 2 where a candidate is not right (refused, the default), or also "
                   "where one is not faster (not-faster); or never")
        ->check(CLI::IsMember({"refused", "not-faster", "never"}));
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const TrialRequest request, requestOf(call));
    KOPT_TRY(const std::vector<CandidateTrials> results, runTrials(call.services, request));
    Answer answer;
    std::size_t left = 0;
    for (const CandidateTrials &result : results) {
      left += result.outcomes.empty();
      if (result.outcomes.empty())
        continue;
      json object = toJson(result, result.worst());
      if (result.outcomes.size() > 1)
        for (const TrialOutcome &outcome : result.outcomes)
          object["specializations"].push_back(toJson(result, outcome));
      answer.results.push_back(std::move(object));
      if (isFailure(result.worst().trial.verdict))
        answer.exitCode = kFailOnMatched;
      if (!call.json)
        for (const TrialOutcome &outcome : result.outcomes)
          std::cout << (results.size() > 1 ? result.candidate.string() + ": " : "")
                    << inText(outcome, &call.out);
    }
    if (left > 0)
      answer.error = {
          ErrorCode::Interrupted,
          fmt::format("interrupted: {} of {} candidates were not judged", left, results.size()),
          "",
          "",
          {}};
    return answer;
  }

private:
  bool isFailure(Verdict verdict) const {
    if (flags_.failOn == "not-faster")
      return verdict != Verdict::Faster;
    return flags_.failOn == "refused" && severityOf(verdict) > severityOf(Verdict::Slower);
  }

  Result<TrialRequest> requestOf(const Invocation &call) const {
    KOPT_TRY(const Config config, flags_.config.load(flags_.sources.files));
    KOPT_TRY(KernelRequest kernels,
             kernelRequest(config, flags_.sources, call.rest, flags_.program));
    KOPT_CHECK(setExecutor(config, kernels));
    TrialRequest request{std::move(kernels), {}, trialOptions(config)};
    if (request.sources.files.size() != 1)
      return makeError(ErrorCode::Usage, "kopt trial takes one file",
                       "give the .cu file with the kernel, and --candidate");
    KOPT_TRY(request.candidates, candidateFiles(flags_.candidates));
    KOPT_TRY(request.options.checks, CheckSwitches::without(flags_.without));
    request.options.keepGoing = flags_.keepGoing;
    request.options.policy.candidates = int(request.candidates.size());
    return request;
  }

  json toJson(const CandidateTrials &result, const TrialOutcome &outcome) const {
    json object = kopt::toJson(outcome);
    object["candidate"] = result.candidate.string();
    object["without"] = flags_.without;
    return object;
  }

  TrialFlags flags_;
};

} // namespace

std::unique_ptr<Command> makeTrial(CLI::App &app) { return std::make_unique<TrialCommand>(app); }

} // namespace kopt
