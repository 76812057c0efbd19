// SPDX-License-Identifier: Apache-2.0
#include "driver/app/doctor/Doctor.h"

#include "driver/cli/Command.h"
#include "driver/cli/Flags.h"

#include <fmt/format.h>
#include <iostream>

namespace kopt {
namespace {

namespace fs = std::filesystem;

struct OutcomeWords {
  const char *shown, *json;
  Style style;
};

OutcomeWords wordsFor(CheckOutcome outcome) {
  switch (outcome) {
  case CheckOutcome::Ok:
    return {"ok", "ok", Style::Green};
  case CheckOutcome::Optional:
    return {"no", "optional", Style::Yellow};
  case CheckOutcome::Blocking:
    break;
  }
  return {"fail", "blocking", Style::Red};
}

class DoctorCommand final : public Command {
public:
  explicit DoctorCommand(CLI::App &app) {
    app.add_option("-p,--build-dir", build_,
                   "build folder: checks its compile_commands.json and the locks of its targets");
    config_.add(app, {"device", "model"});
    config_.addExecutor(app);
    config_.addManifest(app);
  }

  Result<Answer> run(Invocation &call) override {
    DoctorRequest request;
    request.config = config_.request({});
    if (!build_.empty())
      request.buildFolder = fs::absolute(build_).lexically_normal();
    if (const auto config = config_.load({})) { // else the report says what is wrong with it
      KernelRequest place;
      KOPT_CHECK(setExecutor(*config, place));
      request.executor = place.executor;
      request.executor.flags = {"--json", "--device=" + config->settings.device};
    }
    const MachineReport report = examineMachine(call.services, request);
    Answer answer;
    for (const MachineCheck &check : report.checks) {
      answer.results.push_back({{"check", check.name},
                                {"ok", check.ok()},
                                {"state", wordsFor(check.outcome).json},
                                {"detail", check.detail},
                                {"remedy", check.remedy}});
      if (!call.json)
        print(check, call.out);
    }
    answer.details = detailsOf(report);
    call.print("\n{}\n",
               call.out.paint(report.blocked ? Style::Red : Style::Green, report.conclusion));
    // The text has just said it, as the last line of the list; JSON has a place for the error.
    if (report.blocked && call.json)
      answer.error = report.blocked;
    else if (report.blocked)
      answer.exitCode = int(report.blocked->code);
    return answer;
  }

private:
  static void print(const MachineCheck &check, const Terminal &out) {
    const OutcomeWords words = wordsFor(check.outcome);
    // Padded before it is painted: escape codes have no width.
    std::cout << fmt::format(
        "{} {:<26} {}{}\n", out.paint(words.style, fmt::format("{:<4}", words.shown)), check.name,
        check.detail, check.remedy.empty() ? "" : "\n       -> " + check.remedy);
  }

  static nlohmann::json detailsOf(const MachineReport &report) {
    nlohmann::json details{{"can_start", !report.blocked.has_value()},
                           {"conclusion", report.conclusion},
                           {"device", nullptr}};
    if (report.device)
      details["device"] = {{"kind", toString(report.device->kind)},
                           {"name", report.device->name},
                           {"arch", report.device->arch},
                           {"modelled", report.device->modelled}};
    return details;
  }

  std::string build_;
  ConfigFlags config_;
};

} // namespace

std::unique_ptr<Command> makeDoctor(CLI::App &app) { return std::make_unique<DoctorCommand>(app); }

} // namespace kopt
