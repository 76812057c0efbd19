// SPDX-License-Identifier: Apache-2.0
// Reads the module that a compiler wrote, if it is acceptable.
#pragma once

#include "driver/device/Toolchain.h"
#include "driver/device/build/CubinImage.h"

#include <filesystem>
#include <functional>
#include <string>

namespace kopt {

/// Says what is wrong with a module; empty: nothing.
using CheckImage = std::function<std::string(const ElfImage &)>;

/// The outcome with the built module, its hash and externals; or with the reason in its log why the
/// module is refused: it is too large, no plain file, or `check` says so. Fails with Environment if
/// the file is missing or cannot be read, and as ElfImage::parse().
Result<BuildOutcome> withModule(BuildOutcome outcome, const std::filesystem::path &module,
                                const CheckImage &check = {});

} // namespace kopt
