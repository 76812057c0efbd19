// SPDX-License-Identifier: Apache-2.0
// Where each scalar of an element lies in the original and in the clone, so that a buffer can be
// carried over from one to the other.
#pragma once

#include "clang_plugin/output/Variants.h"

#include <clang/AST/ASTContext.h>
#include <optional>

namespace kopt::frontend {

/// Fails with the reason where the two cannot be matched scalar by scalar: bit-fields, pointers in
/// an element that changes, virtual functions, more than 4096 scalars.
std::optional<ElementLayout> layoutOf(const clang::ASTContext &original, clang::QualType type,
                                      const clang::ASTContext &clone, clang::QualType newType,
                                      std::string &why);

} // namespace kopt::frontend
