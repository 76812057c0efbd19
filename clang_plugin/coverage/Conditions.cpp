// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/coverage/Conditions.h"

#include <clang/AST/ExprCXX.h>

namespace kopt::frontend {

using namespace clang;

bool isUnreachable(const Stmt *statement) {
  if (const auto *block = dyn_cast_or_null<CompoundStmt>(statement))
    return block->size() == 1 && isUnreachable(block->body_front());
  return calleeName(dyn_cast_or_null<CallExpr>(statement)) == "__builtin_unreachable";
}

bool isCondition(const BodyView &body, const Expr *comparison) {
  const Stmt *inner = comparison;
  for (const Stmt *outer = body.parentOf(inner); outer;
       inner = outer, outer = body.parentOf(outer)) {
    if (const auto *branch = dyn_cast<IfStmt>(outer))
      return branch->getCond() && branch->getCond()->IgnoreParens() == inner;
    if (isa<ForStmt, WhileStmt, DoStmt>(outer))
      return conditionOf(outer) && conditionOf(outer)->IgnoreParens() == inner;
    const auto *choice = dyn_cast<ConditionalOperator>(outer);
    if (choice && choice->getCond()->IgnoreParens() == inner)
      return true;
    const auto *binary = dyn_cast<BinaryOperator>(outer);
    const auto *unary = dyn_cast<UnaryOperator>(outer);
    if (!isa<ImplicitCastExpr>(outer) && !choice && !(binary && binary->isLogicalOp()) &&
        !(unary && unary->getOpcode() == UO_LNot))
      return false;
  }
  return false;
}

bool isPure(const Stmt *expression) {
  const auto *value = dyn_cast<Expr>(expression);
  if (value && coordinate(value))
    return true; // some toolkits implement it as a call
  const auto *unary = dyn_cast<UnaryOperator>(expression);
  const auto *binary = dyn_cast<BinaryOperator>(expression);
  return !isa<CallExpr, LambdaExpr, CXXConstructExpr>(expression) &&
         !(unary && unary->isIncrementDecrementOp()) && !(binary && binary->isAssignmentOp()) &&
         llvm::all_of(expression->children(),
                      [](const Stmt *child) { return !child || isPure(child); });
}

bool reads(const Stmt *expression) {
  if (const auto *value = dyn_cast<Expr>(expression); value && coordinate(value))
    return false; // some toolkits implement it as a call
  if (isa<ArraySubscriptExpr, CallExpr>(expression))
    return true;
  if (const auto *unary = dyn_cast<UnaryOperator>(expression);
      unary && unary->getOpcode() == UO_Deref)
    return true;
  return llvm::any_of(expression->children(),
                      [](const Stmt *child) { return child && reads(child); });
}

bool isOfBlock(const Stmt *expression) {
  if (const auto *value = dyn_cast<Expr>(expression)) {
    if (const auto place = coordinate(value))
      return place->variable == "blockDim";
    if (isa<IntegerLiteral, CXXBoolLiteralExpr, UnaryExprOrTypeTraitExpr>(value))
      return true;
  }
  if (const auto *reference = dyn_cast<DeclRefExpr>(expression)) {
    const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
    return isa<EnumConstantDecl>(reference->getDecl()) ||
           (variable && (variable->isConstexpr() || variable->getName() == "warpSize"));
  }
  if (!isa<BinaryOperator, UnaryOperator, ParenExpr, CastExpr>(expression))
    return false;
  return llvm::all_of(expression->children(), [](const Stmt *child) { return isOfBlock(child); });
}

} // namespace kopt::frontend
