// SPDX-License-Identifier: Apache-2.0
// Facts about a kernel for mutation operators: whether a value reaches an output, whether it
// depends on the thread. They are approximations: a mistake adds or removes a mutant, but does not
// change a verdict.
#pragma once

#include "clang_plugin/analysis/CudaFunctions.h"
#include "clang_plugin/analysis/KernelSource.h"
#include "clang_plugin/analysis/KernelView.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

namespace kopt::frontend {

class KernelFacts {
public:
  explicit KernelFacts(const KernelView &view);

  const KernelView &view() const { return view_; }
  /// The view's bodies without the branches that this specialization never takes.
  const std::vector<BodyView> &bodies() const { return bodies_; }

  /// True if the value of this expression is written to memory, leaves the function, or decides
  /// what does.
  bool reachesOutput(const BodyView &body, const clang::Expr *expression) const;
  /// True if the value of this variable reaches an output.
  bool isLive(const clang::VarDecl *variable) const { return live_.contains(variable); }
  /// True if the value depends on threadIdx or blockIdx, directly or through variables.
  bool dependsOnThread(const clang::Stmt *expression) const;

  /// True if threads wait for each other within the statement, or in a function that it calls: at
  /// barriers or, with `lanes`, also in shuffles and votes.
  bool waits(const clang::Stmt *statement, bool lanes) const;

  /// The text of a statement; empty if macros spell a part of it.
  llvm::StringRef text(const clang::Stmt *statement) const;

  /// The bytes of a range of tokens; nothing if a macro spells a part of it.
  std::optional<std::pair<unsigned, unsigned>> placeOf(clang::SourceRange range) const;
  /// Edits that replace or wrap text; nothing if a macro spells the place.
  std::optional<std::vector<SliceEdit>> replace(clang::SourceRange range, std::string text) const;
  std::optional<std::vector<SliceEdit>> wrap(const clang::Stmt *inner, std::string before,
                                             std::string after) const;

private:
  bool climbsToOutput(const BodyView &body, const clang::Stmt *value) const;

  const KernelView &view_;
  std::vector<BodyView> bodies_;
  llvm::DenseSet<const clang::VarDecl *> live_;        ///< locals whose values reach an output
  llvm::DenseSet<const clang::VarDecl *> threadLocal_; ///< variables that depend on the thread
};

/// The name of a function that is called by its plain name; empty for other calls.
llvm::StringRef calleeName(const clang::Expr *call);

/// The innermost loop around a statement, or null.
const clang::Stmt *loopAround(const BodyView &body, const clang::Stmt *statement);
const clang::Expr *conditionOf(const clang::Stmt *loop);
/// True if the expression is a statement of its own, whose value is dropped.
bool isStatement(const BodyView &body, const clang::Stmt *statement);
/// The local variable that an expression names, through casts; null for anything else.
const clang::VarDecl *variableOf(const clang::Expr *expression);
bool mentions(const clang::Stmt *statement, const clang::VarDecl *variable);
bool isFloating(clang::QualType type);

} // namespace kopt::frontend
