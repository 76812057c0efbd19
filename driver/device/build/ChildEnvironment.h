// SPDX-License-Identifier: Apache-2.0
// What the environment of a child that builds or runs candidates must not hold.
#pragma once

#include <string>
#include <vector>

namespace kopt {

/// Names of the variables of this process that may hold a key, a token or a password: removed from
/// compilers and runners, which see untrusted code.
std::vector<std::string> secretVariableNames();

} // namespace kopt
