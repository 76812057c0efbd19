// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/hostflow/Purity.h"

#include "clang_plugin/hostflow/HostCode.h"
#include "clang_plugin/hostflow/Place.h"

#include <algorithm>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <set>
#include <string>

namespace kopt::frontend {

using clang::Expr;
using clang::FunctionDecl;
using clang::Stmt;
using clang::VarDecl;

const VarDecl *assignedVariable(const Expr *target) {
  target = strip(target);
  if (const auto *member = llvm::dyn_cast_or_null<clang::MemberExpr>(target))
    return member->isArrow() ? nullptr : assignedVariable(member->getBase());
  const auto *reference = llvm::dyn_cast_or_null<clang::DeclRefExpr>(target);
  const auto *variable = reference ? llvm::dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
  return variable && variable->isLocalVarDeclOrParm() && !variable->getType()->isReferenceType()
             ? variable
             : nullptr;
}

Assignment assignmentIn(const Stmt *statement) {
  const auto *expression = llvm::dyn_cast_or_null<Expr>(statement);
  if (!expression)
    return {};
  expression = expression->IgnoreParens();
  if (const auto *full = llvm::dyn_cast<clang::ExprWithCleanups>(expression))
    expression = full->getSubExpr();
  if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(expression);
      operation && operation->isAssignmentOp())
    return {operation->getLHS(), operation->getRHS()};
  if (const auto *operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression);
      operation && operation->isAssignmentOp() && operation->getNumArgs() == 2)
    return {operation->getArg(0), operation->getArg(1)};
  if (const auto *step = llvm::dyn_cast<clang::UnaryOperator>(expression);
      step && step->isIncrementDecrementOp())
    return {step->getSubExpr(), nullptr};
  return {};
}

bool Purity::isPure(const Stmt *statement, bool inFunction, unsigned depth) const {
  if (!statement)
    return true;
  if (const Assignment change = assignmentIn(statement); change.target)
    if (!inFunction || !assignedVariable(change.target))
      return false;
  if (llvm::isa<clang::CXXNewExpr, clang::CXXDeleteExpr, clang::CXXThrowExpr, clang::LambdaExpr,
                clang::AsmStmt, clang::CXXTryStmt>(statement))
    return false;
  if (const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(statement))
    if (!made->getConstructor()->isConstexpr() && !made->getConstructor()->isTrivial())
      return false;
  const auto *call = llvm::dyn_cast<clang::CallExpr>(statement);
  if (call && !assignmentIn(call).target && !isPureCall(*call, depth))
    return false;
  return std::all_of(statement->child_begin(), statement->child_end(),
                     [&](const Stmt *child) { return isPure(child, inFunction, depth); });
}

bool Purity::isPureCall(const clang::CallExpr &call, unsigned depth) const {
  if (const auto *name = llvm::dyn_cast<clang::UnresolvedLookupExpr>(call.getCallee())) {
    // In a template, `n + 7` names every operator that a header declares.
    const auto *operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call);
    const bool isArithmetic = operation && operation->getOperator() != clang::OO_LessLess &&
                              operation->getOperator() != clang::OO_GreaterGreater &&
                              operation->isInfixBinaryOp() && !operation->isAssignmentOp();
    return std::all_of(name->decls_begin(), name->decls_end(),
                       [&](const clang::NamedDecl *declaration) {
                         return (isArithmetic && !isOfUser(*declaration)) ||
                                isPureFunction(declaration->getAsFunction(), depth);
                       });
  }
  return isPureFunction(call.getDirectCallee(), depth);
}

bool Purity::isOfUser(const clang::Decl &declaration) const {
  const clang::SourceManager &sources = index_.sources();
  return index_.isUser(sources.getFileID(sources.getExpansionLoc(declaration.getLocation())));
}

bool Purity::isPureFunction(const FunctionDecl *function, unsigned depth) const {
  constexpr unsigned kDeepest = 6;
  static const std::set<std::string> kKnown = {"min",  "max",   "ceil",  "ceilf", "floor",
                                               "fmin", "fmax",  "fminf", "fmaxf", "floorf",
                                               "abs",  "log2f", "log2",  "sqrt",  "sqrtf"};
  if (!function || depth > kDeepest)
    return false;
  if (function->isConstexpr() ||
      (function->getIdentifier() && kKnown.contains(function->getNameAsString())))
    return true;
  // Prefer the instantiation of a template: in the template itself, `a + b` may be any operator.
  const FunctionDecl *defined = nullptr;
  if (!function->isTemplateInstantiation() || !function->isDefined(defined) || !defined->hasBody())
    defined = patternOf(function);
  return defined && defined->hasBody() && isOfUser(*defined) &&
         isPure(defined->getBody(), true, depth + 1);
}

} // namespace kopt::frontend
