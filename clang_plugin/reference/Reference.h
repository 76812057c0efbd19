// SPDX-License-Identifier: Apache-2.0
// A kernel in double precision: what the errors of the original and of a candidate are measured
// against. Where the clone could mean anything else than the original, there is none.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"
#include "clang_plugin/reference/Layout.h"

namespace kopt::frontend {

/// The rewrite is of tokens (`Rewrite.h`); what may be rewritten is decided on the AST of the
/// original
/// (`Legality.h`), and what was, on the AST of the clone (`Compare.h`). Fails only where the
/// original does not parse or has no such kernel.
llvm::Expected<ReferenceClone> makeReferenceClone(const KernelSource &request);

} // namespace kopt::frontend
