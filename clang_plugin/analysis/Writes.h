// SPDX-License-Identifier: Apache-2.0
// What the statements of a kernel write to, and what its counted loops count.
#pragma once

#include "clang_plugin/analysis/KernelFacts.h"

namespace kopt::frontend {

/// What an lvalue is, or what it is a part of.
struct Lvalue {
  const clang::VarDecl *variable = nullptr; ///< at the root, also behind pointers
  const clang::Expr *root = nullptr;
  const clang::Expr *pointer = nullptr; ///< the outermost one through which it is reached
  bool isWhole = true;

  /// A function's own variable or a part of it, but nothing that it points or refers to.
  bool isLocal() const;
  bool isTemporary() const { return !pointer && root->isPRValue(); }
};

Lvalue readLvalue(const clang::Expr *lvalue);
Lvalue pointedTo(const clang::Expr *pointer);

/// The variable at the root, or what a local pointer or reference there is initialised with.
const clang::VarDecl *sourceOf(const Lvalue &lvalue);

enum class MemorySpace { Local, Shared, Global };
/// The memory that an lvalue names, as far as its text tells; global if that cannot be determined.
MemorySpace spaceOf(const clang::Expr *lvalue);

/// The lvalue that an operator writes to; null for other statements.
const clang::Expr *writtenBy(const clang::Stmt *statement);

/// What the operator or the call itself, without its parts, may write to. Nothing if a call may
/// write to memory that it is not given.
std::optional<std::vector<Lvalue>> writesOf(const clang::Stmt *statement);

/// True for a load from anything but a local variable or a coordinate.
bool loadsMemory(const clang::Stmt *statement);

/// The statement itself or what it stands in, whichever is of one of these kinds first; or null.
template <class... Kinds>
const clang::Stmt *enclosing(const BodyView &body, const clang::Stmt *statement) {
  while (statement && !llvm::isa<Kinds...>(statement))
    statement = body.parents.lookup(statement);
  return statement;
}

/// `for (counter = first; counter < bound; counter += step)` and the like, whose body only reads
/// the counter.
struct CountedLoop {
  const clang::VarDecl *counter = nullptr;
  const clang::Expr *first = nullptr, *bound = nullptr;
  /// With the counter on its left; towards the bound, or BO_NE.
  clang::BinaryOperatorKind comparison = clang::BO_NE;
  bool isSigned = false; ///< the comparison
  long long step = 0;    ///< never 0
};

std::optional<CountedLoop> countedLoop(const KernelView &view, const BodyView &body,
                                       const clang::ForStmt &loop);

} // namespace kopt::frontend
