// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/Ranges.h"

#include "runtime/device/GpuLimits.h"

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kDeepest = 16; ///< variables that are computed from variables
constexpr long long kHighest = 0x7fffffff;

std::optional<Range> range(long long low, long long high) {
  if (low < 0 || high > kHighest)
    return std::nullopt;
  return Range{low, high};
}

std::optional<Range> ofCoordinate(const Coordinate &place) {
  const long long threads = place.dimension == 2 ? gpu::kMostThreadsInZ : gpu::kMostThreads;
  if (place.variable == "threadIdx")
    return range(0, threads - 1);
  if (place.variable == "blockDim")
    return range(1, threads);
  return std::nullopt;
}

} // namespace

std::optional<Range> Ranges::of(const Expr *expression) const { return of(expression, 0); }

std::optional<Range> Ranges::of(const Expr *expression, unsigned depth) const {
  if (depth > kDeepest || !expression->getType()->isIntegralOrEnumerationType())
    return std::nullopt;
  const auto *cast = dyn_cast<CastExpr>(expression);
  if (isa<ParenExpr>(expression) || cast) {
    const Expr *inner =
        cast ? cast->getSubExpr() : cast_or_null<ParenExpr>(expression)->getSubExpr();
    const auto found = of(inner, depth + 1);
    // A narrower type may change the number.
    const unsigned width = view_.context().getIntWidth(expression->getType());
    return found && (width >= 32 || found->high < (1LL << (width - 1))) ? found : std::nullopt;
  }
  if (const auto number = view_.constant(expression))
    return range(*number, *number);
  if (const auto place = coordinate(expression))
    return ofCoordinate(*place);
  if (const auto *reference = dyn_cast<DeclRefExpr>(expression)) {
    const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
    const Expr *source = variable ? values_.onlySource(variable) : nullptr;
    return source ? of(source, depth + 1) : std::nullopt;
  }
  const auto *binary = dyn_cast<BinaryOperator>(expression);
  return binary ? ofBinary(*binary, depth + 1) : std::nullopt;
}

std::optional<Range> Ranges::ofBinary(const BinaryOperator &binary, unsigned depth) const {
  const auto left = of(binary.getLHS(), depth), right = of(binary.getRHS(), depth);
  switch (binary.getOpcode()) {
  case BO_Rem:
    if (!right || right->low < 1 || !(left || binary.getLHS()->getType()->isUnsignedIntegerType()))
      return std::nullopt;
    return range(0, left ? std::min(left->high, right->high - 1) : right->high - 1);
  case BO_And:
    if (left && right)
      return range(0, std::min(left->high, right->high));
    return right ? range(0, right->high) : left ? range(0, left->high) : std::nullopt;
  case BO_Div:
    if (!left || !right || right->low < 1)
      return std::nullopt;
    return range(left->low / right->high, left->high / right->low);
  case BO_Shr:
    if (!left || !right || right->high > 31)
      return std::nullopt;
    return range(left->low >> right->high, left->high >> right->low);
  case BO_Add:
    return left && right ? range(left->low + right->low, left->high + right->high) : std::nullopt;
  case BO_Sub:
    return left && right ? range(left->low - right->high, left->high - right->low) : std::nullopt;
  case BO_Mul: // each has at most 31 bits
    return left && right ? range(left->low * right->low, left->high * right->high) : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<bool> Ranges::decided(const Expr *condition) const {
  condition = condition->IgnoreParenImpCasts();
  if (const auto *unary = dyn_cast<UnaryOperator>(condition);
      unary && unary->getOpcode() == UO_LNot) {
    const auto inner = decided(unary->getSubExpr());
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  const auto *binary = dyn_cast<BinaryOperator>(condition);
  if (!binary || !binary->isComparisonOp())
    return std::nullopt;
  const auto left = of(binary->getLHS()), right = of(binary->getRHS());
  if (!left || !right)
    return std::nullopt;
  const bool isLess = left->high<right->low, isMore = left->low> right->high,
             isNotMore = left->high <= right->low, isNotLess = left->low >= right->high;
  const auto answer = [](bool always, bool never) {
    return always || never ? std::optional(always) : std::nullopt;
  };
  switch (binary->getOpcode()) {
  case BO_LT:
    return answer(isLess, isNotLess);
  case BO_LE:
    return answer(isNotMore, isMore);
  case BO_GT:
    return answer(isMore, isNotMore);
  case BO_GE:
    return answer(isNotLess, isLess);
  case BO_EQ:
    return answer(isNotMore && isNotLess, isLess || isMore);
  case BO_NE:
    return answer(isLess || isMore, isNotMore && isNotLess);
  default:
    return std::nullopt;
  }
}

} // namespace kopt::frontend
