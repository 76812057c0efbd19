// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/Geometry.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>

namespace kopt::frontend {
namespace {

using clang::Expr;

bool isExtent(clang::QualType type) {
  const clang::CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && (record->getName() == "dim3" || record->getName() == "uint3");
}

const clang::VarDecl *variableOf(const Expr *expression) {
  const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(strip(expression));
  return reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
}

class FactFinder : public clang::RecursiveASTVisitor<FactFinder> {
public:
  explicit FactFinder(FunctionFacts &facts) : facts_(facts) {}
  bool shouldVisitImplicitCode() const { return true; }

  bool VisitBinaryOperator(clang::BinaryOperator *operation) {
    if (!operation->isAssignmentOp())
      return true;
    const Expr *target = strip(operation->getLHS());
    if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(target)) {
      if (const clang::VarDecl *variable = variableOf(member->getBase())) {
        facts_.memberAssignments[{variable, member->getMemberDecl()->getNameAsString()}].push_back(
            operation);
        return true;
      }
    }
    modify(target);
    return true;
  }
  bool VisitCXXOperatorCallExpr(clang::CXXOperatorCallExpr *call) {
    if (call->isAssignmentOp() && call->getNumArgs())
      modify(call->getArg(0));
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator *operation) {
    if (operation->isIncrementDecrementOp() ||
        (operation->getOpcode() == clang::UO_AddrOf && !harmless_.count(operation)))
      modify(operation->getSubExpr());
    return true;
  }
  // `void *args[] = {&n, &x}` hands n to a launch, it does not change it.
  bool VisitInitListExpr(clang::InitListExpr *list) {
    for (const Expr *value : list->inits())
      if (const auto *address = llvm::dyn_cast<clang::UnaryOperator>(strip(value)))
        harmless_.insert(address);
    return true;
  }
  bool VisitCallExpr(clang::CallExpr *call) {
    const clang::FunctionDecl *callee = call->getDirectCallee();
    if (!callee || llvm::isa<clang::CXXOperatorCallExpr>(call))
      return true;
    for (unsigned i = 0; i < std::min(call->getNumArgs(), callee->getNumParams()); ++i) {
      clang::QualType type = callee->getParamDecl(i)->getType();
      if (type->isLValueReferenceType() && !type.getNonReferenceType().isConstQualified())
        modify(call->getArg(i));
    }
    return true;
  }

private:
  void modify(const Expr *target) {
    if (const clang::VarDecl *variable = variableOf(target))
      facts_.modified.insert(variable);
  }
  FunctionFacts &facts_;
  std::set<const clang::UnaryOperator *> harmless_;
};

} // namespace

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

FunctionFacts factsOf(const clang::FunctionDecl &function) {
  FunctionFacts facts;
  FactFinder(facts).TraverseDecl(const_cast<clang::FunctionDecl *>(&function));
  if (const auto *body = llvm::dyn_cast_or_null<clang::CompoundStmt>(function.getBody()))
    for (const clang::Stmt *statement : body->body()) {
      if (const auto *expression = llvm::dyn_cast<Expr>(statement))
        statement = strip(expression);
      facts.straightLine.insert(statement);
    }
  return facts;
}

std::optional<std::string> GeometryReader::scalar(const Expr *expression) {
  const clang::ASTContext &context = index_.unit().getASTContext();
  expression = strip(expression);
  if (!expression || expression->isTypeDependent() || ++depth_ > 200)
    return std::nullopt;
  struct Leave {
    int &depth;
    ~Leave() { --depth; }
  } leave{depth_};

  if (const auto *literal = llvm::dyn_cast<clang::IntegerLiteral>(expression)) {
    if (std::optional<ConstantInfo> constant = constants_.findMacroAt(literal->getLocation()))
      if (std::optional<std::string> name = onConstant_(*constant))
        return name;
    return llvm::toString(literal->getValue(), 10, false);
  }
  if (const auto *substituted = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expression))
    return scalar(substituted->getReplacement());
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    if (std::optional<ConstantInfo> constant = constants_.find(reference->getDecl()))
      return onConstant_(*constant).value_or(std::to_string(constant->value));
    if (const auto *declaration = llvm::dyn_cast<clang::VarDecl>(reference->getDecl()))
      return variable(declaration);
  }
  if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
    static const std::set<clang::BinaryOperatorKind> kOperators = {
        clang::BO_Mul, clang::BO_Div,  clang::BO_Rem, clang::BO_Add, clang::BO_Sub, clang::BO_Shl,
        clang::BO_Shr, clang::BO_LT,   clang::BO_GT,  clang::BO_LE,  clang::BO_GE,  clang::BO_EQ,
        clang::BO_NE,  clang::BO_LAnd, clang::BO_LOr, clang::BO_And, clang::BO_Or,  clang::BO_Xor};
    // In floating point a / b is not the integer a / b.
    if (kOperators.count(operation->getOpcode()) &&
        operation->getLHS()->getType()->isIntegralOrEnumerationType() &&
        operation->getRHS()->getType()->isIntegralOrEnumerationType()) {
      std::optional<std::string> left = scalar(operation->getLHS()),
                                 right = scalar(operation->getRHS());
      if (left && right)
        return "(" + *left + " " + operation->getOpcodeStr().str() + " " + *right + ")";
      return std::nullopt;
    }
  }
  if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(expression))
    if (operation->getOpcode() == clang::UO_Minus || operation->getOpcode() == clang::UO_Plus) {
      std::optional<std::string> value = scalar(operation->getSubExpr());
      return value && operation->getOpcode() == clang::UO_Minus ? "(0 - " + *value + ")" : value;
    }
  if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(expression)) {
    std::optional<std::string> condition = scalar(choice->getCond()),
                               yes = scalar(choice->getTrueExpr()),
                               no = scalar(choice->getFalseExpr());
    if (condition && yes && no)
      return "(" + *condition + " ? " + *yes + " : " + *no + ")";
    return std::nullopt;
  }
  if (const auto *access = llvm::dyn_cast<clang::MemberExpr>(expression))
    if (std::optional<std::string> value = member(access))
      return value;
  if (const auto *invocation = llvm::dyn_cast<clang::CallExpr>(expression))
    if (std::optional<std::string> value = call(invocation))
      return value;
  clang::Expr::EvalResult result;
  if (!expression->isValueDependent() && expression->getType()->isIntegralOrEnumerationType() &&
      expression->EvaluateAsInt(result, context))
    return llvm::toString(result.Val.getInt(), 10);
  return std::nullopt;
}

std::optional<std::string> GeometryReader::variable(const clang::VarDecl *variable) {
  if (auto value = bound_.find(variable); value != bound_.end())
    return value->second;
  if (!variable->getType().getNonReferenceType()->isIntegralOrEnumerationType())
    return std::nullopt;
  bool constant = variable->isConstexpr() || variable->getType().isConstQualified();
  bool settled = constant || (variable->isLocalVarDecl() && !variable->isStaticLocal() &&
                              !facts_.modified.count(variable));
  if (settled && variable->hasInit() && !keep_.count(variable) && open_.insert(variable).second) {
    bool before = usesHostVariables_;
    std::optional<std::string> value = scalar(variable->getInit());
    open_.erase(variable);
    if (value)
      return value;
    usesHostVariables_ = before;
  }
  usesHostVariables_ = true;
  return variable->getNameAsString();
}

std::optional<std::string> GeometryReader::member(const clang::MemberExpr *member) {
  if (const clang::VarDecl *base = variableOf(member->getBase());
      base && isExtent(base->getType())) {
    std::string name = member->getMemberDecl()->getNameAsString();
    std::optional<std::array<std::string, 3>> all = extentOf(base);
    if (all && name.size() == 1 && name[0] >= 'x' && name[0] <= 'z')
      return (*all)[static_cast<std::size_t>(name[0] - 'x')];
    return std::nullopt;
  }
  if (const auto *variable =
          llvm::dyn_cast<clang::VarDecl>(member->getMemberDecl())) { // a static member
    if (std::optional<ConstantInfo> constant = constants_.find(variable))
      return onConstant_(*constant).value_or(std::to_string(constant->value));
  }
  // A data member of the object whose function launches: a variable of the host program.
  if (llvm::isa<clang::CXXThisExpr>(strip(member->getBase())) &&
      member->getType()->isIntegralOrEnumerationType()) {
    usesHostVariables_ = true;
    return member->getMemberDecl()->getNameAsString();
  }
  return std::nullopt;
}

template <class Result>
std::optional<Result>
GeometryReader::inlined(const clang::CallExpr *call,
                        const std::function<std::optional<Result>(const Expr *)> &read) {
  const clang::FunctionDecl *callee = call->getDirectCallee();
  const clang::FunctionDecl *definition = nullptr;
  if (!callee || !callee->hasBody(definition) || depth_ > 100)
    return std::nullopt;
  const auto *body = llvm::dyn_cast<clang::CompoundStmt>(definition->getBody());
  const auto *result =
      body && body->size() == 1 ? llvm::dyn_cast<clang::ReturnStmt>(body->body_front()) : nullptr;
  if (!result || !result->getRetValue())
    return std::nullopt;
  std::map<const clang::VarDecl *, std::string> bound;
  for (unsigned i = 0; i < definition->getNumParams() && i < call->getNumArgs(); ++i)
    if (std::optional<std::string> value = scalar(call->getArg(i)))
      bound[definition->getParamDecl(i)] = *value;
  // A parameter without a value would look like a host variable of that name.
  if (bound.size() != definition->getNumParams())
    return std::nullopt;
  std::swap(bound, bound_);
  std::optional<Result> value = read(result->getRetValue());
  std::swap(bound, bound_);
  return value;
}

std::optional<std::string> GeometryReader::call(const clang::CallExpr *call) {
  const clang::FunctionDecl *callee = call->getDirectCallee();
  if (!callee)
    return std::nullopt;
  std::string name = callee->getNameAsString();
  if ((name == "ceil" || name == "ceilf") && call->getNumArgs() == 1)
    return ceiling(call->getArg(0));
  if ((name == "min" || name == "max") && call->getNumArgs() == 2) {
    std::optional<std::string> a = scalar(call->getArg(0)), b = scalar(call->getArg(1));
    if (!a || !b)
      return std::nullopt;
    return "(" + *a + (name == "min" ? " < " : " > ") + *b + " ? " + *a + " : " + *b + ")";
  }
  return inlined<std::string>(call, [this](const Expr *value) { return scalar(value); });
}

/// ceil((float)a / b), the other way to round a division up.
std::optional<std::string> GeometryReader::ceiling(const Expr *argument) {
  const auto *division = llvm::dyn_cast<clang::BinaryOperator>(strip(argument));
  if (!division || division->getOpcode() != clang::BO_Div)
    return std::nullopt;
  auto integer = [this](const Expr *side) -> std::optional<std::string> {
    side = strip(side);
    if (const auto *number = llvm::dyn_cast<clang::FloatingLiteral>(side)) {
      double value = number->getValueAsApproximateDouble();
      if (value != static_cast<double>(static_cast<long long>(value)))
        return std::nullopt;
      return std::to_string(static_cast<long long>(value));
    }
    return side->getType()->isIntegralOrEnumerationType() ? scalar(side) : std::nullopt;
  };
  std::optional<std::string> a = integer(division->getLHS()), b = integer(division->getRHS());
  if (!a || !b)
    return std::nullopt;
  // Between integers the division has already rounded down.
  if (division->getType()->isIntegralOrEnumerationType())
    return "(" + *a + " / " + *b + ")";
  return "((" + *a + " + " + *b + " - 1) / " + *b + ")";
}

std::optional<std::array<std::string, 3>> GeometryReader::extentOf(const clang::VarDecl *variable) {
  if (facts_.modified.count(variable) || !open_.insert(variable).second)
    return std::nullopt;
  std::optional<std::array<std::string, 3>> value;
  if (llvm::isa<clang::ParmVarDecl>(variable))
    value = std::nullopt;
  else if (const Expr *initial = variable->getInit())
    value = extent(initial);
  for (int i = 0; value && i < 3; ++i) {
    auto assigned =
        facts_.memberAssignments.find({variable, std::string(1, static_cast<char>('x' + i))});
    if (assigned == facts_.memberAssignments.end())
      continue;
    const clang::BinaryOperator *assignment = assigned->second.back();
    std::optional<std::string> component;
    if (assigned->second.size() == 1 && assignment->getOpcode() == clang::BO_Assign &&
        facts_.straightLine.count(assignment))
      component = scalar(assignment->getRHS());
    if (!component)
      value.reset();
    else
      (*value)[static_cast<std::size_t>(i)] = *component;
  }
  open_.erase(variable);
  return value;
}

std::optional<std::array<std::string, 3>> GeometryReader::extent(const Expr *expression) {
  expression = strip(expression);
  if (!expression || expression->isTypeDependent())
    return std::nullopt;
  if (const clang::VarDecl *variable = variableOf(expression);
      variable && isExtent(variable->getType()))
    return extentOf(variable);
  if (const auto *construction = llvm::dyn_cast<clang::CXXConstructExpr>(expression)) {
    std::array<std::string, 3> value = {"1", "1", "1"};
    for (unsigned i = 0; i < construction->getNumArgs() && i < 3; ++i) {
      if (llvm::isa<clang::CXXDefaultArgExpr>(construction->getArg(i)))
        continue;
      std::optional<std::string> component = scalar(construction->getArg(i));
      if (!component)
        return std::nullopt;
      value[i] = *component;
    }
    return value;
  }
  if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(expression)) {
    std::array<std::string, 3> value = {"1", "1", "1"};
    for (unsigned i = 0; i < list->getNumInits() && i < 3; ++i) {
      std::optional<std::string> component = scalar(list->getInit(i));
      if (!component)
        return std::nullopt;
      value[i] = *component;
    }
    return value;
  }
  if (const auto *invocation = llvm::dyn_cast<clang::CallExpr>(expression);
      invocation && isExtent(invocation->getType()))
    return inlined<std::array<std::string, 3>>(invocation,
                                               [this](const Expr *value) { return extent(value); });
  if (expression->getType()->isIntegralOrEnumerationType())
    if (std::optional<std::string> x = scalar(expression))
      return std::array<std::string, 3>{*x, "1", "1"};
  return std::nullopt;
}

} // namespace kopt::frontend
