// SPDX-License-Identifier: Apache-2.0
// A command of kopt: one file each, named after it.
#pragma once

#include "driver/app/services/Services.h"
#include "driver/cli/Envelope.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

/// What a command gets beside its own flags.
struct Invocation {
  Services services;
  bool json = false;             ///< print no text: the answer is printed as JSON
  const Terminal &out;           ///< to paint what goes to standard output
  std::vector<std::string> rest; ///< what follows `--`

  /// Prints text, unless the answer is printed as JSON.
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments &&...arguments) const {
    if (!json)
      std::cout << fmt::format(format, std::forward<Arguments>(arguments)...);
  }
};

class Command {
public:
  virtual ~Command() = default;
  /// Calls one flow of driver/app, prints its results as text unless `json` is set, and returns
  /// them. Not called before the command line is parsed.
  virtual Result<Answer> run(Invocation &call) = 0;
};

/// Each binds the flags of its command to `app`, which must outlive the result.
std::unique_ptr<Command> makeObserve(CLI::App &app);
std::unique_ptr<Command> makeReplay(CLI::App &app);
std::unique_ptr<Command> makeHarness(CLI::App &app);
std::unique_ptr<Command> makeTune(CLI::App &app);
std::unique_ptr<Command> makeTrial(CLI::App &app);
std::unique_ptr<Command> makeProfile(CLI::App &app);
std::unique_ptr<Command> makeInit(CLI::App &app);
std::unique_ptr<Command> makeList(CLI::App &app);
std::unique_ptr<Command> makeReport(CLI::App &app);
std::unique_ptr<Command> makeExplain(CLI::App &app);
std::unique_ptr<Command> makeApply(CLI::App &app);
std::unique_ptr<Command> makeCheck(CLI::App &app);
std::unique_ptr<Command> makeCi(CLI::App &app);
std::unique_ptr<Command> makeClean(CLI::App &app);
std::unique_ptr<Command> makeSimulate(CLI::App &app);
std::unique_ptr<Command> makeKb(CLI::App &app);
std::unique_ptr<Command> makeMcp(CLI::App &app);
std::unique_ptr<Command> makeSkill(CLI::App &app);
std::unique_ptr<Command> makeWorker(CLI::App &app);
std::unique_ptr<Command> makeDoctor(CLI::App &app);

} // namespace kopt
