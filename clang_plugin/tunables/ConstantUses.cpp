// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/tunables/KernelSizes.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <llvm/Support/Path.h>

namespace kopt::frontend {
namespace {

using namespace clang;

bool isDim3(QualType type) {
  const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record && record->getName() == "dim3";
}

std::string nameOfCallee(const CallExpr &call) {
  if (const FunctionDecl *callee = call.getDirectCallee())
    return callee->getNameAsString();
  const auto *overloads = dyn_cast<OverloadExpr>(call.getCallee()->IgnoreParenImpCasts());
  return overloads ? overloads->getName().getAsString() : "";
}

class UseReader {
public:
  UseReader(const UnitReferences &unit, const InSlice &inSlice, SizeUse &use)
      : unit_(unit), inSlice_(inSlice), use_(use) {}

  /// Goes from an expression that has the value to what uses the value.
  void climb(const Expr *leaf) {
    if (!seen_.insert(leaf).second)
      return;
    DynTypedNode below = DynTypedNode::create(*leaf);
    const FunctionDecl *function = unit_.functionOf(below);
    const bool onDevice = isDeviceFunction(function);
    (onDevice && !inSlice_(function) ? use_.inOtherKernels : use_.inKernel) |= onDevice;
    if (onDevice && !inSlice_(function))
      return;
    std::string what = kOn;
    for (DynTypedNode up = unit_.parentOf(below); what == kOn && !up.getNodeKind().isNone();
         below = up, up = unit_.parentOf(up))
      what = onDevice ? deviceUse(below.get<Stmt>(), up) : hostUse(below.get<Stmt>(), up);
    const PresumedLoc at = unit_.index.sources().getPresumedLoc(
        unit_.index.sources().getExpansionLoc(leaf->getBeginLoc()));
    if (what != kOn && !what.empty() && use_.otherUse.empty())
      use_.otherUse = what + " at " + llvm::sys::path::filename(at.getFilename()).str() + ":" +
                      std::to_string(at.getLine());
  }

  /// What each thread has its own part of follows the block alone.
  void finish() { use_.steps &= !isOfThreads_; }

private:
  static constexpr const char *kOn = "on"; ///< what contains it has the value, too

  std::string follow(const ValueDecl *variable) {
    for (const Expr *reference : unit_.of(variable))
      climb(reference);
    return "";
  }

  /// What else than a size it is to the kernel; nothing where it is the extent of an array, the
  /// step or the bound of a loop, or a part of an index. Verification tells if that is not all.
  std::string deviceUse(const Stmt *part, const DynTypedNode &up) {
    if (const auto *variable = up.get<VarDecl>()) {
      if (part && part == variable->getInit())
        return unit_.isOfConstants(part) ? follow(variable) : "";
      use_.tiles = true;
      isOfThreads_ |= llvm::any_of(unit_.of(variable), [&](const Expr *one) {
        DynTypedNode access = DynTypedNode::create(*one);
        for (; access.get<Expr>(); access = unit_.parentOf(access))
          if (const auto *element = access.get<ArraySubscriptExpr>();
              element && unit_.isOfThread(element->getIdx()))
            return true;
        return false;
      });
      return variable->isLocalVarDecl() ? ""
                                        : "the extent of '" + variable->getNameAsString() + "'";
    }
    const auto *operation = up.get<BinaryOperator>();
    if (operation && (operation->isAssignmentOp() || operation->isComparisonOp())) {
      DynTypedNode loop = unit_.parentOf(up);
      while (loop.get<Expr>())
        loop = unit_.parentOf(loop);
      const auto *counted = loop.get<ForStmt>();
      use_.steps |= counted && counted->getInc() == operation && part == operation->getRHS();
      use_.tiles |= counted && counted->getCond() == operation;
      return "";
    }
    if (operation && operation->getOpcode() == BO_Mul && mentions(operation, "blockIdx") &&
        !hasPart(operation, [&](const Stmt *one) {
          const auto *variable = dyn_cast_or_null<VarDecl>(namedBy(one));
          return variable && variable->getName() != "blockIdx" && !unit_.isOfConstants(one);
        }))
      use_.steps = use_.tiles = use_.acrossBlocks = true;
    // Who does what depends on the number of threads, and several constants tell it together.
    if (operation && (operation->getOpcode() == BO_Div || operation->getOpcode() == BO_Rem) &&
        part == operation->getRHS() && unit_.isOfThread(operation->getLHS()) &&
        isa<BinaryOperator>(operation->getRHS()->IgnoreParenImpCasts()))
      return "a part of what divides the index of a thread";
    const auto *value = up.get<Expr>();
    const auto *call = up.get<CallExpr>();
    if (value && value->getType()->isRealFloatingType() && !up.get<ArraySubscriptExpr>())
      return "a real number";
    if (call && nameOfCallee(*call) != "min" && nameOfCallee(*call) != "max")
      return "an argument of '" + nameOfCallee(*call) + "'";
    return (value && !up.get<ArraySubscriptExpr>()) || up.get<TypeLoc>() ? kOn : "";
  }

  /// What it is to host code beside the geometry of a launch; nothing where that prints it or tests
  /// sizes with it.
  std::string hostUse(const Stmt *part, const DynTypedNode &up) {
    if (const auto *variable = up.get<VarDecl>()) {
      const QualType type = variable->getType();
      const bool isNumber = type->isIntegralOrEnumerationType() || type->isDependentType() ||
                            type->getContainedAutoType() || isDim3(type);
      return part && part == variable->getInit() && isNumber
                 ? follow(variable)
                 : "the value or extent of '" + variable->getNameAsString() + "'";
    }
    if (up.get<IfStmt>() || up.get<CompoundStmt>() || up.get<StaticAssertDecl>())
      return "";
    if (const auto *operation = up.get<BinaryOperator>();
        operation && operation->isAssignmentOp()) {
      const Expr *target = operation->getLHS()->IgnoreParenImpCasts();
      const auto *member = dyn_cast<MemberExpr>(target);
      target = member && isDim3(member->getBase()->getType()) ? member->getBase() : target;
      return part == operation->getLHS() ? ""
             : namedBy(target)           ? follow(namedBy(target))
                                         : "a stored value";
    }
    if (const auto *call = up.get<CallExpr>())
      return hostCall(part, *call);
    if (up.get<DeclRefExpr>() || up.get<OverloadExpr>())
      return templateUse(up.get<Stmt>());
    const auto *value = up.get<Expr>();
    const auto *member = up.get<MemberExpr>();
    const bool isOfClass = value && !isa<ParenListExpr>(value) &&
                           !value->getType()->isArithmeticType() &&
                           !value->getType()->isDependentType() &&
                           !isDim3(member ? member->getBase()->getType() : value->getType());
    return value && !isOfClass && !isa<CXXNewExpr, ArraySubscriptExpr>(value)
               ? kOn
               : "a value or a bound of host code";
  }

  std::string hostCall(const Stmt *part, const CallExpr &call) {
    const std::string name = nameOfCallee(call);
    const auto *launch = dyn_cast<CUDAKernelCallExpr>(&call);
    const auto *symbol = dyn_cast<CXXOperatorCallExpr>(&call);
    if (part == call.getCallee() || (launch && part == launch->getConfig()) ||
        name.find("printf") != name.npos || name.find("PushCallConfiguration") != name.npos ||
        name.starts_with("cudaLaunch") || (symbol && symbol->getOperator() == OO_LessLess))
      return "";
    if (symbol && symbol->getOperator() == OO_Equal && namedBy(call.getArg(0)))
      return part == call.getArg(0) ? "" : follow(namedBy(call.getArg(0)));
    const bool isValue = call.getType()->isArithmeticType() || isDim3(call.getType());
    return (isValue && !launch) || name == "min" || name == "max" ? kOn
           : launch                                               ? "an argument of the kernel"
                                                                  : "an argument of '" + name + "'";
  }

  /// The parameters of a kernel are read by themselves.
  std::string templateUse(const Stmt *up) {
    const auto *function = dyn_cast_or_null<FunctionDecl>(namedBy(up));
    if (const auto *overloads = dyn_cast<OverloadExpr>(up))
      for (const NamedDecl *one : overloads->decls())
        if (const auto *generic = dyn_cast<FunctionTemplateDecl>(one->getUnderlyingDecl()))
          function = generic->getTemplatedDecl();
    if (!function || !function->hasAttr<CUDAGlobalAttr>())
      return "an argument of a template";
    use_.inOtherKernels |= !inSlice_(function);
    return "";
  }

  const UnitReferences &unit_;
  const InSlice &inSlice_;
  SizeUse &use_;
  llvm::DenseSet<const Expr *> seen_;
  bool isOfThreads_ = false; ///< threads index an array that is as large
};

} // namespace

SizeUse usesOf(const UnitReferences &unit, const InSlice &inSlice, std::string name,
               llvm::ArrayRef<const Expr *> named) {
  SizeUse use;
  use.name = std::move(name);
  UseReader reader(unit, inSlice, use);
  for (const Expr *one : named)
    reader.climb(one);
  reader.finish();
  return use;
}

} // namespace kopt::frontend
