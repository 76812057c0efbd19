// SPDX-License-Identifier: Apache-2.0
// The offset of each scalar of an element in the original and in the clone, so that buffers can be
// converted from one to the other.
#pragma once

#include "clang_plugin/output/Variants.h"

#include <clang/AST/ASTContext.h>
#include <optional>

namespace kopt::frontend {

/// Returns nothing and sets `why` if the two types cannot be matched scalar by scalar: bit-fields,
/// pointers in an element that changes, virtual functions, more than 4096 scalars.
std::optional<ElementLayout> layoutOf(const clang::ASTContext &original, clang::QualType type,
                                      const clang::ASTContext &clone, clang::QualType newType,
                                      std::string &why);

} // namespace kopt::frontend
