// SPDX-License-Identifier: Apache-2.0
// What a program uses a constant for. A kernel computes the same with another value only if it
// takes the constant for a size of its own (an extent of an array in shared memory, the step of a
// loop, a stride of an index), and host code for the geometry of launches alone.
#pragma once

#include "clang_plugin/tunables/UnitReferences.h"

#include <functional>

namespace kopt::frontend {

using InSlice = std::function<bool(const clang::FunctionDecl *)>;

/// Reads all uses of what these expressions name. What is not understood counts as a use for
/// something else.
SizeUse usesOf(const UnitReferences &references, const InSlice &inSlice, std::string name,
               llvm::ArrayRef<const clang::Expr *> named);

} // namespace kopt::frontend
