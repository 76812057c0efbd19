// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

/// Splits a command line into words, with quotes and backslashes as in a shell. Fails with Usage if
/// the command is empty, a quote is not closed, or a shell is needed (pipes, variables, patterns).
Result<std::vector<std::string>> splitCommand(const std::string &text);

/// The command line as a person would type it: words that contain characters other than letters,
/// digits and "_-+=.,:/@%" are quoted for a shell.
std::string joinCommand(const std::vector<std::string> &words);

} // namespace kopt
