// SPDX-License-Identifier: Apache-2.0
// Whether evaluating host code changes anything, as far as a unit shows it.
#pragma once

#include "clang_plugin/parse/SourceIndex.h"

#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

namespace kopt::frontend {

/// The target and the value of an assignment; of ++ and -- without a value.
struct Assignment {
  const clang::Expr *target = nullptr, *value = nullptr;
};

/// The assignment that a statement is; without a target where it is none.
Assignment assignmentIn(const clang::Stmt *statement);

/// The local variable or parameter whose own memory an assignment to `target` changes; null where
/// that is another's.
const clang::VarDecl *assignedVariable(const clang::Expr *target);

class Purity {
public:
  explicit Purity(const SourceIndex &index) : index_(index) {}

  /// Evaluating it changes nothing and calls only what is known to change nothing. `inFunction`:
  /// the body of a function, which may change its own variables.
  bool isPure(const clang::Stmt *statement, bool inFunction = false, unsigned depth = 0) const;

private:
  bool isPureCall(const clang::CallExpr &call, unsigned depth) const;
  bool isPureFunction(const clang::FunctionDecl *function, unsigned depth) const;

  const SourceIndex &index_;
};

} // namespace kopt::frontend
