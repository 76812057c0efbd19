// SPDX-License-Identifier: Apache-2.0
// Finds how much memory a function allocates for the pointers that it passes to a launch.
#pragma once

#include "clang_plugin/extract/Geometry.h"

#include <string>

namespace kopt::frontend {

/// The bytes that `function` allocates, with cudaMalloc() or a call like it, for the pointer
/// variable that `argument` names: an expression as `numbers` reads them. Empty if there is not
/// exactly one such call, or if its size cannot be read at the launch of `numbers`.
std::string allocatedBytes(const clang::Expr *argument, const clang::FunctionDecl *function,
                           GeometryReader &numbers);

} // namespace kopt::frontend
