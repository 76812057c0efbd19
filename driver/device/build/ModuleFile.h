// SPDX-License-Identifier: Apache-2.0
// Reads the module that a compiler wrote, if it is acceptable.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string>

namespace kopt {

struct ModuleFile {
  std::string bytes;
  std::string refusal; ///< why it is refused: too large, or not a plain file. Then `bytes` is empty
};

/// Fails with Environment if the file is missing or cannot be read.
Result<ModuleFile> readModule(const std::filesystem::path &path);

} // namespace kopt
