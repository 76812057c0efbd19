// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/BlockGeometry.h"

#include "runtime/device/GpuLimits.h"

#include <clang/AST/Attr.h>

namespace kopt::frontend {

using namespace clang;

namespace {

/// How far locals that are defined by other locals are followed.
constexpr unsigned kMostDepth = 8;

bool isCoordinateNode(const Stmt *statement, const BodyView &body) {
  const Stmt *parent = body.parents.lookup(statement);
  return isa<PseudoObjectExpr>(statement) || isa<MemberExpr>(statement) ||
         (isa<MSPropertyRefExpr>(statement) && !isa_and_nonnull<PseudoObjectExpr>(parent));
}

const Stmt *parentBehindCasts(const BodyView &body, const Stmt *statement) {
  const Stmt *parent = body.parentOf(statement);
  while (parent && (isa<CastExpr>(parent) || isa<OpaqueValueExpr>(parent)))
    parent = body.parentOf(parent);
  return parent;
}

/// True for libraries whose objects determine the block's size themselves.
bool knowsBlockByItself(const Decl *decl) {
  const auto *named = dyn_cast_or_null<NamedDecl>(decl);
  if (!named)
    return false;
  const std::string name = named->getQualifiedNameAsString();
  for (llvm::StringRef library :
       {"cooperative_groups::", "cub::", "nvcuda::", "cuda::barrier", "cuda::pipeline"})
    if (llvm::StringRef(name).starts_with(library))
      return true;
  return false;
}

} // namespace

BlockGeometry::BlockGeometry(const KernelView &view) : view_(view) {
  for (const BodyView &body : view.bodies())
    for (const VarDecl *variable : body.changingVariables())
      changing_.insert(variable);
  for (const BodyView &body : view.bodies()) {
    readCoordinates(body);
    readTies(body);
    readSharedArrays(body);
  }
}

const Expr *BlockGeometry::definition(const Expr *expression) const {
  const auto *reference = dyn_cast<DeclRefExpr>(expression->IgnoreParenCasts());
  const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
  return variable && variable->isLocalVarDecl() && !changing_.contains(variable)
             ? variable->getInit()
             : nullptr;
}

bool BlockGeometry::mentions(const Expr *expression, llvm::StringRef variable,
                             std::optional<unsigned> dimension, unsigned depth) const {
  if (!expression || depth > kMostDepth)
    return false;
  if (const auto found = coordinate(expression))
    return found->variable == variable && (!dimension || found->dimension == *dimension);
  if (const Expr *meaning = definition(expression))
    return mentions(meaning, variable, dimension, depth + 1);
  return llvm::any_of(expression->IgnoreParenCasts()->children(), [&](const Stmt *child) {
    return mentions(dyn_cast_or_null<Expr>(child), variable, dimension, depth);
  });
}

bool BlockGeometry::isMultiple(const Expr *expression, unsigned dimension, unsigned depth) const {
  if (const auto found = coordinate(expression))
    return found->variable == "blockDim" && found->dimension == dimension;
  if (const Expr *meaning = depth < kMostDepth ? definition(expression) : nullptr)
    return isMultiple(meaning, dimension, depth + 1);
  const auto *product = dyn_cast<BinaryOperator>(expression->IgnoreParenCasts());
  return product && product->getOpcode() == BO_Mul &&
         (isMultiple(product->getLHS(), dimension, depth) ||
          isMultiple(product->getRHS(), dimension, depth));
}

void BlockGeometry::readCoordinates(const BodyView &body) {
  for (const Stmt *statement : body.statements) {
    if (const auto *reference = dyn_cast<DeclRefExpr>(statement)) {
      // Uses as a whole (`dim3 shape = blockDim`) are not followed.
      const IdentifierInfo *name = reference->getDecl()->getIdentifier();
      const bool isCoordinates = name && (name->isStr("threadIdx") || name->isStr("blockIdx") ||
                                          name->isStr("blockDim") || name->isStr("gridDim"));
      const Stmt *user = parentBehindCasts(body, reference);
      if (isCoordinates && !isa_and_nonnull<MSPropertyRefExpr>(user) &&
          !isa_and_nonnull<MemberExpr>(user))
        tied_ = true;
    }
    const auto *node = dyn_cast<Expr>(statement);
    const auto found = node && isCoordinateNode(node, body) ? coordinate(node) : std::nullopt;
    if (!found) {
      // The step of a loop: `i += blockDim.x` or `i = i + blockDim.x`, with any factor.
      const auto *step = dyn_cast<BinaryOperator>(statement);
      const auto *counter = step ? dyn_cast<DeclRefExpr>(step->getLHS()) : nullptr;
      const auto *sum =
          step ? dyn_cast<BinaryOperator>(step->getRHS()->IgnoreParenCasts()) : nullptr;
      const auto isCounter = [&](const Expr *side) {
        const auto *reference = dyn_cast<DeclRefExpr>(side->IgnoreParenCasts());
        return reference && reference->getDecl() == counter->getDecl();
      };
      if (counter && (step->getOpcode() == BO_AddAssign ||
                      (step->getOpcode() == BO_Assign && sum && sum->getOpcode() == BO_Add &&
                       (isCounter(sum->getLHS()) || isCounter(sum->getRHS())))))
        for (unsigned d = 0; d < 3; ++d)
          dimensions_[d].strides |= mentions(step->getRHS(), "blockDim", d);
      continue;
    }
    Dimension &dimension = dimensions_[found->dimension];
    const auto *product = dyn_cast_or_null<BinaryOperator>(parentBehindCasts(body, node));
    bool scaled = false;
    if (product && product->getOpcode() == BO_Mul) {
      const bool isLeft = coordinate(product->getLHS()).has_value() &&
                          product->getLHS()->IgnoreParenCasts() == node->IgnoreParenCasts();
      scaled = isMultiple(isLeft ? product->getRHS() : product->getLHS(), found->dimension);
    }
    if (found->variable == "threadIdx") {
      dimension.readsThread = true;
    } else if (found->variable == "blockDim") {
      dimension.readsBlockDim = true;
    } else if (found->variable == "gridDim") {
      dimension.gridPlain += !scaled;
    } else {
      (scaled ? dimension.blockIndexCovered : dimension.blockIndexPlain) += 1;
      // blockIdx.y * blockDim.y + threadIdx.x: the block is transposed, so it must stay square.
      const auto *sum =
          scaled ? dyn_cast_or_null<BinaryOperator>(parentBehindCasts(body, product)) : nullptr;
      for (unsigned d = 0; sum && sum->getOpcode() == BO_Add && d < 3; ++d)
        crossed_ |= d != found->dimension && mentions(sum, "threadIdx", d);
    }
  }
}

bool BlockGeometry::hasExtentIn(const ParmVarDecl &parameter) const {
  return !view_.launches.empty() && llvm::all_of(view_.launches, [&](const LaunchShape &launch) {
    return llvm::any_of(launch.scalars, [&](const ScalarValue &scalar) {
      long long value = 0;
      return scalar.name == parameter.getName() &&
             !llvm::StringRef(scalar.literal).consumeInteger(10, value) && value > 2 &&
             (value == launch.block[0] || value == launch.block[1]);
    });
  });
}

void BlockGeometry::readTies(const BodyView &body) {
  llvm::DenseSet<long long> ties;
  for (const LaunchShape &launch : view_.launches) {
    const unsigned all = launch.block[0] * launch.block[1] * launch.block[2];
    for (const long long extent : {launch.block[0], launch.block[1], all})
      for (const long long near : {extent - 1, extent, extent + 1})
        if (extent > 2)
          ties.insert(near);
    if (all >= 64)
      ties.insert(all / 2);
  }
  for (const Stmt *statement : body.statements) {
    const Decl *named = nullptr;
    if (const auto *reference = dyn_cast<DeclRefExpr>(statement))
      named = reference->getDecl();
    else if (const auto *member = dyn_cast<MemberExpr>(statement))
      named = member->getMemberDecl();
    else if (const auto *construct = dyn_cast<CXXConstructExpr>(statement))
      named = construct->getConstructor();
    tied_ |= knowsBlockByItself(named);
    sharesMemory_ |= named && named->hasAttr<CUDASharedAttr>();
    if (const auto *parameter = dyn_cast_or_null<ParmVarDecl>(named))
      takesExtent_ |= hasExtentIn(*parameter);
    // What one thread of each block does is done as often as there are blocks. That of the first is
    // mostly done for its block.
    if (const auto *equal = dyn_cast<BinaryOperator>(statement); equal && equal->isEqualityOp())
      for (const auto &[side, other] : {std::pair(equal->getLHS(), equal->getRHS()),
                                        std::pair(equal->getRHS(), equal->getLHS())}) {
        const Expr *meaning = definition(side);
        const auto found = coordinate(meaning ? meaning : side);
        tied_ |= found && found->variable == "threadIdx" && view_.constant(other).value_or(0) != 0;
      }
    if (const auto *expression = dyn_cast<Expr>(statement))
      if (const auto value = view_.constant(expression); value && ties.contains(*value))
        tied_ = true;
  }
}

void BlockGeometry::readSharedArrays(const BodyView &body) {
  for (const Stmt *statement : body.statements) {
    const auto *reference = dyn_cast<DeclRefExpr>(statement);
    const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    if (!variable || !variable->hasAttr<CUDASharedAttr>() || variable->hasExternalStorage() ||
        !variable->getType()->isConstantArrayType())
      continue;
    const Expr *part = reference;
    while (const ConstantArrayType *level =
               view_.context().getAsConstantArrayType(part->getType())) {
      const auto *decay = dyn_cast_or_null<ImplicitCastExpr>(body.parentOf(part));
      const auto *subscript =
          decay ? dyn_cast_or_null<ArraySubscriptExpr>(body.parentOf(decay)) : nullptr;
      const bool isFollowed = subscript && subscript->getBase()->IgnoreParens() == decay;
      indices_.push_back(
          {isFollowed ? subscript->getIdx() : nullptr, level->getSize().getZExtValue()});
      if (!isFollowed)
        break;
      part = subscript;
    }
  }
}

std::optional<BlockGeometry::Rule> BlockGeometry::rule() const {
  const Dimension &x = dimensions_[0], &y = dimensions_[1];
  if (tied_ || (sharesMemory_ && takesExtent_) || !x.readsThread || dimensions_[2].readsThread)
    return std::nullopt;
  Rule rule;
  rule.plane = y.readsThread;
  rule.squareOnly = crossed_;
  for (const LaunchShape &launch : view_.launches)
    if (launch.block[2] != 1 || (!rule.plane && launch.block[1] != 1))
      return std::nullopt;
  for (unsigned d = 0; d < (rule.plane ? 2u : 1u); ++d) {
    const Dimension &dimension = dimensions_[d];
    const bool covers = dimension.blockIndexCovered > 0;
    if (!dimension.readsBlockDim ||
        (covers && (dimension.blockIndexPlain || dimension.gridPlain)) ||
        (!covers && !dimension.strides) || (d > 0 && covers != rule.coverGrid))
      return std::nullopt;
    rule.coverGrid = covers;
  }
  return rule;
}

std::optional<BlockGeometry::Interval> BlockGeometry::range(const Expr *expression,
                                                            const std::array<unsigned, 3> &block,
                                                            unsigned depth) const {
  if (depth > kMostDepth)
    return std::nullopt;
  if (const auto value = view_.constant(expression))
    return Interval{*value, *value};
  expression = expression->IgnoreParenCasts();
  if (const auto found = coordinate(expression)) {
    const long long extent = block[found->dimension];
    if (found->variable == "threadIdx")
      return Interval{0, extent - 1};
    return found->variable == "blockDim" ? std::optional(Interval{extent, extent}) : std::nullopt;
  }
  if (const Expr *meaning = definition(expression))
    return range(meaning, block, depth + 1);
  if (const auto *reference = dyn_cast<DeclRefExpr>(expression))
    return reference->getDecl()->getIdentifier() && reference->getDecl()->getName() == "warpSize"
               ? std::optional(Interval{32, 32})
               : std::nullopt;
  const auto *binary = dyn_cast<BinaryOperator>(expression);
  const auto left = binary ? range(binary->getLHS(), block, depth) : std::nullopt;
  const auto right = binary ? range(binary->getRHS(), block, depth) : std::nullopt;
  if (!right)
    return std::nullopt;
  const bool isPositive = right->low == right->high && right->low > 0;
  // A remainder or a mask bounds even an unknown value.
  if (isPositive && binary->getOpcode() == BO_And)
    return Interval{0, right->high};
  if (isPositive && binary->getOpcode() == BO_Rem && left && left->low >= 0)
    return Interval{0, std::min(left->high, right->high - 1)};
  if (!left)
    return std::nullopt;
  switch (binary->getOpcode()) {
  case BO_Add:
    return Interval{left->low + right->low, left->high + right->high};
  case BO_Sub:
    return Interval{left->low - right->high, left->high - right->low};
  case BO_Mul:
    return left->low >= 0 && right->low >= 0
               ? std::optional(Interval{left->low * right->low, left->high * right->high})
               : std::nullopt;
  case BO_Div:
    return isPositive && left->low >= 0
               ? std::optional(Interval{left->low / right->low, left->high / right->low})
               : std::nullopt;
  case BO_Shr:
    return left->low >= 0 && right->low >= 0 && right->low == right->high && right->low < 32
               ? std::optional(Interval{left->low >> right->low, left->high >> right->low})
               : std::nullopt;
  case BO_Shl:
    return left->low >= 0 && right->low >= 0 && right->low == right->high && right->low < 16
               ? std::optional(Interval{left->low << right->low, left->high << right->low})
               : std::nullopt;
  default:
    return std::nullopt;
  }
}

bool BlockGeometry::sharedArraysHold(const std::array<unsigned, 3> &block) const {
  unsigned most = gpu::kMostThreads;
  for (const LaunchShape &launch : view_.launches)
    most = std::min(most, launch.block[0] * launch.block[1] * launch.block[2]);
  return llvm::all_of(indices_, [&](const SharedIndex &use) {
    if (use.index && !mentions(use.index, "threadIdx", std::nullopt) && view_.constant(use.index))
      return true;
    if (const auto values = use.index ? range(use.index, block) : std::nullopt)
      return values->low >= 0 && values->high < static_cast<long long>(use.extent);
    // The index is not understood: allow at most the current number of threads.
    return block[0] * block[1] * block[2] <= most;
  });
}

} // namespace kopt::frontend
