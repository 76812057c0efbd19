// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

/// The words of a command line; quotes and backslashes as in a shell. Fails with Usage where the
/// command is empty, where a quote is not closed, or where it needs a shell (pipes, variables,
/// patterns).
Result<std::vector<std::string>> splitCommand(const std::string &text);

/// The command line as a person would type it: words with other characters than letters, digits and
/// "_-+=.,:/@%" are quoted for a shell.
std::string joinCommand(const std::vector<std::string> &words);

} // namespace kopt
