// SPDX-License-Identifier: Apache-2.0
// A clone of a kernel in double precision, against which the errors of the original and of a
// candidate are measured. If the clone could have another meaning than the original, none is made.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"
#include "clang_plugin/reference/Layout.h"

namespace kopt::frontend {

/// Tokens are rewritten (`Rewrite.h`). Whether they may be is decided on the AST of the original
/// (`Legality.h`); whether the result is right, on the AST of the clone (`Compare.h`). The result
/// has `refusals` if there is no clone. Fails only if the original does not parse or does not have
/// the kernel.
llvm::Expected<ReferenceClone> makeReferenceClone(const KernelSource &request);

} // namespace kopt::frontend
