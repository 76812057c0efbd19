// SPDX-License-Identifier: Apache-2.0
// The memory of a kernel: what its trials came to, compacted by rules alone.
#pragma once

#include "driver/knowledge/ExperienceBase.h"

namespace kopt {

struct Memo {
  std::string kernel, program;
  std::string arch; ///< of the fastest version
  std::size_t trials = 0;
  /// "resolved: " is what the fastest version has. Of each other technique: "pending: " if it
  /// gained or was not decided, and "avoid: " if it gained nothing or failed, and how.
  std::vector<std::string> lines;
};
KOPT_FIELDS(Memo, kernel, program, arch, trials, lines)

/// One for each kernel of each program, on GPUs and on the emulated device apart.
std::vector<Memo> memosOf(const std::vector<Remembered> &rows);

} // namespace kopt
