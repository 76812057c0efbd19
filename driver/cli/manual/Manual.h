// SPDX-License-Identifier: Apache-2.0
// The man page and the completions of shells, generated from the options themselves: what a command
// understands is in all of them, and nothing else.
#pragma once

#include "driver/support/Result.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kopt {

/// One option or positional argument, as far as manuals need it.
struct ManualOption {
  std::vector<std::string> names; ///< "-p", "--run"; empty: positional
  std::string placeholder;        ///< "RUN", "PROGRAM"; empty: a flag
  std::string help;
  std::vector<std::string> values; ///< all that it takes; empty: any
};

struct ManualCommand {
  std::string name, help; ///< name is empty for kopt itself
  std::vector<ManualOption> options;
};

/// kopt itself first, then each of its commands.
std::vector<ManualCommand> describeCommands(const CLI::App &app);

/// groff's man macros, kopt(1).
std::string manPage(const std::vector<ManualCommand> &commands);

/// For "bash", "zsh" or "fish". Fails with Usage for another shell.
Result<std::string> completionsFor(const std::string &shell,
                                   const std::vector<ManualCommand> &commands);

} // namespace kopt
