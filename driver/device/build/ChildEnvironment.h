// SPDX-License-Identifier: Apache-2.0
// Finds environment variables that a child that builds or runs candidates must not see.
#pragma once

#include <string>
#include <vector>

namespace kopt {

/// The names of this process's variables that may hold a key, a token or a password. They are
/// removed for compilers and runners, which process untrusted code.
std::vector<std::string> secretVariableNames();

} // namespace kopt
