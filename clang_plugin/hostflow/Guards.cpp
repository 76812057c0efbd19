// SPDX-License-Identifier: Apache-2.0
// The conditions under which a function reaches a statement.
#include "clang_plugin/hostflow/HostFlow.h"

#include <algorithm>
#include <clang/AST/StmtCXX.h>

namespace kopt::frontend {
namespace {

using clang::Expr;
using clang::Stmt;

constexpr unsigned kMostCalls = 3; ///< functions that end the program, inside each other

/// Whether `break` and `continue` count: they end the block that is looked at, but inside a loop of
/// it they do not.
enum class Ends { Block, Function };

bool leaves(const Stmt *statement, Ends ends, unsigned depth = 0);

/// True if a statement of these kinds is in it, outside of lambdas.
template <class... Kinds> bool contains(const Stmt *statement) {
  return statement &&
         (llvm::isa<Kinds...>(statement) ||
          (!llvm::isa<clang::LambdaExpr>(statement) &&
           std::any_of(statement->child_begin(), statement->child_end(), contains<Kinds...>)));
}

bool neverReturns(const Expr *expression, unsigned depth) {
  const auto *call = llvm::dyn_cast<clang::CallExpr>(strip(expression));
  const clang::FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
  if (!callee || callee->isNoReturn())
    return callee != nullptr;
  const clang::FunctionDecl *body = nullptr;
  const auto *block = depth < kMostCalls && callee->hasBody(body)
                          ? llvm::dyn_cast<clang::CompoundStmt>(body->getBody())
                          : nullptr;
  // One that ends the program with its last statement, as usage() does.
  return block && !block->body_empty() && !contains<clang::ReturnStmt>(block) &&
         leaves(block->body_back(), Ends::Function, depth + 1);
}

/// True if what follows the statement in its block is not reached after it.
bool leaves(const Stmt *statement, Ends ends, unsigned depth) {
  if (!statement)
    return false;
  if (llvm::isa<clang::BreakStmt, clang::ContinueStmt>(statement))
    return ends == Ends::Block;
  if (llvm::isa<clang::ReturnStmt>(statement))
    return true;
  if (const auto *block = llvm::dyn_cast<clang::CompoundStmt>(statement))
    return std::any_of(block->body_begin(), block->body_end(),
                       [&](const Stmt *inner) { return leaves(inner, ends, depth); });
  if (const auto *choice = llvm::dyn_cast<clang::IfStmt>(statement))
    return leaves(choice->getThen(), ends, depth) && leaves(choice->getElse(), ends, depth);
  const auto *expression = llvm::dyn_cast<Expr>(statement);
  return expression &&
         (llvm::isa<clang::CXXThrowExpr>(strip(expression)) || neverReturns(expression, depth));
}

/// Adds the parts of a condition that hold each by itself.
void addParts(const Expr *condition, bool holds, std::vector<Guard> &guards) {
  condition = strip(condition);
  if (const auto *hint = llvm::dyn_cast<clang::CallExpr>(condition);
      hint && hint->getDirectCallee() && hint->getNumArgs() > 0 &&
      hint->getDirectCallee()->getName() == "__builtin_expect")
    return addParts(hint->getArg(0), holds, guards);
  if (const auto *negation = llvm::dyn_cast<clang::UnaryOperator>(condition);
      negation && negation->getOpcode() == clang::UO_LNot)
    return addParts(negation->getSubExpr(), !holds, guards);
  const auto *both = llvm::dyn_cast<clang::BinaryOperator>(condition);
  if (both && both->getOpcode() == (holds ? clang::BO_LAnd : clang::BO_LOr)) {
    addParts(both->getLHS(), holds, guards);
    return addParts(both->getRHS(), holds, guards);
  }
  guards.push_back({condition, holds});
}

/// What holds after a statement of the same block.
void addAfter(const Stmt *statement, Ends ends, std::vector<Guard> &guards) {
  if (const auto *choice = llvm::dyn_cast<clang::IfStmt>(statement)) {
    const bool then = leaves(choice->getThen(), ends), other = leaves(choice->getElse(), ends);
    if (then != other && choice->getCond())
      addParts(choice->getCond(), other, guards);
  } else if (const auto *loop = llvm::dyn_cast<clang::DoStmt>(statement)) {
    // The do { ... } while (0) of a macro. After a break what follows it was not checked.
    if (!contains<clang::BreakStmt, clang::ContinueStmt>(loop->getBody()))
      addAfter(loop->getBody(), Ends::Function, guards);
  } else if (const auto *block = llvm::dyn_cast<clang::CompoundStmt>(statement)) {
    for (const Stmt *inner : block->body())
      addAfter(inner, ends, guards);
  } else if (const auto *expression = llvm::dyn_cast<Expr>(statement)) {
    const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(strip(expression)); // assert()
    if (choice && neverReturns(choice->getFalseExpr(), 0))
      addParts(choice->getCond(), true, guards);
  }
}

} // namespace

std::vector<Guard> FunctionFlow::guardsOf(const Stmt *statement) const {
  std::vector<Guard> guards;
  if (jumps_)
    return guards;
  for (const Stmt *inner = statement, *outer = node(inner).parent; outer;
       inner = outer, outer = node(inner).parent) {
    if (const auto *choice = llvm::dyn_cast<clang::IfStmt>(outer)) {
      if (choice->getCond() && (inner == choice->getThen() || inner == choice->getElse()))
        addParts(choice->getCond(), inner == choice->getThen(), guards);
    } else if (const auto *block = llvm::dyn_cast<clang::CompoundStmt>(outer);
               block && !llvm::isa_and_nonnull<clang::SwitchStmt>(node(block).parent)) {
      for (const Stmt *before : block->body()) {
        if (before == inner)
          break;
        addAfter(before, Ends::Block, guards);
      }
    }
  }
  return guards;
}

} // namespace kopt::frontend
