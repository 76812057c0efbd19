// SPDX-License-Identifier: Apache-2.0
// The text of a kernel with two bodies, of which a condition chooses one.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

namespace kopt::frontend {

/// The usual kernel's chunk, whose body becomes
///     if (CONDITION) { body of the special slice } else { usual body }
/// Statements that both bodies begin with stay before the if. Text is copied as it is spelled.
/// Refuses if more than the bodies and the launch bounds differ, if a part cannot stand twice in a
/// function, or if macros spell the body.
llvm::Expected<ChunkReply> guardBody(const GuardRequest &request);

} // namespace kopt::frontend
