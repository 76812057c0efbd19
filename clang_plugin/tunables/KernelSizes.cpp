// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/tunables/KernelSizes.h"

#include "clang_plugin/analysis/CudaFunctions.h"

#include <algorithm>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>

namespace kopt::frontend {
namespace {

using namespace clang;

/// Reads what the functions of a slice need of the sizes that they name.
class SizeReader : public RecursiveASTVisitor<SizeReader> {
public:
  SizeReader(const UnitReferences &references, const FunctionDecl *pattern, KernelSizes &sizes)
      : references_(references), pattern_(pattern), sizes_(sizes) {}

  bool VisitForStmt(ForStmt *loop) {
    const auto *condition = dyn_cast_or_null<BinaryOperator>(loop->getCond());
    const auto *step = dyn_cast_or_null<BinaryOperator>(loop->getInc());
    if (!condition || !condition->isComparisonOp() || !step)
      return true;
    const auto *counter = dyn_cast<DeclRefExpr>(step->getLHS()->IgnoreParenImpCasts());
    const Expr *by = step->getOpcode() == BO_AddAssign ? step->getRHS() : nullptr;
    if (step->getOpcode() == BO_Assign)
      if (const auto *sum = dyn_cast<BinaryOperator>(step->getRHS()->IgnoreParenImpCasts());
          sum && sum->getOpcode() == BO_Add)
        by = isNamed(sum->getLHS(), counter) ? sum->getRHS() : sum->getLHS();
    sizes_.stridesGrid |= by && references_.mentions(by, "gridDim");
    if (counter && by)
      readSteps(*loop, *counter, *condition, by);
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator *operation) {
    const Expr *left = operation->getLHS(), *right = operation->getRHS();
    if (operation->isRelationalOp() &&
        references_.isOfThread(left) != references_.isOfThread(right))
      guard(references_.isOfThread(left) ? right : left);
    if (operation->getOpcode() != BO_Div || !operation->getType()->isIntegerType())
      return true;
    const std::string whole = print(left), part = print(right);
    // A quotient that is rounded up needs no exact division.
    if (!whole.empty() && !part.empty() && !isOfParameters(left) &&
        whole.find(" + " + part) == whole.npos && whole.find(" - 1") == whole.npos)
      require(whole + " % " + part + " == 0");
    return true;
  }

  bool VisitCallExpr(CallExpr *call) {
    sizes_.usesLanes |= cudaFunction(call) == CudaFunction::Lanes;
    const FunctionDecl *callee = call->getDirectCallee();
    if (callee && (callee->getName() == "min" || callee->getName() == "max") &&
        call->getNumArgs() == 2 &&
        references_.isOfThread(call->getArg(0)) != references_.isOfThread(call->getArg(1)))
      guard(call->getArg(references_.isOfThread(call->getArg(0)) ? 1 : 0));
    return true;
  }

  bool VisitVarDecl(VarDecl *variable) {
    const ASTContext &context = variable->getASTContext();
    if (!variable->hasAttr<CUDASharedAttr>() || !variable->getTypeSourceInfo())
      return true;
    std::string bytes;
    TypeLoc type = variable->getTypeSourceInfo()->getTypeLoc();
    for (auto array = type.getAs<ArrayTypeLoc>(); array; array = type.getAs<ArrayTypeLoc>()) {
      const std::string extent = array.getSizeExpr() ? print(array.getSizeExpr()) : "";
      if (extent.empty()) // dynamic, or unknown
        return true;
      bytes += extent + " * ";
      type = array.getElementLoc();
    }
    const QualType element = type.getType();
    const auto size = element->isDependentType() || element->isIncompleteType()
                          ? 8
                          : context.getTypeSizeInChars(element).getQuantity();
    sizes_.sharedBytes.push_back(bytes + std::to_string(size));
    return true;
  }

  bool VisitExpr(Expr *expression) {
    if (isa<MemberExpr, PseudoObjectExpr>(expression))
      sizes_.readsBlockDim |= references_.mentions(expression, "blockDim");
    return true;
  }

private:
  static bool isNamed(const Expr *expression, const DeclRefExpr *counter) {
    const auto *name = dyn_cast<DeclRefExpr>(expression->IgnoreParenImpCasts());
    return name && counter && name->getDecl() == counter->getDecl();
  }

  /// A limit that is not computed from constants alone stops threads at the end of a problem.
  void guard(const Stmt *limit) {
    const auto *name = dyn_cast<DeclRefExpr>(limit);
    const auto *variable = name ? dyn_cast<VarDecl>(name->getDecl()) : nullptr;
    sizes_.guardsThreads |=
        variable && (isa<ParmVarDecl>(variable) ||
                     (variable->getInit() && !references_.isOfConstants(variable->getInit())));
    for (const Stmt *part : limit->children())
      if (part)
        guard(part);
  }

  void require(std::string text) {
    if (std::ranges::find(sizes_.requirements, text) == sizes_.requirements.end())
      sizes_.requirements.push_back(std::move(text));
  }

  /// A loop in steps of a size reaches over the end of what it does not divide, unless it stops its
  /// threads there. One whose body does not name the counter does the same again: it has to run as
  /// often as now.
  void readSteps(const ForStmt &loop, const DeclRefExpr &counter, const BinaryOperator &condition,
                 const Expr *by) {
    const Expr *bound = isNamed(condition.getLHS(), &counter)   ? condition.getRHS()
                        : isNamed(condition.getRHS(), &counter) ? condition.getLHS()
                                                                : nullptr;
    const std::string end = bound ? print(bound) : "", step = print(by);
    if (end.empty() || step.empty())
      return;
    const bool isUsed = llvm::any_of(references_.of(counter.getDecl()), [&](const Expr *use) {
      return isWithin(use, loop.getBody());
    });
    if (!isUsed)
      sizes_.kept.push_back("(" + end + " + " + step + " - 1) / " + step);
    if (!references_.isOfThread(&counter) && !(isOfParameters(bound) && comparesIn(loop, *bound)))
      require(end + " % " + step + " == 0");
  }

  bool isWithin(CodeNode node, const Stmt *outer) const {
    while (node && node != CodeNode(outer))
      node = references_.parentOf(node);
    return bool(node);
  }

  /// True if the loop's body compares something with what the bound names.
  bool comparesIn(const ForStmt &loop, const Expr &bound) const {
    std::vector<const Stmt *> open = {&bound};
    while (!open.empty()) {
      const Stmt *part = open.back();
      open.pop_back();
      if (const auto *name = dyn_cast<DeclRefExpr>(part);
          name && isa<ParmVarDecl>(name->getDecl()) &&
          llvm::any_of(references_.of(name->getDecl()), [&](const Expr *use) {
            CodeNode up = use;
            while (up && !isComparison(up) && isa_and_present<Expr>(up.dyn_cast<const Stmt *>()))
              up = references_.parentOf(up);
            return up && isComparison(up) && isWithin(use, loop.getBody());
          }))
        return true;
      llvm::copy_if(part->children(), std::back_inserter(open), [](auto *one) { return one; });
    }
    return false;
  }
  static bool isComparison(CodeNode node) {
    const auto *operation = dyn_cast_or_null<BinaryOperator>(node.dyn_cast<const Stmt *>());
    return operation && operation->isComparisonOp();
  }

  bool isOfParameters(const Stmt *expression) const {
    const auto *name = dyn_cast_or_null<DeclRefExpr>(expression);
    return (name && isa<ParmVarDecl>(name->getDecl())) ||
           (expression && llvm::any_of(expression->children(), [&](const Stmt *child) {
              return child && isOfParameters(child);
            }));
  }

  /// As an operand of an expression over constants, template parameters and the kernel's
  /// parameters; empty if it names anything else.
  std::string print(const Expr *expression) const {
    expression = expression->IgnoreParens();
    if (const NamedConstant *constant = references_.constantAt(expression))
      return constant->name;
    if (const auto *cast = dyn_cast<CastExpr>(expression))
      return cast->getType()->isRealFloatingType() ? "" : print(cast->getSubExpr());
    if (const auto *whole = dyn_cast<FullExpr>(expression))
      return print(whole->getSubExpr());
    if (const auto *number = dyn_cast<IntegerLiteral>(expression))
      return llvm::toString(number->getValue(), 10, /*Signed=*/false);
    if (const auto *operation = dyn_cast<BinaryOperator>(expression)) {
      const std::string left = print(operation->getLHS()), right = print(operation->getRHS());
      if (left.empty() || right.empty() ||
          !(operation->isAdditiveOp() || operation->isMultiplicativeOp() || operation->isShiftOp()))
        return "";
      return "(" + left + " " + operation->getOpcodeStr().str() + " " + right + ")";
    }
    const auto *name = dyn_cast<DeclRefExpr>(expression);
    if (!name)
      return "";
    if (isa<NonTypeTemplateParmDecl>(name->getDecl()))
      return name->getDecl()->getNameAsString();
    if (const auto *parameter = dyn_cast<ParmVarDecl>(name->getDecl()))
      return parameter->getDeclContext() == pattern_ && parameter->getType()->isIntegerType()
                 ? parameter->getNameAsString()
                 : "";
    const auto *variable = dyn_cast<VarDecl>(name->getDecl());
    return variable && variable->getInit() &&
                   (variable->isConstexpr() || variable->getType().isConstQualified())
               ? print(variable->getInit())
               : "";
  }

  const UnitReferences &references_;
  const FunctionDecl *pattern_;
  KernelSizes &sizes_;
};

} // namespace

KernelSizes sizesOf(const UnitReferences &references, const FunctionDecl *pattern,
                    const InSlice &inSlice, const std::vector<NamedConstant> &constants) {
  KernelSizes sizes;
  for (const NamedConstant &constant : constants)
    sizes.uses.push_back(
        usesOf(references, inSlice, constant.name, references.of(constant.valueRange)));
  if (!pattern)
    return sizes;
  if (const FunctionTemplateDecl *generic = pattern->getDescribedFunctionTemplate())
    for (const NamedDecl *parameter : *generic->getTemplateParameters())
      if (const auto *number = dyn_cast<NonTypeTemplateParmDecl>(parameter);
          number && number->getType()->isIntegerType())
        sizes.uses.push_back(
            usesOf(references, inSlice, number->getNameAsString(), references.of(number)));
  SizeReader reader(references, pattern, sizes);
  for (const FunctionDecl *function : references.functions())
    if (isDeviceFunction(function) && inSlice(function))
      reader.TraverseDecl(const_cast<FunctionDecl *>(function));
  return sizes;
}

} // namespace kopt::frontend
