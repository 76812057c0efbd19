// SPDX-License-Identifier: Apache-2.0
// The numbers that a kernel is written with: which of them are sizes of its own, and what its
// arithmetic needs of them.
#pragma once

#include "clang_plugin/tunables/ConstantUses.h"

namespace kopt::frontend {

/// `pattern` is the kernel as written; null if another file defines it, and then only the uses in
/// host code are known. `constants` are those that it or its launches depend on.
KernelSizes sizesOf(const UnitReferences &references, const clang::FunctionDecl *pattern,
                    const InSlice &inSlice, const std::vector<NamedConstant> &constants);

} // namespace kopt::frontend
