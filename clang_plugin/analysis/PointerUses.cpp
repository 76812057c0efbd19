// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/PointerUses.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// True for statements that drop or test the value of an expression and do nothing else with it.
bool dropsValue(const Stmt *parent) {
  return !parent || isa<CompoundStmt, ForStmt, IfStmt, WhileStmt, DoStmt, SwitchCase, LabelStmt,
                        AttributedStmt>(parent);
}

const VarDecl *initializedBy(const Stmt *parent, const Expr *initializer) {
  const auto *statement = dyn_cast_or_null<DeclStmt>(parent);
  if (!statement)
    return nullptr;
  for (const Decl *decl : statement->decls())
    if (const auto *variable = dyn_cast<VarDecl>(decl);
        variable && variable->getInit() == initializer)
      return variable;
  return nullptr;
}

bool dropsConst(QualType from, QualType to) {
  return from->isPointerType() && to->isPointerType() &&
         from->getPointeeType().isConstQualified() && !to->getPointeeType().isConstQualified();
}

} // namespace

PointerUses::PointerUses(const KernelView &view) : view_(view) {
  for (const BodyView &body : view.bodies()) {
    for (const Stmt *statement : body.statements) {
      if (const auto *reference = dyn_cast<DeclRefExpr>(statement))
        if (const auto *variable = dyn_cast<VarDecl>(reference->getDecl()))
          uses_[variable].push_back({&body, reference});
      // Discarded branches of `if constexpr` are not in this specialization's AST, but their text
      // stays.
      if (const auto *branch = dyn_cast<IfStmt>(statement); branch && branch->isConstexpr())
        castsConstAway_ = true;
      castsConstAway_ |= isa<CXXConstCastExpr>(statement);
    }
  }
}

bool PointerUses::mayWrite(const VarDecl *pointer) {
  visited_.clear();
  return castsConstAway_ || reachesWrite(pointer);
}

/// A search over aliases. The first write that is found ends it, so a variable that was visited
/// before can be skipped.
bool PointerUses::reachesWrite(const VarDecl *pointer) {
  if (!visited_.insert(pointer).second)
    return false;
  const auto found = uses_.find(pointer);
  return found != uses_.end() && llvm::any_of(found->second, [&](const Use &use) {
           return escapes(*use.body, use.reference, Form::Variable);
         });
}

bool PointerUses::escapes(const BodyView &body, const Expr *expression, Form form) {
  const Stmt *parent = body.parents.lookup(expression);
  if (parent && isa<ParenExpr>(parent))
    return escapes(body, cast<Expr>(parent), form);
  if (parent && isa<UnaryExprOrTypeTraitExpr>(parent))
    return false; // not evaluated
  switch (form) {
  case Form::Variable:
    return variableEscapes(body, expression, parent);
  case Form::Value:
    return valueEscapes(body, expression, parent);
  case Form::Element:
    return elementEscapes(body, expression, parent);
  }
  return true;
}

bool PointerUses::variableEscapes(const BodyView &body, const Expr *expression,
                                  const Stmt *parent) {
  if (dropsValue(parent))
    return false;
  if (const auto *cast = dyn_cast<ImplicitCastExpr>(parent))
    return cast->getCastKind() != CK_LValueToRValue || escapes(body, cast, Form::Value);
  if (const auto *binary = dyn_cast<BinaryOperator>(parent))
    return !binary->isAssignmentOp() || binary->getLHS() != expression ||
           escapes(body, binary, Form::Variable);
  if (const auto *unary = dyn_cast<UnaryOperator>(parent))
    return !unary->isIncrementDecrementOp() ||
           escapes(body, unary, unary->isPrefix() ? Form::Variable : Form::Value);
  // A capture is harmless: uses in the lambda's body name the same variable.
  return !isa<LambdaExpr>(parent);
}

bool PointerUses::valueEscapes(const BodyView &body, const Expr *expression, const Stmt *parent) {
  if (dropsValue(parent) || isa<LambdaExpr>(parent))
    return false;
  if (isa<DeclStmt>(parent)) {
    const VarDecl *alias = initializedBy(parent, expression);
    return !alias || !alias->getType()->isPointerType() || reachesWrite(alias);
  }
  if (const auto *cast = dyn_cast<CastExpr>(parent)) {
    switch (cast->getCastKind()) {
    case CK_PointerToBoolean:
      return false;
    case CK_NoOp:
    case CK_BitCast:
    case CK_AddressSpaceConversion:
      return dropsConst(expression->getType(), cast->getType()) || escapes(body, cast, Form::Value);
    default:
      return true;
    }
  }
  if (isa<ArraySubscriptExpr>(parent))
    return escapes(body, cast<Expr>(parent), Form::Element);
  if (const auto *member = dyn_cast<MemberExpr>(parent))
    return !isa<FieldDecl>(member->getMemberDecl()) || escapes(body, member, Form::Element);
  if (const auto *unary = dyn_cast<UnaryOperator>(parent))
    return unary->getOpcode() != UO_Deref || escapes(body, unary, Form::Element);
  if (const auto *conditional = dyn_cast<ConditionalOperator>(parent))
    return conditional->getCond() != expression && escapes(body, conditional, Form::Value);
  if (const auto *binary = dyn_cast<BinaryOperator>(parent)) {
    if (binary->isComparisonOp() ||
        (binary->getOpcode() == BO_Comma && binary->getLHS() == expression))
      return false;
    if (binary->getOpcode() == BO_Sub && !binary->getType()->isPointerType())
      return false;
    if (binary->isAdditiveOp() || binary->getOpcode() == BO_Comma)
      return escapes(body, binary, Form::Value);
    const auto *target = dyn_cast<DeclRefExpr>(binary->getLHS()->IgnoreParens());
    const auto *alias = target ? dyn_cast<VarDecl>(target->getDecl()) : nullptr;
    return binary->getOpcode() != BO_Assign || !alias || !alias->isLocalVarDeclOrParm() ||
           !alias->getType()->isPointerType() || reachesWrite(alias);
  }
  return argumentEscapes(parent, expression, Form::Value);
}

bool PointerUses::elementEscapes(const BodyView &body, const Expr *expression, const Stmt *parent) {
  if (dropsValue(parent))
    return false;
  if (isa<DeclStmt>(parent)) {
    const VarDecl *alias = initializedBy(parent, expression);
    return !alias || !alias->getType()->isReferenceType() ||
           !alias->getType().getNonReferenceType().isConstQualified();
  }
  if (const auto *cast = dyn_cast<CastExpr>(parent)) {
    switch (cast->getCastKind()) {
    case CK_LValueToRValue:
      return false;
    case CK_ArrayToPointerDecay:
      return escapes(body, cast, Form::Value);
    case CK_NoOp:
    case CK_LValueBitCast:
    case CK_DerivedToBase:
    case CK_UncheckedDerivedToBase:
      return escapes(body, cast, Form::Element);
    default:
      return true;
    }
  }
  if (const auto *member = dyn_cast<MemberExpr>(parent)) {
    if (isa<FieldDecl>(member->getMemberDecl()))
      return escapes(body, member, Form::Element);
    const auto *method = dyn_cast<CXXMethodDecl>(member->getMemberDecl());
    return !method || !method->isConst();
  }
  if (const auto *unary = dyn_cast<UnaryOperator>(parent))
    return unary->getOpcode() != UO_AddrOf || escapes(body, unary, Form::Value);
  if (const auto *conditional = dyn_cast<ConditionalOperator>(parent))
    return escapes(body, conditional, Form::Element);
  return argumentEscapes(parent, expression, Form::Element);
}

bool PointerUses::argumentEscapes(const Stmt *call, const Expr *argument, Form form) {
  const FunctionDecl *callee = nullptr;
  llvm::ArrayRef<const Expr *> arguments;
  if (const auto *plain = dyn_cast<CallExpr>(call)) {
    callee = plain->getDirectCallee();
    arguments = llvm::ArrayRef(plain->getArgs(), plain->getNumArgs());
    // The object of a member operator is its first argument.
    if (isa<CXXOperatorCallExpr>(plain) && isa_and_nonnull<CXXMethodDecl>(callee)) {
      if (arguments.front() == argument)
        return form != Form::Element || !cast<CXXMethodDecl>(callee)->isConst();
      arguments = arguments.drop_front();
    }
  } else if (const auto *construct = dyn_cast<CXXConstructExpr>(call)) {
    callee = construct->getConstructor();
    arguments = llvm::ArrayRef(construct->getArgs(), construct->getNumArgs());
    if (form == Form::Value)
      return true; // the object may keep the pointer
  }
  const std::size_t index =
      std::find(arguments.begin(), arguments.end(), argument) - arguments.begin();
  if (!callee || index >= callee->getNumParams())
    return true;
  const ParmVarDecl *parameter = callee->getParamDecl(index);
  // Passed by reference: a reference to const is harmless, because const_cast is checked elsewhere.
  if (form == Form::Element)
    return !parameter->getType()->isReferenceType() ||
           !parameter->getType().getNonReferenceType().isConstQualified();
  if (!parameter->getType()->isPointerType())
    return true;
  for (const BodyView &body : view_.bodies())
    if (body.function == callee->getDefinition())
      return reachesWrite(body.function->getParamDecl(index));
  return !parameter->getType()->getPointeeType().isConstQualified();
}

const VarDecl *PointerUses::root(const BodyView &body, const Expr *pointer) {
  pointer = pointer->IgnoreParens();
  if (const auto *cast = dyn_cast<CastExpr>(pointer))
    return llvm::is_contained({CK_NoOp, CK_BitCast, CK_LValueToRValue}, cast->getCastKind())
               ? root(body, cast->getSubExpr())
               : nullptr;
  if (const auto *unary = dyn_cast<UnaryOperator>(pointer)) {
    if (unary->isIncrementDecrementOp())
      return root(body, unary->getSubExpr());
    const auto *subscript = dyn_cast<ArraySubscriptExpr>(unary->getSubExpr()->IgnoreParens());
    return unary->getOpcode() == UO_AddrOf && subscript ? root(body, subscript->getBase())
                                                        : nullptr;
  }
  if (const auto *binary = dyn_cast<BinaryOperator>(pointer); binary && binary->isAdditiveOp())
    return root(body,
                binary->getLHS()->getType()->isPointerType() ? binary->getLHS() : binary->getRHS());

  const auto *reference = dyn_cast<DeclRefExpr>(pointer);
  const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
  if (!variable || !variable->getType()->isPointerType())
    return nullptr;
  const bool isParameter = isa<ParmVarDecl>(variable);
  if (!isParameter &&
      (!variable->isLocalVarDecl() || !variable->getInit() || !resolving_.insert(variable).second))
    return nullptr;
  const VarDecl *source = isParameter ? variable : root(body, variable->getInit());
  // Every other value that it is given must point into the same buffer.
  for (const Use &use : uses_[variable]) {
    const Stmt *parent = use.body->parentOf(use.reference);
    if (const auto *unary = dyn_cast_or_null<UnaryOperator>(parent);
        unary && unary->getOpcode() == UO_AddrOf)
      source = nullptr;
    const auto *assignment = dyn_cast_or_null<BinaryOperator>(parent);
    if (!source || !assignment || assignment->getOpcode() != BO_Assign ||
        assignment->getLHS()->IgnoreParens() != use.reference)
      continue;
    const Expr *value = assignment->getRHS()->IgnoreParenCasts();
    const auto *step = dyn_cast<BinaryOperator>(value);
    const auto *itself = step && step->isAdditiveOp()
                             ? dyn_cast<DeclRefExpr>(step->getLHS()->IgnoreParenCasts())
                             : nullptr;
    if (!(itself && itself->getDecl() == variable) && (isParameter || root(body, value) != source))
      source = nullptr;
  }
  if (!isParameter)
    resolving_.erase(variable);
  return source;
}

} // namespace kopt::frontend
