// SPDX-License-Identifier: Apache-2.0
// The file that a compiler has left: what is taken from it, and on what conditions.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string>

namespace kopt {

struct ModuleFile {
  std::string bytes;
  std::string refusal; ///< why it is not taken: too large, or no plain file. Then bytes is empty
};

/// Fails with Environment if the file is missing or cannot be read.
Result<ModuleFile> readModule(const std::filesystem::path &path);

} // namespace kopt
