// SPDX-License-Identifier: Apache-2.0
// In how many bits a kernel numbers the elements of its buffers.
#pragma once

#include "clang_plugin/analysis/KernelView.h"

#include <map>

namespace kopt::frontend {

/// What each parameter of the functions that the kernel calls is given, call by call.
using CallArguments = llvm::DenseMap<const clang::ParmVarDecl *, std::vector<const clang::Expr *>>;

/// Where the statement is `p[i]`, `p + i` or `p += i`, and p a parameter of the kernel (also under
/// another name in what it calls): lowers `bits` of that parameter, by its index, to those that i
/// is computed in. Constant indices do not count. `doubtful` gets the same, but for indices that
/// plainly fit: made of coordinates and of locals that a comparison keeps below a parameter.
void readIndex(const KernelView &view, const CallArguments &arguments, const clang::Stmt *statement,
               std::map<unsigned, unsigned> &bits, std::map<unsigned, unsigned> &doubtful);

} // namespace kopt::frontend
