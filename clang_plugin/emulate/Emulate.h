// SPDX-License-Identifier: Apache-2.0
// Builds a slice into a module that the emulated device runs.
#pragma once

#include "clang_plugin/output/Variants.h"

namespace kopt::frontend::emulate {

/// Compiles, instruments and links. Never runs anything of the slice. Failures are `ok == false`
/// with their reason.
EmulateReply emulate(const EmulateRequest &request);

} // namespace kopt::frontend::emulate
