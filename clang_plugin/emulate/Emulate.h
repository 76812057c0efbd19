// SPDX-License-Identifier: Apache-2.0
// Builds a slice into a module that the emulated device runs.
#pragma once

#include "clang_plugin/output/Variants.h"

namespace kopt::frontend::emulate {

/// Compiles, instruments and links. Does not run any code of the slice. On failure `ok` is false
/// and `log` gives the reason.
EmulateReply emulate(const EmulateRequest &request);

} // namespace kopt::frontend::emulate
