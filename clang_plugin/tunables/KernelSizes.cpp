// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/tunables/KernelSizes.h"

#include <algorithm>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>

namespace kopt::frontend {
namespace {

/// Reads what the functions of a slice need of the sizes that they name.
class SizeReader : public RecursiveASTVisitor<SizeReader> {
public:
  SizeReader(const UnitReferences &unit, const FunctionDecl *pattern, KernelSizes &sizes)
      : unit_(unit), pattern_(pattern), sizes_(sizes) {}

  /// A loop in steps of a size reaches over the end of what it does not divide, unless it stops its
  /// threads there. One whose body does not name the counter does the same again: it has to run as
  /// often as now.
  bool VisitForStmt(ForStmt *loop) {
    const auto *condition = dyn_cast_or_null<BinaryOperator>(loop->getCond());
    const auto *step = dyn_cast_or_null<BinaryOperator>(loop->getInc());
    if (!condition || !step || step->getOpcode() != BO_AddAssign)
      return true;
    const ValueDecl *counter = namedBy(step->getLHS());
    const std::string end = print(condition->getRHS()), by = print(step->getRHS());
    if (!counter || end.empty() || by.empty() || namedBy(condition->getLHS()) != counter)
      return true;
    if (!hasPart(loop->getBody(), [&](const Stmt *part) { return namedBy(part) == counter; }))
      sizes_.kept.push_back("(" + end + " + " + by + " - 1) / " + by);
    const bool stops = hasPart(condition->getRHS(), [&](const Stmt *size) {
      return isa_and_present<ParmVarDecl>(namedBy(size)) &&
             hasPart(loop->getBody(), [&](const Stmt *part) {
               const auto *test = dyn_cast<BinaryOperator>(part);
               return test && test->isComparisonOp() &&
                      hasPart(test, [&](const Stmt *one) { return namedBy(one) == namedBy(size); });
             });
    });
    if (!unit_.ofThread.contains(counter->getCanonicalDecl()) && !stops)
      require(end + " % " + by + " == 0");
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator *operation) {
    const Expr *left = operation->getLHS(), *right = operation->getRHS();
    // A limit that is not computed from constants alone stops threads at the end of a problem.
    if (operation->isRelationalOp() && unit_.isOfThread(left) != unit_.isOfThread(right))
      sizes_.guardsThreads |= hasPart(unit_.isOfThread(left) ? right : left, [&](const Stmt *part) {
        const auto *variable = dyn_cast_or_null<VarDecl>(namedBy(part));
        return variable && (isa<ParmVarDecl>(variable) ||
                            (variable->getInit() && !unit_.isOfConstants(variable->getInit())));
      });
    const std::string whole = operation->getOpcode() == BO_Div ? print(left) : "",
                      part = whole.empty() ? "" : print(right);
    // A quotient that is rounded up needs no exact division.
    if (!part.empty() && unit_.isOfConstants(left) && whole.find(part) == whole.npos)
      require(whole + " % " + part + " == 0");
    return true;
  }

  bool VisitVarDecl(VarDecl *variable) {
    if (!variable->hasAttr<CUDASharedAttr>())
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
    const bool isKnown = !type.getType()->isDependentType() && !type.getType()->isIncompleteType();
    sizes_.sharedBytes.push_back(
        bytes + std::to_string(
                    isKnown
                        ? variable->getASTContext().getTypeSizeInChars(type.getType()).getQuantity()
                        : 8));
    return true;
  }

  bool VisitExpr(Expr *expression) {
    sizes_.readsBlockDim |=
        isa<MemberExpr, PseudoObjectExpr>(expression) && mentions(expression, "blockDim");
    return true;
  }

private:
  void require(std::string text) {
    if (std::ranges::find(sizes_.requirements, text) == sizes_.requirements.end())
      sizes_.requirements.push_back(std::move(text));
  }

  /// As an operand of an expression over constants, template parameters and the kernel's
  /// parameters; empty if it names anything else.
  std::string print(const Expr *expression) const {
    expression = expression->IgnoreParenCasts();
    if (const auto constant = unit_.constants.find(expression); constant != unit_.constants.end())
      return constant->second.name;
    if (const auto *whole = dyn_cast<FullExpr>(expression))
      return print(whole->getSubExpr());
    if (const auto *number = dyn_cast<IntegerLiteral>(expression))
      return llvm::toString(number->getValue(), 10, /*Signed=*/false);
    if (const auto *operation = dyn_cast<BinaryOperator>(expression)) {
      const std::string left = print(operation->getLHS()), right = print(operation->getRHS());
      const bool isNumber = operation->isAdditiveOp() || operation->isMultiplicativeOp();
      return !isNumber || left.empty() || right.empty()
                 ? ""
                 : "(" + left + " " + operation->getOpcodeStr().str() + " " + right + ")";
    }
    const ValueDecl *named = namedBy(expression);
    if (!named || isa<NonTypeTemplateParmDecl>(named) ||
        (isa<ParmVarDecl>(named) && named->getDeclContext() == pattern_))
      return named && named->getType()->isIntegerType() ? named->getNameAsString() : "";
    return valueOf(named) ? print(valueOf(named)) : "";
  }

  const UnitReferences &unit_;
  const FunctionDecl *pattern_;
  KernelSizes &sizes_;
};

} // namespace

KernelSizes sizesOf(const UnitReferences &unit, const FunctionDecl &pattern, const InSlice &inSlice,
                    const std::vector<NamedConstant> &constants) {
  KernelSizes sizes;
  for (const NamedConstant &constant : constants) {
    std::vector<const Expr *> named;
    for (const auto &[expression, one] : unit.constants)
      if (one.valueRange == constant.valueRange)
        named.push_back(expression);
    sizes.uses.push_back(usesOf(unit, inSlice, constant.name, named));
  }
  if (const FunctionTemplateDecl *generic = pattern.getDescribedFunctionTemplate())
    for (const NamedDecl *parameter : *generic->getTemplateParameters())
      if (isa<NonTypeTemplateParmDecl>(parameter))
        sizes.uses.push_back(
            usesOf(unit, inSlice, parameter->getNameAsString(), unit.of(parameter)));
  SizeReader reader(unit, &pattern, sizes);
  for (const FunctionDecl *function : unit.functions)
    if (isDeviceFunction(function) && inSlice(function))
      reader.TraverseDecl(const_cast<FunctionDecl *>(function));
  return sizes;
}

} // namespace kopt::frontend
