// SPDX-License-Identifier: Apache-2.0
// Where the user's code of a unit names variables, constants and functions, and what is around each
// such place: what one has to know to tell what a constant is used for.
#pragma once

#include "clang_plugin/analysis/Constants.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/PointerUnion.h>
#include <map>

namespace kopt::frontend {

/// A part of the code that contains others.
using CodeNode = llvm::PointerUnion<const clang::Stmt *, const clang::Decl *>;

class UnitReferences {
public:
  explicit UnitReferences(const SourceIndex &index);

  const SourceIndex &index() const { return index_; }
  /// What directly contains it; null at namespace scope. Templates are read as written.
  CodeNode parentOf(CodeNode node) const;
  const clang::FunctionDecl *functionOf(CodeNode node) const;
  /// "main.cu:12".
  std::string placeOf(CodeNode node) const;

  llvm::ArrayRef<const clang::Expr *> of(const clang::ValueDecl *declaration) const;
  /// The expressions that name the constant whose value stands there.
  llvm::ArrayRef<const clang::Expr *> of(const SourceRange &value) const;
  /// The constant that the expression names; null for any other.
  const NamedConstant *constantAt(const clang::Expr *expression) const;
  /// The user's, as written.
  llvm::ArrayRef<const clang::FunctionDecl *> functions() const { return functions_; }
  llvm::ArrayRef<const clang::CallExpr *> callsOf(const clang::FunctionDecl *function) const;

  /// True if the value depends on threadIdx or blockIdx, directly or through variables; what a
  /// device function gets counts as depending on them.
  bool isOfThread(const clang::Stmt *expression) const;
  /// True if a coordinate such as "gridDim" is in it, or in the initializer of a variable in it.
  bool mentions(const clang::Stmt *expression, llvm::StringRef coordinate) const;
  /// True if only numbers, constants and template parameters are in it.
  bool isOfConstants(const clang::Stmt *expression) const;

private:
  friend class ReferenceFinder;
  const SourceIndex &index_;
  llvm::DenseMap<const void *, CodeNode> parents_;
  llvm::DenseMap<const clang::Decl *, std::vector<const clang::Expr *>> references_;
  llvm::DenseMap<const clang::Expr *, NamedConstant> constants_; ///< by what names them
  std::map<std::pair<std::string, std::uint64_t>, std::vector<const clang::Expr *>> byValue_;
  llvm::DenseMap<const clang::Decl *, std::vector<const clang::CallExpr *>> calls_;
  llvm::DenseSet<const clang::Decl *> ofThread_; ///< variables
  std::vector<const clang::FunctionDecl *> functions_;
};

/// The definition as written of a function, also of an instantiation; null if this unit has none.
const clang::FunctionDecl *writtenDefinition(const clang::FunctionDecl *function);

/// True for a function that runs on the device.
bool isDeviceFunction(const clang::FunctionDecl *function);

} // namespace kopt::frontend
