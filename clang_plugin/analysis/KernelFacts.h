// SPDX-License-Identifier: Apache-2.0
// What mutation operators ask about a kernel: where memory lies, whether a value reaches an output,
// whether it depends on the thread. Approximations: a mistake here costs or adds a mutant, no
// verdict.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"
#include "clang_plugin/analysis/KernelView.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

namespace kopt::frontend {

enum class MemorySpace { Local, Shared, Global };

class KernelFacts {
public:
  explicit KernelFacts(const KernelView &view);

  const KernelView &view() const { return view_; }
  /// The view's bodies without the branches that this specialization never takes.
  const std::vector<BodyView> &bodies() const { return bodies_; }

  /// The memory that an lvalue names. What cannot be told counts as global.
  MemorySpace spaceOf(const clang::Expr *lvalue) const;
  /// Whether the value of this expression gets into memory, out of the function, or decides what
  /// does.
  bool reachesOutput(const BodyView &body, const clang::Expr *expression) const;
  /// Whether the value of a variable does.
  bool isLive(const clang::VarDecl *variable) const { return live_.contains(variable); }
  /// Whether threadIdx or blockIdx is in the value, directly or through variables.
  bool dependsOnThread(const clang::Stmt *expression) const;

  /// Whether threads wait for each other under the statement or in a function that is called there:
  /// at barriers; or, with `lanes`, in shuffles and votes too.
  bool waits(const clang::Stmt *statement, bool lanes) const;

  /// Text of a statement, without a part that macros spell; empty where there is none.
  llvm::StringRef text(const clang::Stmt *statement) const;

  /// The bytes of a range of tokens, or nothing where a macro spells a part of it.
  std::optional<std::pair<unsigned, unsigned>> placeOf(clang::SourceRange range) const;
  /// Edits, or nothing where a macro spells the place.
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

/// Name of a function that is called by its plain name; empty for others.
llvm::StringRef calleeName(const clang::Expr *call);

/// __syncthreads() and its like, cooperative groups' included.
bool isBarrier(const clang::Stmt *statement);

/// The innermost loop around a statement, or null.
const clang::Stmt *loopAround(const BodyView &body, const clang::Stmt *statement);
const clang::Expr *conditionOf(const clang::Stmt *loop);
/// Whether the statement stands by itself: its value is dropped.
bool isStatement(const BodyView &body, const clang::Stmt *statement);
/// The local variable that an expression is, without casts; null for anything else.
const clang::VarDecl *variableOf(const clang::Expr *expression);
bool mentions(const clang::Stmt *statement, const clang::VarDecl *variable);
bool isFloating(clang::QualType type);

} // namespace kopt::frontend
