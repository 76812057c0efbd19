// SPDX-License-Identifier: Apache-2.0
// A win in the form that the header mode keeps: what it replaces, and all text of the user that it
// was judged with.
#pragma once

#include "driver/integrate/compose/Win.h"
#include "driver/model/Session.h"
#include "driver/support/Result.h"

#include <filesystem>

namespace kopt {

/// `device` and `arch` tell where the win was measured; paths become relative to `root`. The text
/// that it depends on is that of the kernel's slice, of its launches, and of every other kernel
/// that shares text with the win and was judged with it. Fails with StaleInput if a file has
/// changed since it was read, and with Environment if one cannot be read.
Result<TunedVariant> tunedVariant(const Win &win, const ExtractionResult &extraction,
                                  const std::filesystem::path &root, const std::string &device,
                                  const std::string &arch);

} // namespace kopt
