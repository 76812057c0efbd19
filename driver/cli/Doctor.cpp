// SPDX-License-Identifier: Apache-2.0
#include "driver/app/Doctor.h"

#include "driver/cli/Command.h"

#include <fmt/format.h>
#include <iostream>

namespace kopt {
namespace {

class DoctorCommand final : public Command {
public:
  Result<Answer> run(Invocation &call) override {
    const MachineReport report = examineMachine(call.services);
    Answer answer;
    for (const MachineCheck &check : report.checks) {
      answer.results.push_back({{"check", check.name},
                                {"ok", check.ok},
                                {"detail", check.detail},
                                {"remedy", check.remedy}});
      if (call.json)
        continue;
      // Padded before it is painted: escape codes have no width.
      const std::string word = fmt::format("{:<4}", check.ok ? "ok" : "no");
      std::cout << fmt::format(
          "{} {:<26} {}{}\n", call.out.paint(check.ok ? Style::Green : Style::Red, word),
          check.name, check.detail, check.remedy.empty() ? "" : "\n       -> " + check.remedy);
    }
    answer.error = report.blocked;
    return answer;
  }
};

} // namespace

std::unique_ptr<Command> makeDoctor(CLI::App &) { return std::make_unique<DoctorCommand>(); }

} // namespace kopt
