// SPDX-License-Identifier: Apache-2.0
#include "driver/support/Glob.h"

#include <fnmatch.h>

namespace kopt {

bool matchesGlob(const std::string &pattern, const std::string &text) {
  return pattern == text || ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

} // namespace kopt
