// SPDX-License-Identifier: Apache-2.0
// What a kernel may do through its pointer parameters, followed through local aliases, casts and
// calls. It knows a list of harmless uses; every other one counts as a write, so that a mistake
// here costs an offer and not a result.
#pragma once

#include "clang_plugin/analysis/KernelView.h"

namespace kopt::frontend {

class PointerUses {
public:
  explicit PointerUses(const KernelView &view);

  /// Whether anything in the kernel or below may write through this pointer variable, or let it out
  /// of sight.
  bool mayWrite(const clang::VarDecl *pointer);

  /// The one parameter that a pointer expression of this body surely points into, or null.
  const clang::VarDecl *root(const BodyView &body, const clang::Expr *pointer);

private:
  enum class Form {
    Variable,
    Value,
    Element
  }; ///< the pointer variable, its value, what it points to
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
  llvm::DenseSet<const clang::VarDecl *> visited_;   ///< variables this query has followed
  llvm::DenseSet<const clang::VarDecl *> resolving_; ///< aliases whose root is being looked for
  bool castsConstAway_ = false;
};

} // namespace kopt::frontend
