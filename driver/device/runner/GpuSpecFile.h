// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string>

namespace kopt {

/// The description of a GPU for the emulated device to model: NAME.txt in `folder`
/// (knowledge/gpus). Fails with Usage, listing the known GPUs, or with Environment if there are
/// none.
Result<std::filesystem::path> gpuSpecFile(const std::filesystem::path &folder,
                                          const std::string &name);

} // namespace kopt
