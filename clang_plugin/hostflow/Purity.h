// SPDX-License-Identifier: Apache-2.0
// Determines whether evaluating host code has effects, as far as the unit shows.
#pragma once

#include "clang_plugin/parse/SourceIndex.h"

#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

namespace kopt::frontend {

/// The target and the value of an assignment; ++ and -- have no value.
struct Assignment {
  const clang::Expr *target = nullptr, *value = nullptr;
};

/// The assignment that a statement makes; without a target if it is not an assignment.
Assignment assignmentIn(const clang::Stmt *statement);

/// The local variable or parameter whose own memory an assignment to `target` changes; null if it
/// changes other memory.
const clang::VarDecl *assignedVariable(const clang::Expr *target);

class Purity {
public:
  explicit Purity(const SourceIndex &index) : index_(index) {}

  /// True if evaluating the statement changes nothing and calls only functions that are known to
  /// change nothing. `inFunction`: the statement is the body of a function, which may change its
  /// own variables.
  bool isPure(const clang::Stmt *statement, bool inFunction = false, unsigned depth = 0) const;

private:
  bool isPureCall(const clang::CallExpr &call, unsigned depth) const;
  bool isPureFunction(const clang::FunctionDecl *function, unsigned depth) const;
  bool isOfUser(const clang::Decl &declaration) const;

  const SourceIndex &index_;
};

} // namespace kopt::frontend
