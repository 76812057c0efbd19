// SPDX-License-Identifier: Apache-2.0
// The numbers that a kernel is written with: which of them are sizes of its own, and what its
// arithmetic needs of them.
#pragma once

#include "clang_plugin/tunables/UnitReferences.h"

#include <functional>

namespace kopt::frontend {

using InSlice = std::function<bool(const clang::FunctionDecl *)>;

/// `pattern` is the kernel as written. `constants` are those that it or its launches depend on.
KernelSizes sizesOf(const UnitReferences &unit, const clang::FunctionDecl &pattern,
                    const InSlice &inSlice, const std::vector<NamedConstant> &constants);

/// Reads all uses of what these expressions name. What is not understood counts as another use.
SizeUse usesOf(const UnitReferences &unit, const InSlice &inSlice, std::string name,
               llvm::ArrayRef<const clang::Expr *> named);

} // namespace kopt::frontend
