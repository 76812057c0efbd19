// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string>

namespace kopt {

/// The description of a GPU that the emulated device models: NAME.txt in `folder` (knowledge/gpus).
/// Fails with Usage, naming those there are, or with Environment where there are none.
Result<std::filesystem::path> gpuSpecFile(const std::filesystem::path &folder,
                                          const std::string &name);

} // namespace kopt
