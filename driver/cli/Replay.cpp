// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ReplayFlow.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/support/Text.h"

#include <fmt/format.h>
#include <iostream>

namespace kopt {
namespace {

using nlohmann::json;

Style styleOf(ReplayMatch match) {
  switch (match) {
  case ReplayMatch::Identical:
    return Style::Green;
  case ReplayMatch::Varies:
    return Style::Yellow;
  case ReplayMatch::Differs:
  case ReplayMatch::Failed:
    return Style::Red;
  }
  return Style::Plain;
}

std::size_t identicalIn(const ReplayOutcome &outcome) {
  return std::size_t(std::count_if(
      outcome.launches.begin(), outcome.launches.end(),
      [](const ReplayedLaunch &launch) { return launch.match == ReplayMatch::Identical; }));
}

json toJson(const ReplayOutcome &outcome) {
  json launches = json::array();
  for (const ReplayedLaunch &launch : outcome.launches)
    launches.push_back({{"launch", launch.name},
                        {"match", toString(launch.match)},
                        {"detail", launch.detail},
                        {"bytes", launch.bytes}});
  return {{"kernel", outcome.label},      {"device", outcome.device.name},
          {"launches", launches},         {"identical", identicalIn(outcome)},
          {"coverage", outcome.coverage}, {"notes", outcome.notes}};
}

void print(const ReplayOutcome &outcome, const Terminal &out) {
  std::cout << fmt::format(
      "{}: {} of {} launches reproduce the program's results bit by bit ({}{})\n", outcome.label,
      identicalIn(outcome), outcome.launches.size(), outcome.device.modelled ? "emulated " : "",
      outcome.device.name);
  for (const ReplayedLaunch &launch : outcome.launches)
    std::cout << fmt::format(
        "  {}  {:>9}  {}{}{}\n",
        out.paint(styleOf(launch.match), fmt::format("{:<9}", toString(launch.match))),
        formatBytes(double(launch.bytes)), launch.name, launch.detail.empty() ? "" : ": ",
        launch.detail);
}

class ReplayCommand final : public Command {
public:
  explicit ReplayCommand(CLI::App &app) {
    app.add_option("trace", trace_, "folder of a trace that kopt observe wrote")->required();
    sources_.addTo(app, "the .cu file with the kernel");
    app.get_option("files")->required();
    config_.add(app, {"kernels", "device", "arch"});
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, config_.load(sources_.files));
    KOPT_TRY(KernelRequest kernels, kernelRequest(config, sources_, call.rest));
    KOPT_TRY(const std::vector<ReplayOutcome> outcomes,
             replayTrace(call.services, {std::move(kernels), trace_}));
    Answer answer;
    for (const ReplayOutcome &outcome : outcomes) {
      answer.results.push_back(toJson(outcome));
      for (const ReplayedLaunch &launch : outcome.launches)
        if (launch.match == ReplayMatch::Differs || launch.match == ReplayMatch::Failed)
          answer.exitCode = int(ErrorCode::BaselineFailed);
      addNotes(outcome.notes, answer, call.services.terminal);
      if (!call.json)
        print(outcome, call.out);
    }
    return answer;
  }

private:
  SourceFlags sources_;
  ConfigFlags config_;
  std::string trace_;
};

} // namespace

std::unique_ptr<Command> makeReplay(CLI::App &app) { return std::make_unique<ReplayCommand>(app); }

} // namespace kopt
