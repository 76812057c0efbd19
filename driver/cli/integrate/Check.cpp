// SPDX-License-Identifier: Apache-2.0
#include "driver/app/integrate/CheckFlow.h"
#include "driver/app/integrate/MeasureFlow.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"
#include "driver/model/Json.h"
#include "driver/support/Text.h"

#include <fmt/format.h>
#include <iostream>

namespace kopt {
namespace {

namespace fs = std::filesystem;

class CheckCommand final : public Command {
public:
  explicit CheckCommand(CLI::App &app) {
    app.add_option("folder", folder_, "folder with kopt.lock (default kopt)");
    app.add_option("-p,--build-dir", build_, "CMake build folder: the locks of all its targets");
    app.add_flag("--measure", measure_,
                 "judge the variants against the originals again, and write to kopt.lock which are "
                 "slower or wrong: the build then uses the originals");
    addProgram(app, program_);
    config_.add(app, {"device", "arch", "assurance"});
    config_.addManifest(app);
    app.add_option("--fail-on", failOn_,
                   "exit with a status other than 0: on what is `stale` (5) or regressed (2), on "
                   "`regressed` alone, or `never` (default stale)")
        ->check(CLI::IsMember({"stale", "regressed", "never"}));
    app.footer("nvcc flags may follow after --, for --measure without -p");
  }

  Result<Answer> run(Invocation &call) override {
    KOPT_TRY(const Config config, config_.load({}));
    fs::path build = build_.empty() ? fs::path() : fs::absolute(build_).lexically_normal();
    if (const auto known = config.manifest.find("build_dir");
        build.empty() && known != config.manifest.end())
      build = known->second;
    std::vector<fs::path> folders{headerFolder(config, folder_)};
    if (!build_.empty() && folder_.empty() && config_.manifest.empty()) {
      KOPT_TRY(folders, lockFoldersOf(build));
    }
    Answer answer;
    std::size_t counts[3] = {};
    for (const fs::path &folder : folders) {
      std::vector<MeasuredVariant> measured;
      if (measure_) {
        KOPT_TRY(const MeasureRequest request, measureRequest(folder, build, call));
        KOPT_TRY(measured, measureLock(call.services, request));
      }
      KOPT_TRY(const std::vector<TunedKernel> kernels, checkLock(folder, build));
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        ++counts[int(kernels[i].state)];
        answer.results.push_back(toJson(kernels[i]));
        if (measure_)
          answer.results.back()["measured"] = toJson(measured[i]);
        if (!call.json)
          print(kernels[i], call.out);
        if (!call.json && measure_)
          print(measured[i]);
      }
    }
    answer.details = {{"tuned", counts[0]}, {"stale", counts[1]}, {"regressed", counts[2]}};
    call.print("{} tuned, {} stale, {} regressed\n", counts[0], counts[1], counts[2]);
    if (failOn_ != "never" && counts[2] > 0)
      answer.exitCode = kFailOnMatched;
    if (failOn_ == "stale" && counts[1] > 0)
      answer.exitCode = int(ErrorCode::StaleInput);
    return answer;
  }

private:
  Result<MeasureRequest> measureRequest(const fs::path &folder, const fs::path &build,
                                        const Invocation &call) const {
    KOPT_TRY(const Config config, config_.load({(folder / "kopt.lock").string()}));
    MeasureRequest request{folder, build, {kernelRequest(config), {}, trialOptions(config)}};
    TrialRequest &trial = request.trial;
    trial.sources.buildDirectory = call.rest.empty() ? build : fs::path();
    trial.sources.flags = call.rest;
    trial.selection.globs.clear();
    trial.program = program_;
    return request;
  }

  static void print(const TunedKernel &kernel, const Terminal &out) {
    const bool good = kernel.state == TunedState::Tuned;
    std::cout << fmt::format("{:<9}  {} ({}), {}: {:.2f}x{}\n",
                             out.paint(good ? Style::Green : Style::Yellow, toString(kernel.state)),
                             kernel.kernel, kernel.place, join(kernel.archs, ", "), kernel.speedup,
                             kernel.modelled ? " (modelled)" : "");
    for (const overlay::Change &change : kernel.changes)
      std::cout << fmt::format("  {}: {}\n", placeOf(change), change.what);
    if (kernel.state == TunedState::Regressed)
      std::cout << fmt::format("  {}\n", kernel.regressed);
  }

  static void print(const MeasuredVariant &variant) {
    std::cout << (variant.notMeasured.empty()
                      ? fmt::format("  measured: {}: {}\n", toString(variant.verdict),
                                    variant.reason)
                      : fmt::format("  not measured: {}\n", variant.notMeasured));
  }

  static nlohmann::json toJson(const MeasuredVariant &variant) {
    if (!variant.notMeasured.empty())
      return {{"not_measured", variant.notMeasured}};
    return {{"verdict", toString(variant.verdict)}, {"reason", variant.reason}};
  }

  static nlohmann::json toJson(const TunedKernel &kernel) {
    nlohmann::json object = kopt::toJson(kernel);
    if (kernel.regressed.empty())
      object["regressed"] = nullptr;
    return object;
  }

  ConfigFlags config_;
  std::string folder_, build_, program_, failOn_ = "stale";
  bool measure_ = false;
};

} // namespace

std::unique_ptr<Command> makeCheck(CLI::App &app) { return std::make_unique<CheckCommand>(app); }

} // namespace kopt
