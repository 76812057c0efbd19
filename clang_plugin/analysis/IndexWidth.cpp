// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/IndexWidth.h"

#include "runtime/device/GpuLimits.h"

#include <limits>
#include <optional>
#include <set>
#include <vector>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kMostNesting = 8;

class IndexReader {
public:
  IndexReader(const KernelView &view, const CallArguments &arguments)
      : view_(view), arguments_(arguments) {}

  void read(const Stmt *statement, std::map<unsigned, unsigned> &bits,
            std::map<unsigned, unsigned> &doubtful) const {
    const Expr *base = nullptr, *index = nullptr;
    if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(statement)) {
      base = subscript->getBase();
      index = subscript->getIdx();
    } else if (const auto *binary = dyn_cast<BinaryOperator>(statement);
               binary && (binary->isAdditiveOp() || binary->getOpcode() == BO_AddAssign ||
                          binary->getOpcode() == BO_SubAssign)) {
      base = binary->getLHS();
      index = binary->getRHS();
      if (!base->getType()->isPointerType())
        std::swap(base, index);
    }
    if (!base || !base->getType()->isPointerType() || !index->getType()->isIntegerType() ||
        index->isValueDependent() || index->isIntegerConstantExpr(view_.context()))
      return;
    std::set<unsigned> roots;
    pointerRoots(base, roots);
    if (roots.empty())
      return;
    const auto lower = [&](std::map<unsigned, unsigned> &of, unsigned to) {
      for (unsigned parameter : roots) {
        const auto [known, isNew] = of.try_emplace(parameter, to);
        if (!isNew)
          known->second = std::min(known->second, to);
      }
    };
    std::vector<Part> parts;
    addParts(index, 64, parts);
    for (const Part &part : parts) {
      const unsigned width = std::min(part.bits, indexWidth(part.index));
      lower(bits, width);
      lower(doubtful, width >= 32 && fits(part.index) ? 64 : width);
    }
  }

private:
  struct Part {
    const Expr *index;
    unsigned bits; ///< of the narrowest sum that it is part of
  };

  /// Adds the index, or the terms of it that are computed where others are read from memory: tests
  /// with other contents show overflows of those.
  void addParts(const Expr *index, unsigned bits, std::vector<Part> &parts,
                unsigned depth = 0) const {
    if (!isData(index)) {
      parts.push_back({index, bits});
      return;
    }
    const Expr *computed = index->IgnoreParenImpCasts();
    if (depth > kMostNesting || !computed->getType()->isIntegralOrEnumerationType())
      return;
    bits = std::min<unsigned>(bits, view_.context().getIntWidth(computed->getType()));
    if (const auto *binary = dyn_cast<BinaryOperator>(computed); binary && binary->isAdditiveOp()) {
      addParts(binary->getLHS(), bits, parts, depth + 1);
      addParts(binary->getRHS(), bits, parts, depth + 1);
    } else if (const auto *cast = dyn_cast<ExplicitCastExpr>(computed)) {
      addParts(cast->getSubExprAsWritten(), bits, parts, depth + 1);
    } else if (const Expr *made = computedInitializer(computed)) {
      addParts(made, bits, parts, depth + 1);
    }
  }

  /// Collects the kernel parameters that the pointer may be, through casts and the parameters of
  /// called functions.
  void pointerRoots(const Expr *pointer, std::set<unsigned> &roots, unsigned depth = 0) const {
    const auto *reference = dyn_cast<DeclRefExpr>(pointer->IgnoreParenCasts());
    const auto *parameter = reference ? dyn_cast<ParmVarDecl>(reference->getDecl()) : nullptr;
    if (!parameter || depth > kMostNesting)
      return;
    if (parameter->getDeclContext() == &view_.kernel())
      roots.insert(parameter->getFunctionScopeIndex());
    if (const auto bound = arguments_.find(parameter); bound != arguments_.end())
      for (const Expr *argument : bound->second)
        pointerRoots(argument, roots, depth + 1);
  }

  /// The bits in which the index is computed: those of its own type and its products, not those of
  /// a type to which it is widened at the end.
  unsigned indexWidth(const Expr *index, unsigned depth = 0) const {
    const Expr *computed = index->IgnoreParenImpCasts();
    if (!computed->getType()->isIntegralOrEnumerationType())
      computed = index;
    const unsigned bits =
        std::min(view_.context().getIntWidth(computed->getType()), narrowestProduct(computed));
    const auto *cast = dyn_cast<ExplicitCastExpr>(computed);
    const Expr *made = cast ? cast->getSubExprAsWritten() : computedInitializer(computed);
    if (made && made->getType()->isRealFloatingType())
      return std::min(bits, precisionOf(made->getType()));
    if (!made || !made->getType()->isIntegerType() || depth > kMostNesting)
      return bits;
    // A byte that is widened is not a narrow index.
    const unsigned before = indexWidth(made, depth + 1);
    return std::min(bits, cast ? std::max(32u, before) : before);
  }

  /// The bits of the narrowest product in the expression and in the locals that it names; adding
  /// something wider does not widen it. Products of coordinates and constants stay small and do not
  /// count.
  unsigned narrowestProduct(const Expr *expression, unsigned depth = 0) const {
    if (depth > kMostNesting)
      return 64;
    if (const auto *cast = dyn_cast<ExplicitCastExpr>(expression->IgnoreParenImpCasts()))
      return std::min(widthOfCast(*cast), narrowestProduct(cast->getSubExprAsWritten(), depth + 1));
    const Expr *computed = expression->IgnoreParenCasts();
    unsigned bits = 64;
    if (const auto *binary = dyn_cast<BinaryOperator>(computed);
        binary && !binary->isAssignmentOp()) {
      const bool isProduct = binary->getOpcode() == BO_Mul || binary->getOpcode() == BO_Shl;
      if (isProduct && binary->getType()->isIntegerType() &&
          !(isSmall(binary->getLHS()) && isSmall(binary->getRHS())) && !isBounded(*binary))
        bits = view_.context().getIntWidth(binary->getType());
      const unsigned ofFactors = std::min(narrowestProduct(binary->getLHS(), depth + 1),
                                          narrowestProduct(binary->getRHS(), depth + 1));
      // The factors of a wide product are not indices themselves, but for example a row number and
      // a row length.
      const bool isWide = isProduct && bits == 64 && ofFactors >= 32 &&
                          view_.context().getIntWidth(binary->getType()) >= 64;
      return isWide ? 64 : std::min(bits, ofFactors);
    }
    const Expr *made = computedInitializer(computed);
    return std::min(widthOfLocal(computed), made ? narrowestProduct(made, depth + 1) : bits);
  }

  /// The bits of a cast that may truncate its value; 64 for any other cast.
  unsigned widthOfCast(const ExplicitCastExpr &cast) const {
    const Expr *given = cast.getSubExprAsWritten()->IgnoreParenImpCasts();
    if (!cast.getType()->isIntegerType())
      return 64;
    if (given->getType()->isRealFloatingType())
      return precisionOf(given->getType());
    return widthThatMayNotHold(cast.getType(), *given);
  }

  /// The bits of a local that is narrower than its initial value and may truncate it; 64 for
  /// anything else.
  unsigned widthOfLocal(const Expr *expression) const {
    const auto *reference = dyn_cast<DeclRefExpr>(expression);
    const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    if (!variable || !variable->isLocalVarDecl() || !variable->getInit() ||
        !variable->getType()->isIntegerType())
      return 64;
    return widthThatMayNotHold(variable->getType(), *variable->getInit()->IgnoreParenImpCasts());
  }

  /// The bits of an integer type that is narrower than an int and than the value that it receives,
  /// unless that value is clearly small; otherwise 64.
  unsigned widthThatMayNotHold(QualType type, const Expr &given) const {
    const unsigned bits = view_.context().getIntWidth(type);
    if (bits >= 32 || !given.getType()->isIntegerType() ||
        view_.context().getIntWidth(given.getType()) <= bits)
      return 64;
    const auto limit = largest(&given);
    return limit && (*limit >> bits) == 0 ? 64 : bits;
  }

  /// True if an int plainly holds the value: (i % 4) * 256 + threadIdx.x.
  bool isBounded(const Expr &value) const {
    const auto limit = largest(&value);
    return limit && *limit <= std::numeric_limits<std::int32_t>::max();
  }

  /// An upper bound of the value, if it is obvious.
  std::optional<std::uint64_t> largest(const Expr *value) const {
    if (const auto place = coordinate(value))
      return place->variable == "threadIdx" || place->variable == "blockDim"
                 ? std::optional<std::uint64_t>(gpu::kMostThreads)
                 : std::nullopt;
    if (const auto known = value->isValueDependent()
                               ? std::nullopt
                               : value->getIntegerConstantExpr(view_.context()))
      return known->getLimitedValue();
    const auto *binary = dyn_cast<BinaryOperator>(value);
    if (binary && (binary->getOpcode() == BO_Mul || binary->getOpcode() == BO_Add)) {
      const auto left = largest(binary->getLHS()->IgnoreParenImpCasts()),
                 right = largest(binary->getRHS()->IgnoreParenImpCasts());
      constexpr std::uint64_t kMost = std::uint64_t(1) << 31;
      if (!left || !right || *left > kMost || *right > kMost)
        return std::nullopt;
      return binary->getOpcode() == BO_Mul ? *left * *right : *left + *right;
    }
    if (!binary || (binary->getOpcode() != BO_And && binary->getOpcode() != BO_Rem &&
                    binary->getOpcode() != BO_Div && binary->getOpcode() != BO_Shr))
      return std::nullopt;
    if (binary->getOpcode() == BO_And || binary->getOpcode() == BO_Rem)
      if (const auto limit = largest(binary->getRHS()->IgnoreParenImpCasts()))
        return limit;
    return largest(binary->getLHS()->IgnoreParenImpCasts());
  }

  static unsigned precisionOf(QualType floating) {
    const auto *type = floating->getAs<BuiltinType>();
    return !type || type->getKind() == BuiltinType::Double ? 53
           : type->getKind() == BuiltinType::Float         ? 24
                                                           : 11;
  }

  /// True if the index, or a part of it, is read from memory.
  bool isData(const Stmt *expression, unsigned depth = 0) const {
    if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(expression))
      return isDataIn(settingsOf(*subscript), depth + 1);
    if (const auto *unary = dyn_cast<UnaryOperator>(expression);
        unary && unary->getOpcode() == UO_Deref)
      return true;
    if (const auto *reference = dyn_cast<DeclRefExpr>(expression))
      if (const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
          variable && variable->isLocalVarDecl() && variable->getInit() && depth < kMostNesting)
        return isData(variable->getInit(), depth + 1);
    return llvm::any_of(expression->children(),
                        [&](const Stmt *child) { return child && isData(child, depth); });
  }

  bool isDataIn(const std::vector<const Expr *> &settings, unsigned depth) const {
    return settings.empty() || depth > kMostNesting ||
           llvm::any_of(settings, [&](const Expr *value) { return isData(value, depth); });
  }

  /// What the elements of a local array are set to; nothing if the element may be something else.
  std::vector<const Expr *> settingsOf(const ArraySubscriptExpr &element) const {
    const auto *reference = dyn_cast<DeclRefExpr>(element.getBase()->IgnoreParenImpCasts());
    const auto *array = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    if (!array || !array->isLocalVarDecl() || array->isStaticLocal() || array->getInit() ||
        array->hasAttr<CUDASharedAttr>() || !array->getType()->isConstantArrayType())
      return {};
    std::vector<const Expr *> settings;
    for (const BodyView &body : view_.bodies())
      for (const Stmt *statement : body.statements) {
        if (const auto *use = dyn_cast<DeclRefExpr>(statement); !use || use->getDecl() != array)
          continue;
        const Stmt *whole = body.parentOf(statement);
        while (whole && isa<ImplicitCastExpr, ParenExpr>(whole))
          whole = body.parentOf(whole);
        if (!whole || !isa<ArraySubscriptExpr>(whole))
          return {}; // its address goes elsewhere
        const auto *assigned = dyn_cast_or_null<BinaryOperator>(body.parentOf(whole));
        if (!assigned || !assigned->isAssignmentOp() || assigned->getLHS() != whole)
          continue;
        if (assigned->isCompoundAssignmentOp())
          return {};
        settings.push_back(assigned->getRHS());
      }
    return settings;
  }

  /// True if 32 bits hold the value whenever they hold the kernel's arguments.
  bool fits(const Expr *value, unsigned depth = 0) const {
    const Expr *computed = value->IgnoreParenCasts();
    if (depth > kMostNesting || computed->isValueDependent())
      return false;
    if (isSmall(computed))
      return true;
    if (const auto *element = dyn_cast<ArraySubscriptExpr>(computed)) {
      const std::vector<const Expr *> settings = settingsOf(*element);
      return !settings.empty() &&
             llvm::all_of(settings, [&](const Expr *setting) { return fits(setting, depth + 1); });
    }
    if (const auto *binary = dyn_cast<BinaryOperator>(computed);
        binary && !binary->isAssignmentOp() && !binary->isComparisonOp()) {
      const bool isProduct = binary->getOpcode() == BO_Mul || binary->getOpcode() == BO_Shl;
      return isProduct ? isSmall(binary->getLHS()) && isSmall(binary->getRHS())
                       : fits(binary->getLHS(), depth + 1) && fits(binary->getRHS(), depth + 1);
    }
    const auto *reference = dyn_cast<DeclRefExpr>(computed);
    const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    if (!variable)
      return false;
    if (const auto *parameter = dyn_cast<ParmVarDecl>(variable))
      return parameter->getDeclContext() == &view_.kernel();
    return variable->isLocalVarDecl() &&
           (isKeptBelow(*variable, depth) || (variable->getInit() && !isAssigned(*variable) &&
                                              fits(variable->getInit(), depth + 1)));
  }

  static bool names(const Expr *expression, const VarDecl &variable) {
    const auto *reference = dyn_cast<DeclRefExpr>(expression->IgnoreParenCasts());
    return reference && reference->getDecl() == &variable;
  }

  /// True if a comparison checks that the variable is less than a value that fits.
  bool isKeptBelow(const VarDecl &variable, unsigned depth) const {
    for (const BodyView &body : view_.bodies())
      for (const Stmt *statement : body.statements)
        if (const auto *binary = dyn_cast<BinaryOperator>(statement);
            binary && binary->isRelationalOp()) {
          const bool isLeft = names(binary->getLHS(), variable);
          const Expr *limit = isLeft ? binary->getRHS() : binary->getLHS();
          if ((isLeft || names(binary->getRHS(), variable)) && !names(limit, variable) &&
              fits(limit, depth + 1))
            return true;
        }
    return false;
  }

  bool isAssigned(const VarDecl &variable) const {
    for (const BodyView &body : view_.bodies())
      for (const Stmt *statement : body.statements) {
        if (const auto *binary = dyn_cast<BinaryOperator>(statement);
            binary && binary->isAssignmentOp() && names(binary->getLHS(), variable))
          return true;
        if (const auto *unary = dyn_cast<UnaryOperator>(statement);
            unary && (unary->isIncrementDecrementOp() || unary->getOpcode() == UO_AddrOf) &&
            names(unary->getSubExpr(), variable))
          return true;
      }
    return false;
  }

  bool isSmall(const Expr *factor) const {
    const Expr *computed = factor->IgnoreParenCasts();
    return coordinate(computed) ||
           (!computed->isValueDependent() && computed->isIntegerConstantExpr(view_.context()));
  }

  /// The initializer of the local that the expression names, if it is arithmetic or a cast;
  /// otherwise null.
  static const Expr *computedInitializer(const Expr *expression) {
    const auto *reference = dyn_cast<DeclRefExpr>(expression);
    const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    if (!variable || !variable->isLocalVarDecl() || !variable->getInit())
      return nullptr;
    const Expr *made = variable->getInit()->IgnoreParenImpCasts();
    return isa<BinaryOperator, ExplicitCastExpr>(made) ? made : nullptr;
  }

  const KernelView &view_;
  const CallArguments &arguments_;
};

} // namespace

void readIndex(const KernelView &view, const CallArguments &arguments, const Stmt *statement,
               std::map<unsigned, unsigned> &bits, std::map<unsigned, unsigned> &doubtful) {
  IndexReader(view, arguments).read(statement, bits, doubtful);
}

} // namespace kopt::frontend
