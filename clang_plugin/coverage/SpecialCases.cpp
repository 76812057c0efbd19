// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/coverage/SpecialCases.h"

#include "runtime/device/GpuLimits.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// The largest value of one size in derived launches; comparisons that only larger sizes decide are
/// not covered.
constexpr unsigned long long kBeyondLaunches = 65536;

/// True for a template parameter of a kernel, whose value the launch gives.
bool isKernelsTemplateArgument(const Expr *value) {
  value = value->IgnoreImpCasts();
  while (const auto *parenthesised = dyn_cast<ParenExpr>(value))
    value = parenthesised->getSubExpr()->IgnoreImpCasts();
  const auto *parameter = dyn_cast<SubstNonTypeTemplateParmExpr>(value);
  const Decl *owner = parameter ? parameter->getAssociatedDecl() : nullptr;
  if (const auto *pattern = dyn_cast_or_null<FunctionTemplateDecl>(owner))
    owner = pattern->getTemplatedDecl();
  return owner && owner->hasAttr<CUDAGlobalAttr>();
}

} // namespace

bool SpecialCases::is(const Expr *condition) const {
  condition = condition->IgnoreParenImpCasts();
  // A flag counts as the expression from which it was computed.
  if (condition->getType()->isBooleanType())
    condition = followed(condition)->IgnoreParenImpCasts();
  if (const auto *unary = dyn_cast<UnaryOperator>(condition);
      unary && unary->getOpcode() == UO_LNot)
    return is(unary->getSubExpr());
  const auto *binary = dyn_cast<BinaryOperator>(condition);
  if (binary && binary->isLogicalOp())
    return is(binary->getLHS()) || is(binary->getRHS());
  if (binary && binary->isComparisonOp())
    return isComparison(binary->getLHS(), binary->getRHS(), binary->isEqualityOp());
  return isTold(condition, nullptr, /*isEquality=*/true); // compares with 0
}

bool SpecialCases::isCase(const Expr *value, const Expr *label) const {
  return isTold(value, label, /*isEquality=*/true);
}

bool SpecialCases::isRest(BinaryOperatorKind kind, const Expr *constant) const {
  const auto number = view_.constant(constant);
  if (!number || *number < 1 || *number > gpu::kMostThreads) // no coordinate is larger

    return false;
  const long long whole = kind == BO_Rem ? *number : *number + 1;
  return (kind == BO_Rem || kind == BO_And) && (whole & (whole - 1)) == 0;
}

bool SpecialCases::isLarge(const Ingredients &value) {
  return value.isConstant() && value.largest > gpu::kMostThreads;
}

/// Follows variables that are assigned only once to their value.
const Expr *SpecialCases::followed(const Expr *value) const {
  for (int i = 0; i < 8; ++i) {
    value = value->IgnoreParenCasts();
    const auto *reference = dyn_cast<DeclRefExpr>(value);
    const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    const Expr *source = variable ? values_.onlySource(variable) : nullptr;
    if (!source)
      break;
    value = source;
  }
  return value;
}

bool SpecialCases::isComparison(const Expr *left, const Expr *right, bool isEquality) const {
  const auto isNull = [&](const Expr *value) {
    return value->isNullPointerConstant(view_.context(), Expr::NPC_ValueDependentIsNotNull) !=
           Expr::NPCK_NotNull;
  };
  if (left->getType()->isPointerType() && right->getType()->isPointerType())
    return !isNull(left) && !isNull(right);
  const Ingredients ofLeft = values_.of(left), ofRight = values_.of(right);
  if (ofLeft.isConstant() || ofRight.isConstant())
    return ofRight.isConstant() ? isTold(left, right, isEquality) : isTold(right, left, isEquality);
  if (ofLeft.data || ofRight.data) // data compared with a number that is computed from sizes
    return ofLeft.data != ofRight.data && (ofLeft.data ? ofRight : ofLeft).largest > 1;
  const unsigned long long largest = std::max(ofLeft.largest, ofRight.largest);
  return largest >= kBeyondLaunches || (isEquality && largest > 1);
}

/// True if the comparison of a value with a number (null: 0) singles out a case.
bool SpecialCases::isTold(const Expr *value, const Expr *number, bool isEquality) const {
  if (value->getType()->isPointerType())
    return false; // only a test for null
  const Ingredients made = values_.of(value);
  if (made.isConstant())
    return false;
  if (number && !isEquality && isKernelsTemplateArgument(number))
    return false; // the number comes from the caller, so it is a limit like an argument
  const unsigned long long magnitude = number ? values_.of(number).largest : 0;
  if (made.isThreadAlone())
    return magnitude > gpu::kMostThreads;
  const bool isPlain = magnitude == 0 || (magnitude == 1 && !made.data &&
                                          !(number && view_.constant(number).value_or(1) < 0));
  if (const auto *part = dyn_cast<BinaryOperator>(followed(value));
      part && (part->getOpcode() == BO_Rem || part->getOpcode() == BO_And) &&
      values_.of(part->getRHS()).isConstant())
    return magnitude != 0 || !isRest(part->getOpcode(), part->getRHS());
  if (!isPlain)
    return true;
  return (!made.data && made.largest >= kBeyondLaunches) || (isEquality && made.largest > 1);
}

} // namespace kopt::frontend
