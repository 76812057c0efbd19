// SPDX-License-Identifier: Apache-2.0
// A win as the header mode keeps it: what it replaces, and all text of the user's that it was
// judged with.
#pragma once

#include "driver/integrate/compose/Win.h"
#include "driver/model/Session.h"
#include "driver/support/Result.h"

#include <filesystem>

namespace kopt {

/// `device` and `arch` are where it was measured; paths become relative to `root`. The text that
/// counts is that of the kernel's slice, of its launches, and of every other kernel that shares
/// text with the win and was judged with it. Fails with StaleInput where a file changed since it
/// was read, and with Environment where one cannot be read.
Result<TunedVariant> tunedVariant(const Win &win, const ExtractionResult &extraction,
                                  const std::filesystem::path &root, const std::string &device,
                                  const std::string &arch);

} // namespace kopt
