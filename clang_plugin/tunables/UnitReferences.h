// SPDX-License-Identifier: Apache-2.0
// Where the user's code of a unit, as it is written, names variables and constants.
#pragma once

#include "clang_plugin/tunables/Constants.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/MapVector.h>

namespace kopt::frontend {

struct UnitReferences {
  explicit UnitReferences(const SourceIndex &index);

  const SourceIndex &index;
  std::vector<const clang::FunctionDecl *> functions; ///< with their bodies
  llvm::DenseMap<const clang::Decl *, std::vector<const clang::Expr *>> references;
  llvm::MapVector<const clang::Expr *, NamedConstant> constants; ///< by what names them
  llvm::DenseSet<const clang::Decl *> ofThread; ///< variables that depend on threadIdx or blockIdx

  /// What directly contains it: a statement, a declaration or a type; empty at namespace scope.
  clang::DynTypedNode parentOf(const clang::DynTypedNode &node) const;
  /// The outermost function around it; null at namespace scope.
  const clang::FunctionDecl *functionOf(clang::DynTypedNode node) const;
  llvm::ArrayRef<const clang::Expr *> of(const clang::Decl *declaration) const;
  /// True if the value depends on threadIdx or blockIdx; what a device function gets counts as
  /// depending on them.
  bool isOfThread(const clang::Stmt *expression) const;
  /// True if only numbers, constants and template parameters are in it.
  bool isOfConstants(const clang::Stmt *expression) const;
};

/// True if `test` holds for a part of the statement, itself included.
bool hasPart(const clang::Stmt *statement, llvm::function_ref<bool(const clang::Stmt *part)> test);
/// True if a coordinate such as gridDim.x is in it, or in the initializer of a variable in it.
bool mentions(const clang::Stmt *expression, llvm::StringRef coordinate);
/// The variable or parameter that the expression is; null for anything else.
const clang::ValueDecl *namedBy(const clang::Stmt *expression);
/// The initializer of a constant variable that does not name itself; null for anything else.
const clang::Expr *valueOf(const clang::ValueDecl *constant);
bool isDeviceFunction(const clang::FunctionDecl *function);

} // namespace kopt::frontend
