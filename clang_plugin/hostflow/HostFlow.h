// SPDX-License-Identifier: Apache-2.0
// Determines the values of a host function's variables at a point: which assignment reaches the
// point, and what may change in between. Only structured control flow is handled; if a function has
// jumps, or a value passes through a loop, the value is unknown.
#pragma once

#include "clang_plugin/hostflow/Place.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <llvm/ADT/DenseMap.h>
#include <map>
#include <memory>
#include <set>

namespace kopt::frontend {

bool isLoop(const clang::Stmt *statement);

/// How a place got its value.
struct Definition {
  enum class Kind {
    Value,  ///< `value`, or the part `rest` of it, read where it is written
    Update, ///< the old value, changed by the assignment or ++ that `value` is
    Choice, ///< the value after one of the branches of `choice`
    Entry,  ///< the value when the function began
    Unknown
  };
  Kind kind = Kind::Unknown;
  const clang::Expr *value = nullptr;
  std::vector<PlaceStep> rest;
  const clang::IfStmt *choice = nullptr;
};

/// A condition of the function that holds, or does not, where a statement is reached.
struct Guard {
  const clang::Expr *condition = nullptr;
  bool holds = true;
};

class FunctionFlow {
public:
  /// `function` must have a body; lambdas inside it belong to it.
  explicit FunctionFlow(const clang::FunctionDecl &function);

  const clang::FunctionDecl &function() const { return function_; }

  /// The definition of `place` just before `point` is executed.
  Definition before(const Place &place, const clang::Stmt *point) const;
  /// The definition of `place` after the function's last statement.
  Definition atEnd(const Place &place) const;
  /// The definition of `place` at the end of a branch of `choice`; a null `branch` is a missing
  /// else.
  Definition afterBranch(const Place &place, const clang::Stmt *branch,
                         const clang::IfStmt *choice) const;

  /// True if this function does not write `place` between the two points. The effects of calls are
  /// not considered.
  bool isUnwritten(const Place &place, const clang::Stmt *from, const clang::Stmt *to) const;
  /// The functions called between the two points; a null entry is a call of something unknown.
  std::vector<const clang::FunctionDecl *> callsBetween(const clang::Stmt *from,
                                                        const clang::Stmt *to) const;
  /// True if the declaration's plain name refers to it at `at`.
  bool isVisible(const clang::ValueDecl *declaration, const clang::Stmt *at) const;

  /// The conditions around the statement, and those before it that otherwise leave its block, its
  /// loop or the function, or end the program. Each is as it was where it stands in the text.
  std::vector<Guard> guardsOf(const clang::Stmt *statement) const;

  bool contains(const clang::Stmt *statement) const { return nodes_.count(statement); }
  /// True if any part of the function writes the place or passes it to code that may.
  bool writes(const Place &place) const;
  bool writesGlobalOrField(const clang::ValueDecl *declaration) const;
  std::vector<const clang::FunctionDecl *> calls() const;
  /// True if it writes nothing, passes nothing to others and calls nothing.
  bool changesNothing() const { return writes_.empty() && escaped_.empty() && calls_.empty(); }

private:
  struct Node {
    unsigned begin = 0, end = 0;
    const clang::Stmt *parent = nullptr;
    const clang::LambdaExpr *lambda = nullptr; ///< the innermost enclosing lambda
  };
  struct Write {
    Place place;
    const clang::Stmt *at = nullptr;
  };
  struct Call {
    const clang::FunctionDecl *callee = nullptr;
    const clang::Stmt *at = nullptr;
  };

  void visit(const clang::Stmt *statement, const clang::Stmt *parent,
             const clang::LambdaExpr *lambda);
  void note(const clang::Stmt *statement);
  void noteCall(const clang::CallExpr *call);
  void noteArguments(const clang::Expr *call, const clang::FunctionProtoType *type,
                     const clang::FunctionDecl *callee,
                     llvm::ArrayRef<const clang::Expr *> arguments);
  void write(const clang::Expr *target, const clang::Stmt *at);
  void addressTaken(const clang::Expr *target);
  const Node &node(const clang::Stmt *statement) const;
  bool isInside(const clang::Stmt *inner, const clang::Stmt *outer) const;
  bool writesWithin(const Place &place, const clang::Stmt *statement) const;
  /// True if the place may be written at any time, because it escaped or a lambda elsewhere writes
  /// it.
  bool isElusive(const Place &place, const clang::Stmt *at) const;
  std::optional<Definition> ofStatement(const Place &place, const clang::Stmt *statement) const;
  std::optional<Definition> ofExpression(const Place &place, const clang::Expr *expression) const;
  std::optional<Definition> ofDeclarations(const Place &place, const clang::DeclStmt *statement,
                                           const clang::Stmt *upTo) const;
  /// The loops around `inner` that are not around `outer`.
  std::vector<const clang::Stmt *> loopsBetween(const clang::Stmt *inner,
                                                const clang::Stmt *outer) const;
  bool happensBetween(const clang::Stmt *event, const clang::Stmt *from,
                      const clang::Stmt *to) const;

  const clang::FunctionDecl &function_;
  const clang::ASTContext &context_;
  llvm::DenseMap<const clang::Stmt *, Node> nodes_;
  std::map<const clang::ValueDecl *, std::vector<Write>> writes_; ///< by root
  std::vector<Call> calls_;
  /// Locals with the statement or lambda in which they are declared; null for the function's
  /// parameters.
  std::vector<std::pair<const clang::ValueDecl *, const clang::Stmt *>> locals_;
  llvm::DenseMap<const clang::ValueDecl *, unsigned> declarationOrder_;
  std::set<const clang::ValueDecl *> escaped_;
  std::set<const clang::Expr *> handled_; ///< addresses whose use was already examined
  unsigned count_ = 0;
  bool jumps_ = false;
};

/// The flows of a unit's functions, made on demand.
class UnitFlow {
public:
  /// Null if the function has no body in this unit.
  const FunctionFlow *of(const clang::FunctionDecl *function);
  /// True if nothing changes `place` between two points of `flow`.
  bool isStable(const FunctionFlow &flow, const Place &place, const clang::Stmt *from,
                const clang::Stmt *to);
  /// True if no function that is called between the two points changes `place`.
  bool callsKeep(const FunctionFlow &flow, const Place &place, const clang::Stmt *from,
                 const clang::Stmt *to);

private:
  bool mayWrite(const clang::FunctionDecl *function, const Place &place,
                std::set<const clang::FunctionDecl *> &visited);

  std::map<const clang::FunctionDecl *, std::unique_ptr<FunctionFlow>> flows_;
};

} // namespace kopt::frontend
