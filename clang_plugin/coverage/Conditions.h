// SPDX-License-Identifier: Apache-2.0
// Classifies expressions and statements by their text alone.
#pragma once

#include "clang_plugin/analysis/KernelFacts.h"

namespace kopt::frontend {

/// True if the statement declares itself unreachable. False for null.
bool isUnreachable(const clang::Stmt *statement);

/// True if the comparison is the condition, or a part of the condition, of a branch, a loop or
/// `?:`.
bool isCondition(const BodyView &body, const clang::Expr *comparison);

/// True if the expression may be evaluated twice.
bool isPure(const clang::Stmt *expression);

/// True if it reads memory, or calls a function that may.
bool reads(const clang::Stmt *expression);

/// True if it depends only on the block's size, literals and constants.
bool isOfBlock(const clang::Stmt *expression);

} // namespace kopt::frontend
