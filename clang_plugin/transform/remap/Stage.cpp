// SPDX-License-Identifier: Apache-2.0
// stage: a kernel that reads along one axis and writes along the other passes its values through a
// tile of shared memory, so that the lanes of a warp read and write neighbouring places. Matches
// kernels of independent threads with one store, whose place and conditions follow from the two
// global indices alone. Refuses templates over types, stores in loops, and kernels that read memory
// for anything but the value that they store.
#include "clang_plugin/analysis/BodyText.h"
#include "clang_plugin/analysis/Writes.h"
#include "clang_plugin/transform/remap/ThreadBody.h"
#include "runtime/device/GpuLimits.h"

#include <clang/AST/Attr.h>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kThreads = 256, kLeastTile = 32; ///< of the new block; along each side
constexpr std::size_t kLongestBody = 2000;

/// A global index in the text.
struct Index : TextSpan {
  std::string type; ///< empty: unsigned
};

class Stager {
public:
  Stager(const KernelView &view, Refusals &refusals)
      : view_(view), refusals_(refusals), body_(view, refusals) {}

  std::vector<Offer> run() {
    if (view_.launches.empty() || !readLaunches() || !readStore() || !body_.read() ||
        !readIndices())
      return {};
    std::vector<Offer> offers;
    for (const bool isAtStore : {true, false}) {
      if (!strides(isAtStore ? store_->getLHS() : store_->getRHS()))
        continue;
      Offer offer;
      offer.title = std::string("turn tiles of ${TILE} x ${TILE} elements in shared memory ") +
                    (isAtStore ? "to store them" : "as they are read");
      offer.note = "the grid grows to whole tiles beyond today's threads";
      offer.edits = {{body_.begin, body_.end, textOf(isAtStore)}};
      offer.launch = LaunchChange{{"(gridDim.x * blockDim.x + ${TILE} - 1) / ${TILE}",
                                   "(gridDim.y * blockDim.y + ${TILE} - 1) / ${TILE}", "gridDim.z"},
                                  {"${TILE}", "256 / ${TILE}", "1"},
                                  ""};
      offer.parameters = {{"TILE", {64, 32}}};
      offers.push_back(std::move(offer));
    }
    if (offers.empty())
      refusals_.add(store_, "lanes read and write neighbouring places already");
    return offers;
  }

private:
  const BodyView &kernel() const { return view_.work(); }

  bool readLaunches() {
    if (!isForOneType(view_, refusals_))
      return false;
    if (const auto *bounds = view_.kernel().getAttr<CUDALaunchBoundsAttr>();
        bounds && view_.constant(bounds->getMaxThreads()).value_or(0) < kThreads)
      return refusals_.add(bounds->getLocation(), "the bounds allow too few threads");
    for (const LaunchShape &launch : view_.launches)
      if (launch.block[2] != 1 || launch.grid[1] * launch.block[1] < kLeastTile ||
          std::uint64_t{launch.grid[1]} * launch.block[1] / kLeastTile >= gpu::kMostGrid[1])
        return refusals_.add(view_.kernel().getLocation(), "the launch has no plane of threads");
    return true;
  }

  /// The one store, whose value is all that memory is read and functions are called for.
  bool readStore() {
    for (const Stmt *statement : kernel().statements) {
      const Expr *target = writtenBy(statement);
      if (!target || readLvalue(target).isLocal())
        continue;
      const auto *set = dyn_cast<BinaryOperator>(statement);
      if (store_ || !set || set->getOpcode() != BO_Assign || !isStatement(kernel(), set))
        return refusals_.add(statement, "there is more than one plain store");
      store_ = set;
    }
    if (!store_)
      return refusals_.add(view_.kernel().getLocation(), "the kernel stores nothing itself");
    if (!spanOf(view_, store_->getLHS()->getSourceRange()) ||
        !spanOf(view_, store_->getRHS()->getSourceRange()))
      return refusals_.add(store_, "a macro spells the store");
    if (enclosing<ForStmt, WhileStmt, DoStmt, SwitchStmt, CXXForRangeStmt>(kernel(), store_))
      return refusals_.add(store_, "the store is in a loop");
    for (const Stmt *statement : kernel().statements) {
      const auto *cast = dyn_cast<ImplicitCastExpr>(statement);
      const auto *call = dyn_cast<CallExpr>(statement);
      const bool reads = cast && cast->getCastKind() == CK_LValueToRValue &&
                         !variableOf(cast->getSubExpr()) && !coordinate(cast);
      if ((reads || call) && !kernel().isWithin(statement, store_->getRHS()))
        return refusals_.add(statement, "it reads memory, or calls, beside the store");
      if (statement == store_ || !kernel().isWithin(statement, store_))
        continue;
      if (const auto written = writesOf(statement); !written || !written->empty())
        return refusals_.add(statement, "what is stored, or where, has another effect");
    }
    return true;
  }

  /// True if the expression multiplies the index along x.
  bool strides(const Stmt *expression) const {
    if (!expression)
      return false; // a loop of a lambda has empty parts
    if (const auto *product = dyn_cast<BinaryOperator>(expression);
        product && product->getOpcode() == BO_Mul &&
        (isAlongX(product->getLHS()) || isAlongX(product->getRHS())))
      return true;
    return llvm::any_of(expression->children(), [&](const Stmt *child) { return strides(child); });
  }

  /// True for the global index along x, and for a variable that begins as it.
  bool isAlongX(const Expr *expression) const {
    const VarDecl *variable = variableOf(expression->IgnoreParenCasts());
    if (variable && variable->hasInit())
      expression = variable->getInit();
    const auto begin = view_.offset(expression->IgnoreParenCasts()->getBeginLoc());
    return llvm::any_of(indices_[0], [&](const Index &index) { return begin == index.begin; });
  }

  /// Where the text has the two global indices, which is all that may name a coordinate.
  bool readIndices() {
    if (body_.end - body_.begin > kLongestBody)
      return refusals_.add("the body is long");
    for (const CoordinateUse &use : body_.uses()) {
      if (use.body != &kernel())
        return refusals_.add(use.expression, "a function asks which thread it is");
      if (use.coordinate.variable == "threadIdx" && use.coordinate.dimension < 2)
        if (const Expr *index = globalIndexAt(use))
          if (const auto span = spanOf(view_, index->getSourceRange())) {
            const bool isPlain =
                index->getType().getCanonicalType() == view_.context().UnsignedIntTy;
            indices_[use.coordinate.dimension].push_back(
                {*span, isPlain ? "" : textOf(index->getType())});
          }
    }
    for (const CoordinateUse &use : body_.uses()) {
      const auto has = [&](const Index &index) { return index.contains({use.begin, use.end}); };
      if (use.coordinate.dimension != 2 && llvm::none_of(indices_[use.coordinate.dimension], has))
        return refusals_.add(use.expression,
                             "threads are told apart by more than their global index");
    }
    return (!indices_[0].empty() && !indices_[1].empty()) ||
           refusals_.add(store_, "the kernel has no two global indices");
  }

  /// The body with these places in a tile, and a side of the store replaced.
  std::string phase(const std::string &x, const std::string &y, const Expr *replaced,
                    const std::string &element) const {
    std::vector<SliceEdit> edits = body_.returns();
    for (const unsigned axis : {0u, 1u})
      for (const Index &index : indices_[axis]) {
        const std::string sum = blocks_[axis] + " * ${TILE} + " + (axis == 0 ? x : y);
        edits.push_back(
            {index.begin, index.end,
             index.type.empty() ? sum : "static_cast<" + index.type + ">(" + sum + ")"});
      }
    const TextSpan side = *spanOf(view_, replaced->getSourceRange());
    std::erase_if(edits,
                  [&](const SliceEdit &edit) { return side.contains({edit.begin, edit.end}); });
    edits.push_back({side.begin, side.end, element});
    return body_.indented(body_.edited(body_.begin, body_.end, std::move(edits)));
  }

  std::string textOf(QualType type) const {
    return type.getCanonicalType().getUnqualifiedType().getAsString(
        view_.context().getPrintingPolicy());
  }

  std::string textOf(bool isAtStore) {
    const std::string type = textOf(store_->getLHS()->getType());
    const std::string tile = freshName(view_, "tile"), row = freshName(view_, "row"),
                      &inner = body_.inner;
    std::string head =
        "\n" + inner + "// Tiles of ${TILE} x ${TILE} elements are turned in shared memory.\n";
    blocks_ = {"blockIdx.x", "blockIdx.y"};
    if (isAtStore) {
      const std::string block = freshName(view_, "block");
      blocks_ = {"(" + block + " / gridDim.y)", "(" + block + " % gridDim.y)"};
      head += inner + "// Blocks that run together store side by side.\n" + inner +
              "const unsigned " + block + " = blockIdx.y * gridDim.x + blockIdx.x;\n";
    }
    const std::string loop = "#pragma unroll\n" + inner + "for (int " + row + " = 0; " + row +
                             " < ${TILE}; " + row + " += 256 / ${TILE}) {\n";
    const std::string down = "threadIdx.y + " + row,
                      straight = tile + "[" + down + "][threadIdx.x]",
                      turned = tile + "[threadIdx.x][" + down + "]";
    const auto phaseOf = [&](const Expr *side, bool isStraight) {
      return loop +
             (isStraight ? phase("threadIdx.x", down, side, straight)
                         : phase(down, "threadIdx.x", side, turned)) +
             inner + "}\n";
    };
    return head + inner + "__shared__ " + type + " " + tile + "[${TILE}][${TILE} + 1];\n" +
           phaseOf(store_->getLHS(), isAtStore) + inner + "__syncthreads();\n" +
           phaseOf(store_->getRHS(), !isAtStore) + body_.outer;
  }

  const KernelView &view_;
  Refusals &refusals_;
  ThreadBody body_;
  const BinaryOperator *store_ = nullptr;
  std::vector<Index> indices_[2];     ///< global indices along x and y
  std::array<std::string, 2> blocks_; ///< which tile a block has
};

} // namespace

std::vector<Offer> stageOffers(const KernelView &view, Refusals &refusals) {
  return Stager(view, refusals).run();
}

} // namespace kopt::frontend
