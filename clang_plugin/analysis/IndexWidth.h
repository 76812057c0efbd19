// SPDX-License-Identifier: Apache-2.0
// Determines the number of bits in which a kernel computes the indices of its buffers.
#pragma once

#include "clang_plugin/analysis/KernelView.h"

#include <map>

namespace kopt::frontend {

/// The arguments for each parameter of the functions that the kernel calls, one for each call.
using CallArguments = llvm::DenseMap<const clang::ParmVarDecl *, std::vector<const clang::Expr *>>;

/// If the statement is `p[i]`, `p + i` or `p += i`, and p is a parameter of the kernel (possibly
/// under another name in a function that it calls), lowers `bits` of that parameter (by its
/// position) to the bits in which i is computed. Constant indices do not count. `doubtful` is
/// lowered in the same way, but not by indices that clearly fit: those made of coordinates and of
/// locals that a comparison keeps below a parameter.
void readIndex(const KernelView &view, const CallArguments &arguments, const clang::Stmt *statement,
               std::map<unsigned, unsigned> &bits, std::map<unsigned, unsigned> &doubtful);

} // namespace kopt::frontend
