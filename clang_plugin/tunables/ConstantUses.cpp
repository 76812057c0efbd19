// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/tunables/ConstantUses.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <llvm/ADT/StringSet.h>

namespace kopt::frontend {
namespace {

using namespace clang;

/// Functions whose value is as good as their arguments'.
bool isArithmetic(llvm::StringRef function) {
  static const llvm::StringSet<> kNames = {"min",   "max",   "umin",   "umax",    "abs",     "ceil",
                                           "ceilf", "floor", "floorf", "__mul24", "__umul24"};
  return kNames.contains(function);
}

/// Host functions to which a size may be passed: they print it, or ask for or make a launch.
bool isHarmless(llvm::StringRef function) {
  return function.ends_with("printf") || function.contains("PushCallConfiguration") ||
         function.starts_with("cudaLaunch") || function.starts_with("cudaFuncSet") ||
         function.starts_with("cudaOccupancy") || function.contains("assert");
}

std::string nameOfCallee(const CallExpr *call) {
  if (const FunctionDecl *callee = call->getDirectCallee())
    return callee->getNameAsString();
  const auto *overloads = dyn_cast<OverloadExpr>(call->getCallee()->IgnoreParenImpCasts());
  return overloads ? overloads->getName().getAsString() : "";
}

bool isDim3(QualType type) {
  const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && record->getName() == "dim3";
}

class UseReader {
public:
  UseReader(const UnitReferences &references, const InSlice &inSlice, SizeUse &use)
      : references_(references), inSlice_(inSlice), use_(use) {}

  void read(llvm::ArrayRef<const Expr *> named) {
    for (const Expr *one : named)
      climb(one);
  }

private:
  enum class Next { Climb, Stop, Unknown };

  /// Goes from an expression that has the constant's value to the statement that uses the value.
  void climb(const Expr *leaf) {
    if (!seen_.insert(leaf).second)
      return;
    const FunctionDecl *function = references_.functionOf(leaf);
    const bool onDevice = isDeviceFunction(function);
    if (onDevice && !inSlice_(function)) {
      if (use_.otherKernel.empty())
        use_.otherKernel =
            "'" + function->getNameAsString() + "' (" + references_.placeOf(leaf) + ")";
      return;
    }
    use_.inKernel |= onDevice;
    std::string &problem = onDevice ? use_.kernelUse : use_.hostUse;
    dividesSize_ = false;
    CodeNode below = leaf;
    for (CodeNode up = references_.parentOf(below); up; up = references_.parentOf(up)) {
      const auto *statement = up.dyn_cast<const Stmt *>();
      const auto *declaration = up.dyn_cast<const Decl *>();
      what_ = "used";
      const Next next = declaration ? inDeclaration(below, declaration, onDevice)
                        : onDevice  ? onDeviceIn(below.get<const Stmt *>(), statement)
                                    : onHostIn(below.get<const Stmt *>(), statement);
      if (next == Next::Unknown && problem.empty())
        problem = what_ + " at " + references_.placeOf(leaf);
      if (next != Next::Climb)
        return;
      below = up;
    }
  }

  Next unknown(std::string what) {
    what_ = std::move(what);
    return Next::Unknown;
  }

  void follow(const ValueDecl *variable) {
    const bool dividesSize = dividesSize_;
    for (const Expr *reference : references_.of(variable))
      climb(reference);
    dividesSize_ = dividesSize;
  }

  Next inDeclaration(CodeNode below, const Decl *declaration, bool onDevice) {
    if (const auto *variable = dyn_cast<VarDecl>(declaration)) {
      const auto *value = below.dyn_cast<const Stmt *>();
      const QualType type = variable->getType();
      const bool isNumber = type->isIntegralOrEnumerationType() || isDim3(type) ||
                            (!onDevice && (type->isFloatingType() || type->isDependentType() ||
                                           type->getContainedAutoType()));
      if (value && value == variable->getInit()) {
        if (!isNumber)
          return unknown("the value of '" + variable->getNameAsString() + "'");
        if (!onDevice || references_.isOfConstants(value))
          follow(variable);
        return Next::Stop;
      }
      if (onDevice && (variable->isLocalVarDecl() || isa<ParmVarDecl>(variable)))
        return Next::Stop; // the extent of an array, or an argument of a template for its type
      return unknown("the extent of '" + variable->getNameAsString() + "'");
    }
    if (const auto *enumerator = dyn_cast<EnumConstantDecl>(declaration)) {
      follow(enumerator);
      return Next::Stop;
    }
    if (isa<StaticAssertDecl, FunctionDecl>(declaration)) // launch bounds are no statements
      return Next::Stop;
    if (isa<TypedefNameDecl>(declaration) && onDevice)
      return Next::Stop;
    return isa<FieldDecl, RecordDecl>(declaration) ? unknown("a part of a type") : Next::Unknown;
  }

  bool isStepOfLoop(const Stmt *step) const {
    CodeNode below = step, up = references_.parentOf(below);
    for (; isa_and_present<BinaryOperator>(up.dyn_cast<const Stmt *>());
         up = references_.parentOf(up))
      below = up; // commas
    const auto *loop = dyn_cast_or_null<ForStmt>(up.dyn_cast<const Stmt *>());
    return loop && loop->getInc() == below.get<const Stmt *>();
  }

  Next onDeviceIn(const Stmt *below, const Stmt *up) {
    if (const auto *cast = dyn_cast<CastExpr>(up))
      return cast->getType()->isRealFloatingType() ? unknown("a value") : Next::Climb;
    if (isa<ParenExpr, ConstantExpr, FullExpr, MaterializeTemporaryExpr, CXXUnresolvedConstructExpr,
            UnaryExprOrTypeTraitExpr>(up))
      return Next::Climb;
    if (const auto *operation = dyn_cast<UnaryOperator>(up))
      return operation->isArithmeticOp() ? Next::Climb : Next::Stop;
    if (const auto *operation = dyn_cast<BinaryOperator>(up))
      return inOperation(below, operation);
    if (const auto *choice = dyn_cast<ConditionalOperator>(up))
      return below == choice->getCond() ? Next::Stop : Next::Climb;
    if (isa<AttributedStmt>(up)) // how often a loop is unrolled
      use_.steps = true;
    if (isa<ArraySubscriptExpr, AttributedStmt, ForStmt, WhileStmt, DoStmt, IfStmt>(up))
      return Next::Stop;
    if (const auto *call = dyn_cast<CallExpr>(up))
      return inCall(below, call);
    if (isa<DeclRefExpr, OverloadExpr>(up))
      return inTemplateArguments(below, up);
    if (isa<ReturnStmt>(up))
      return Next::Stop;
    return unknown("a value");
  }

  Next inOperation(const Stmt *below, const BinaryOperator *operation) {
    const Expr *other = operation->getLHS() == below ? operation->getRHS() : operation->getLHS();
    const bool isRight = operation->getRHS() == below;
    if (operation->isAssignmentOp()) {
      const auto *target = dyn_cast<DeclRefExpr>(operation->getLHS()->IgnoreParenImpCasts());
      if (!target || !(target->getType()->isIntegerType() || target->getType()->isPointerType()))
        return unknown("a value");
      if (isRight && isStepOfLoop(operation))
        use_.steps = true;
      else if (isRight && operation->getOpcode() == BO_Assign &&
               references_.isOfConstants(operation->getRHS()))
        follow(target->getDecl());
      return Next::Stop;
    }
    if (operation->isLogicalOp() || operation->isCommaOp())
      return Next::Stop;
    const QualType type = operation->getType();
    if (operation->isComparisonOp()) {
      const bool isPlain = references_.isOfThread(other) || references_.isOfConstants(other);
      const bool bounds = isBoundOfLoop(operation);
      use_.steps |= bounds && dividesSize_;
      return isPlain || (bounds && operation->getOpcode() != BO_EQ) ? Next::Stop
                                                                    : unknown("compared");
    }
    if (type->isDependentType() || type->isRealFloatingType())
      return unknown("a value");
    switch (operation->getOpcode()) {
    case BO_Mul:
      if (multipliesBlock(operation))
        use_.steps = use_.acrossBlocks = true;
      return Next::Climb;
    case BO_Div:
      dividesSize_ |=
          isRight && !references_.isOfThread(other) && !references_.isOfConstants(other);
      return Next::Climb;
    case BO_Add:
    case BO_Sub:
    case BO_Rem:
    case BO_And:
      return Next::Climb;
    case BO_Shl:
    case BO_Shr:
      return isRight ? unknown("a number of bits") : Next::Climb;
    default:
      return unknown("a value");
    }
  }

  bool isBoundOfLoop(const Stmt *condition) const {
    CodeNode below = condition;
    for (CodeNode up = references_.parentOf(below); up; up = references_.parentOf(up)) {
      const auto *statement = up.dyn_cast<const Stmt *>();
      if (!statement)
        return false;
      const auto *loop = dyn_cast<ForStmt>(statement);
      if (loop || isa<WhileStmt, DoStmt>(statement))
        return !loop || loop->getCond() == below.get<const Stmt *>();
      if (!isa<Expr>(statement))
        return false;
      below = up;
    }
    return false;
  }

  /// True if the whole product consists of blockIdx and constants.
  bool multipliesBlock(const Expr *product) const {
    const auto *operation = dyn_cast<BinaryOperator>(product->IgnoreParenCasts());
    if (operation && operation->getOpcode() == BO_Mul)
      return (multipliesBlock(operation->getLHS()) &&
              (multipliesBlock(operation->getRHS()) ||
               references_.isOfConstants(operation->getRHS()))) ||
             (references_.isOfConstants(operation->getLHS()) &&
              multipliesBlock(operation->getRHS()));
    return isa<PseudoObjectExpr, MemberExpr>(product->IgnoreParenCasts()) &&
           references_.mentions(product, "blockIdx");
  }

  Next inCall(const Stmt *below, const CallExpr *call) {
    const std::string name = nameOfCallee(call);
    if (isArithmetic(name))
      return Next::Climb;
    const FunctionDecl *callee = writtenDefinition(call->getDirectCallee());
    if (callee && !references_.parentOf(callee->getBody()))
      callee = nullptr; // not the user's
    for (unsigned i = 0; callee && i < call->getNumArgs() && i < callee->getNumParams(); ++i)
      if (call->getArg(i) == below) {
        const bool before = std::exchange(asParameter_, true);
        follow(callee->getParamDecl(i));
        asParameter_ = before;
        return Next::Stop;
      }
    return unknown("passed to '" + name + "'");
  }

  /// An argument of a function template: what the parameter is used for.
  Next inTemplateArguments(const Stmt *below, const Stmt *up) {
    const auto *reference = dyn_cast<DeclRefExpr>(up);
    const auto *function = reference ? dyn_cast<FunctionDecl>(reference->getDecl()) : nullptr;
    llvm::ArrayRef<TemplateArgumentLoc> arguments =
        reference ? reference->template_arguments() : cast<OverloadExpr>(up)->template_arguments();
    const FunctionTemplateDecl *generic = function ? function->getPrimaryTemplate() : nullptr;
    if (const auto *overloads = dyn_cast<OverloadExpr>(up))
      for (const NamedDecl *one : overloads->decls())
        generic = generic ? generic : dyn_cast<FunctionTemplateDecl>(one->getUnderlyingDecl());
    for (std::size_t i = 0; generic && i < arguments.size(); ++i)
      if (arguments[i].getArgument().getKind() == TemplateArgument::Expression &&
          arguments[i].getSourceExpression() == below &&
          i < generic->getTemplateParameters()->size()) {
        const FunctionDecl *pattern = generic->getTemplatedDecl();
        // The kernel's own parameters are read by themselves.
        if (const auto *parameter =
                dyn_cast<NonTypeTemplateParmDecl>(generic->getTemplateParameters()->getParam(i));
            parameter && !pattern->hasAttr<CUDAGlobalAttr>()) {
          if (const FunctionDecl *definition = pattern->getDefinition())
            if (const FunctionTemplateDecl *own = definition->getDescribedFunctionTemplate())
              parameter = cast<NonTypeTemplateParmDecl>(own->getTemplateParameters()->getParam(i));
          follow(parameter);
        } else if (parameter && !inSlice_(pattern) && use_.otherKernel.empty())
          use_.otherKernel =
              "'" + pattern->getNameAsString() + "' (" + references_.placeOf(pattern) + ")";
        return Next::Stop;
      }
    return unknown("an argument of a template");
  }

  Next onHostIn(const Stmt *below, const Stmt *up) {
    if (const auto *kernel = dyn_cast<CUDAKernelCallExpr>(up))
      return below == kernel->getConfig() || below == kernel->getCallee()
                 ? Next::Stop
                 : unknown("passed to the kernel");
    if (isa<CastExpr, ParenExpr, FullExpr, MaterializeTemporaryExpr, ConditionalOperator,
            UnaryExprOrTypeTraitExpr>(up))
      return Next::Climb;
    if (const auto *operation = dyn_cast<UnaryOperator>(up))
      return operation->isIncrementDecrementOp()   ? Next::Stop
             : operation->getOpcode() == UO_AddrOf ? unknown("a value")
                                                   : Next::Climb;
    if (const auto *operation = dyn_cast<BinaryOperator>(up)) {
      if (!operation->isAssignmentOp() || operation->getLHS() == below)
        return operation->isAssignmentOp() ? Next::Stop : Next::Climb;
      const Expr *target = operation->getLHS()->IgnoreParenImpCasts();
      if (const auto *member = dyn_cast<MemberExpr>(target);
          member && isDim3(member->getBase()->getType()))
        target = member->getBase()->IgnoreParenImpCasts();
      const auto *variable = dyn_cast<DeclRefExpr>(target);
      if (!variable)
        return unknown("a value");
      follow(variable->getDecl());
      return Next::Stop;
    }
    if (const auto *member = dyn_cast<MemberExpr>(up))
      return isDim3(member->getBase()->getType()) ? Next::Climb : unknown("a value");
    if (const auto *made = dyn_cast<Expr>(up);
        made && isa<CXXConstructExpr, InitListExpr, CXXUnresolvedConstructExpr, ParenListExpr>(up))
      return isDim3(made->getType()) || isa<ParenListExpr>(up) ? Next::Climb : unknown("a value");
    if (const auto *call = dyn_cast<CallExpr>(up))
      return inHostCall(below, call);
    if (isa<DeclRefExpr, OverloadExpr>(up))
      return inTemplateArguments(below, up);
    if (isa<ReturnStmt>(up)) {
      const FunctionDecl *function = references_.functionOf(up);
      if (!asParameter_)
        for (const CallExpr *call : references_.callsOf(function))
          climb(call);
      return Next::Stop;
    }
    if (isa<ForStmt, WhileStmt, DoStmt>(up))
      return unknown("the bound of a loop of the host");
    return isa<IfStmt, CompoundStmt>(up) ? Next::Stop : unknown("used by the host");
  }

  Next inHostCall(const Stmt *below, const CallExpr *call) {
    const std::string name = nameOfCallee(call);
    const auto *shift = dyn_cast<CXXOperatorCallExpr>(call);
    if (below == call->getCallee() || isHarmless(name) ||
        (shift && shift->getOperator() == OO_LessLess))
      return Next::Stop;
    if (shift && shift->getOperator() == OO_Equal && isDim3(call->getArg(0)->getType())) {
      if (const auto *variable = dyn_cast<DeclRefExpr>(call->getArg(0)->IgnoreParenImpCasts());
          variable && below != call->getArg(0))
        follow(variable->getDecl());
      return Next::Stop;
    }
    const bool isValue = call->getType()->isArithmeticType() || isDim3(call->getType());
    const Next next = inCall(below, call);
    return next == Next::Stop && isValue ? Next::Climb : next;
  }

  const UnitReferences &references_;
  const InSlice &inSlice_;
  SizeUse &use_;
  llvm::DenseSet<const Expr *> seen_;
  std::string what_;
  bool dividesSize_ = false; ///< it is the divisor of a size in the expression
  bool asParameter_ = false; ///< the expression names a parameter that has the value
};

} // namespace

SizeUse usesOf(const UnitReferences &references, const InSlice &inSlice, std::string name,
               llvm::ArrayRef<const Expr *> named) {
  SizeUse use;
  use.name = std::move(name);
  UseReader(references, inSlice, use).read(named);
  return use;
}

} // namespace kopt::frontend
