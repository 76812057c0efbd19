// SPDX-License-Identifier: Apache-2.0
#include "driver/app/doctor/HostChecks.h"

#include "driver/app/executor/Hosts.h"
#include "driver/source/CompilerMessages.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kopt {

namespace {

/// What `kopt doctor --json` printed, or nothing.
nlohmann::json printed(const ProcessResult &result) {
  // What login shells print before is not kopt's.
  const std::size_t start = result.out.find("{");
  return start == result.out.npos ? nlohmann::json()
                                  : nlohmann::json::parse(result.out.begin() + long(start),
                                                          result.out.end(), nullptr, false);
}

void add(HostReport &report, const std::string &host, const nlohmann::json &said) {
  for (const nlohmann::json &one : said["results"]) {
    const std::string state = one.value("state", "blocking");
    report.checks.push_back({host + ": " + one.value("check", ""),
                             state == "ok"         ? CheckOutcome::Ok
                             : state == "optional" ? CheckOutcome::Optional
                                                   : CheckOutcome::Blocking,
                             one.value("detail", ""), one.value("remedy", "")});
  }
  const nlohmann::json &device = said["details"]["device"];
  if (report.device || !said["details"].value("can_start", false) || !device.is_object())
    return;
  report.device.emplace();
  report.device->kind = parseEnum<DeviceKind>(device.value("kind", "")).value_or(DeviceKind::Auto);
  report.device->name = device.value("name", "");
  report.device->arch = device.value("arch", "");
  report.device->modelled = device.value("modelled", false);
}

} // namespace

HostReport checkHosts(const Services &services, HostSettings settings) {
  HostReport report;
  settings.command = "doctor";
  settings.gpus = {0};
  const auto commands = workerCommands(services, settings);
  if (!commands) {
    report.checks.push_back(failed("executor", CheckOutcome::Blocking, commands.error()));
    return report;
  }
  for (const WorkerCommand &command : commands->all) {
    services.terminal.status("asking " + command.name);
    ProcessSpec spec;
    spec.timeout = Duration(300);
    const auto asked = command.argv([&] { return services.interrupted && *services.interrupted; })
                           .and_then([&](const std::vector<std::string> &argv) {
                             spec.argv = argv;
                             return services.processes.run(spec);
                           });
    const nlohmann::json said = asked ? printed(*asked) : nlohmann::json();
    if (said.is_object() && said.contains("results") && said.contains("details"))
      add(report, command.name, said);
    else
      report.checks.push_back(failed(
          command.name, CheckOutcome::Blocking,
          asked ? lastLines(asked->err.empty() ? asked->out : asked->err, 3) : asked.error().what,
          "kopt must be there: see docs/executors.md"));
  }
  services.terminal.clear();
  return report;
}

} // namespace kopt
