// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/hostflow/Place.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>

namespace kopt::frontend {

using clang::Expr;

const Expr *strip(const Expr *expression) {
  while (expression) {
    const Expr *inner = expression->IgnoreParenCasts()->IgnoreImplicit();
    if (const auto *constant = llvm::dyn_cast<clang::ConstantExpr>(inner))
      inner = constant->getSubExpr();
    if (const auto *construction = llvm::dyn_cast<clang::CXXConstructExpr>(inner);
        construction && construction->getNumArgs() == 1 &&
        construction->getConstructor()->isCopyOrMoveConstructor())
      inner = construction->getArg(0);
    if (inner == expression)
      break;
    expression = inner;
  }
  return expression;
}

namespace {

/// A step for an index: its number if it is constant, otherwise its text.
PlaceStep indexStep(const Expr *index, clang::QualType type, const clang::ASTContext &context) {
  clang::Expr::EvalResult result;
  if (!index->isValueDependent() && index->EvaluateAsInt(result, context))
    return {"[" + llvm::toString(result.Val.getInt(), 10) + "]", nullptr, nullptr, type};
  std::string text;
  llvm::raw_string_ostream stream(text);
  clang::PrintingPolicy policy(context.getLangOpts());
  strip(index)->printPretty(stream, nullptr, policy);
  return {"[" + text + "]", nullptr, index, type};
}

std::optional<Place> rootPlace(const clang::ValueDecl *declaration,
                               const clang::ASTContext &context) {
  if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
    // A reference is another name for a place. What a parameter refers to depends on the callers.
    if (variable->getType()->isReferenceType() && variable->isLocalVarDecl() && variable->hasInit())
      if (std::optional<Place> referred = placeOf(variable->getInit(), context))
        return referred;
    return Place{variable, {}};
  }
  if (llvm::isa<clang::BindingDecl>(declaration))
    return Place{declaration, {}};
  return std::nullopt;
}

std::optional<Place> extended(const Expr *base, PlaceStep step, const clang::ASTContext &context) {
  std::optional<Place> place = placeOf(base, context);
  if (place)
    place->steps.push_back(std::move(step));
  return place;
}

} // namespace

std::optional<Place> placeOf(const Expr *expression, const clang::ASTContext &context) {
  expression = strip(expression);
  if (!expression)
    return std::nullopt;
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression))
    return rootPlace(reference->getDecl(), context);
  if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(expression)) {
    if (const auto *shared = llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl()))
      return rootPlace(shared, context); // a static data member
    const auto *field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (!field)
      return std::nullopt;
    if (llvm::isa<clang::CXXThisExpr>(strip(member->getBase())))
      return Place{field, {}};
    if (field->isAnonymousStructOrUnion())
      return placeOf(member->getBase(), context);
    const Expr *base = strip(member->getBase());
    bool arrow = member->isArrow();
    if (const auto *dereference = llvm::dyn_cast<clang::UnaryOperator>(base);
        dereference && dereference->getOpcode() == clang::UO_Deref) {
      base = dereference->getSubExpr();
      arrow = true;
    }
    return extended(
        base, {(arrow ? "->" : ".") + field->getNameAsString(), field, nullptr, field->getType()},
        context);
  }
  if (const auto *subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression))
    return extended(subscript->getBase(),
                    indexStep(subscript->getIdx(), subscript->getType(), context), context);
  if (const auto *call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression);
      call && call->getOperator() == clang::OO_Subscript && call->getNumArgs() == 2)
    return extended(call->getArg(0), indexStep(call->getArg(1), call->getType(), context), context);
  return std::nullopt;
}

std::string Place::text() const {
  std::string text = root->getNameAsString();
  for (const PlaceStep &step : steps)
    text += step.text;
  return text;
}

clang::QualType Place::type() const {
  return (steps.empty() ? root->getType() : steps.back().type).getNonReferenceType();
}

bool Place::isLocal() const {
  const auto *variable = llvm::dyn_cast<clang::VarDecl>(root);
  if (!variable || !variable->hasLocalStorage() || variable->getType()->isReferenceType())
    return false;
  clang::QualType type = variable->getType();
  for (const PlaceStep &step : steps) {
    if (llvm::StringRef(step.text).starts_with("->") || type->isPointerType())
      return false;
    if (step.field)
      type = step.field->getType();
    else if (const clang::ArrayType *array = type->getAsArrayTypeUnsafe())
      type = array->getElementType();
    else
      return false; // reached through an operator[]
  }
  return !type->isReferenceType();
}

namespace {

bool mayBeSame(const PlaceStep &a, const PlaceStep &b) {
  if (a.field && b.field)
    return a.field == b.field ||
           (a.field->getParent() == b.field->getParent() && a.field->getParent()->isUnion());
  if (a.field || b.field)
    return false;
  return a.index || b.index || a.text == b.text;
}

} // namespace

bool overlaps(const Place &written, const Place &read) {
  if (written.root != read.root)
    return false;
  for (std::size_t i = 0; i < written.steps.size() && i < read.steps.size(); ++i)
    if (!mayBeSame(written.steps[i], read.steps[i]))
      return false;
  return true;
}

std::optional<std::vector<PlaceStep>> partOf(const Place &written, const Place &read) {
  if (written.root != read.root || written.steps.size() > read.steps.size())
    return std::nullopt;
  for (std::size_t i = 0; i < written.steps.size(); ++i)
    if (written.steps[i].index || read.steps[i].index ||
        !mayBeSame(written.steps[i], read.steps[i]))
      return std::nullopt;
  return std::vector<PlaceStep>(
      read.steps.begin() + static_cast<std::ptrdiff_t>(written.steps.size()), read.steps.end());
}

} // namespace kopt::frontend
