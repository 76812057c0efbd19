// SPDX-License-Identifier: Apache-2.0
// Determines what a kernel may do through its pointer parameters, through local aliases, casts and
// calls. There is a list of harmless uses; every other use counts as a write, so that a mistake
// costs an offer and not a correct result.
#pragma once

#include "clang_plugin/analysis/KernelView.h"

namespace kopt::frontend {

class PointerUses {
public:
  explicit PointerUses(const KernelView &view);

  /// True if the kernel, or a function that it calls, may write through this pointer variable or
  /// let it escape.
  bool mayWrite(const clang::VarDecl *pointer);

  /// The parameter into whose buffer a pointer expression of this body certainly points, or null.
  const clang::VarDecl *root(const BodyView &body, const clang::Expr *pointer);

private:
  enum class Form {
    /// The pointer variable, its value, or the element it points to.
    Variable,
    Value,
    Element
  };
  struct Use {
    const BodyView *body;
    const clang::DeclRefExpr *reference;
  };
  bool reachesWrite(const clang::VarDecl *pointer);
  bool escapes(const BodyView &body, const clang::Expr *expression, Form form);
  bool variableEscapes(const BodyView &body, const clang::Expr *expression,
                       const clang::Stmt *parent);
  bool valueEscapes(const BodyView &body, const clang::Expr *expression, const clang::Stmt *parent);
  bool elementEscapes(const BodyView &body, const clang::Expr *expression,
                      const clang::Stmt *parent);
  bool argumentEscapes(const clang::Stmt *call, const clang::Expr *argument, Form form);

  const KernelView &view_;
  llvm::DenseMap<const clang::VarDecl *, std::vector<Use>> uses_;
  llvm::DenseSet<const clang::VarDecl *> visited_;   ///< variables that this query has followed
  llvm::DenseSet<const clang::VarDecl *> resolving_; ///< aliases whose root is being looked for
  bool castsConstAway_ = false;
};

} // namespace kopt::frontend
