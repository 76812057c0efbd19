// SPDX-License-Identifier: Apache-2.0
#include "driver/app/harness/HarnessFlow.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"

#include <fmt/format.h>
#include <iostream>

namespace kopt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class HarnessCommand final : public Command {
public:
  explicit HarnessCommand(CLI::App &app) {
    sources_.addTo(app, ".cu files with the kernels");
    config_.add(app, {"kernels"});
    app.add_option("--run", program_,
                   "command line of your program; the harness then runs what it launches");
    app.add_option("--trace", trace_,
                   "folder of a trace that kopt observe wrote, in place of --run");
    app.add_option("--launches", launches_,
                   "the most captured launches for each kernel (default 3; --run captures up to 5)")
        ->check(CLI::Range(1, 100));
    app.add_option("-o,--output", output_,
                   "folder for the harnesses, one folder for each specialization (default "
                   "kopt.harness)");
    app.add_flag("--force", force_, "write over a harness that is there");
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const HarnessRequest request, requestOf(call));
    KOPT_TRY(const HarnessOutcome outcome, writeHarnesses(call.services, request));
    Answer answer;
    addNotes(outcome.notes, answer, call.services.terminal);
    for (const WrittenHarness &harness : outcome.harnesses) {
      answer.results.push_back({{"kernel", harness.label},
                                {"folder", harness.folder.string()},
                                {"launches", harness.launches}});
      if (!call.json)
        print(harness);
    }
    call.print("edit harness.cu, then type 'sh build.sh && ./harness' in its folder\n");
    return answer;
  }

private:
  Result<HarnessRequest> requestOf(const Invocation &call) const {
    if (!program_.empty() && !trace_.empty())
      return makeError(ErrorCode::Usage, "--run and --trace exclude each other",
                       "the launches come from one place: leave one of them out");
    KOPT_TRY(const Config config, config_.load(sources_.files));
    KOPT_TRY(KernelRequest kernels, kernelRequest(config, sources_, call.rest, program_));
    HarnessRequest request{std::move(kernels)};
    if (!trace_.empty())
      request.trace = fs::absolute(trace_);
    request.output = fs::absolute(output_).lexically_normal();
    request.launches = launches_;
    request.force = force_;
    return request;
  }

  static void print(const WrittenHarness &harness) {
    std::cout << fmt::format("{}: {}\n", harness.label, harness.folder.string());
    for (const std::string &launch : harness.launches)
      std::cout << fmt::format("  {}\n", launch);
    if (harness.launches.empty())
      std::cout << "  with declared or default values: --run takes those of your program\n";
  }

  SourceFlags sources_;
  ConfigFlags config_;
  std::string program_, trace_, output_ = "kopt.harness";
  std::size_t launches_ = 3;
  bool force_ = false;
};

} // namespace

std::unique_ptr<Command> makeHarness(CLI::App &app) {
  return std::make_unique<HarnessCommand>(app);
}

} // namespace kopt
