// SPDX-License-Identifier: Apache-2.0
// What an expression or a statement is, by its text alone.
#pragma once

#include "clang_plugin/analysis/KernelFacts.h"

namespace kopt::frontend {

/// Whether the statement says that control never gets there. Null: no.
bool isUnreachable(const clang::Stmt *statement);

/// Whether the comparison is, alone or within others, what a branch, a loop or `?:` asks.
bool isCondition(const BodyView &body, const clang::Expr *comparison);

/// Whether it may be spelled twice.
bool isPure(const clang::Stmt *expression);

/// Whether it reads memory, or calls what may.
bool reads(const clang::Stmt *expression);

/// Whether the block's size, literals and constants decide it alone.
bool isOfBlock(const clang::Stmt *expression);

} // namespace kopt::frontend
