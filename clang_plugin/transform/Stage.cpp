// SPDX-License-Identifier: Apache-2.0
// stage: a kernel that reads along one axis and writes along the other passes its values through a
// tile of shared memory, so that the lanes of a warp read and write neighbouring places. Matches
// kernels of independent threads with one store, whose place and conditions follow from the two
// global indices alone. Refuses templates over types, stores in loops, and kernels that read memory
// for anything but the value that they store.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/transform/ReductionLoop.h"
#include "clang_plugin/transform/ThreadOrder.h"
#include "runtime/device/GpuLimits.h"

#include <clang/AST/Attr.h>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kTile = 32, kRows = 8; ///< threads of the new block in x and y
constexpr std::size_t kLongestBody = 2000;

class Stager {
public:
  Stager(const KernelView &view, Refusals &refusals) : view_(view), refusals_(refusals) {}

  std::vector<Offer> run() {
    if (view_.launches.empty() || !readShape())
      return {};
    const std::string tile = freshName(view_, "tile");
    std::vector<Offer> offers;
    for (const bool isAtStore : {true, false}) {
      if (!strides(isAtStore ? store_->getLHS() : store_->getRHS()))
        continue;
      Offer offer;
      offer.title = isAtStore ? "turn tiles of 32 x 32 elements in shared memory to store them"
                              : "turn tiles of 32 x 32 elements in shared memory as they are read";
      offer.note = "the grid grows to whole tiles beyond today's threads";
      offer.edits = {{begin_, end_, textOf(tile, isAtStore)}};
      offer.launch = LaunchChange{
          {"(gridDim.x * blockDim.x + 31) / 32", "(gridDim.y * blockDim.y + 31) / 32", "gridDim.z"},
          {"32", "8", "1"},
          ""};
      offers.push_back(std::move(offer));
    }
    if (offers.empty())
      refusals_.add(store_->getBeginLoc(), "lanes read and write neighbouring places already");
    return offers;
  }

private:
  bool refuse(SourceLocation at, const llvm::Twine &why) {
    refusals_.add(at, why);
    return false;
  }

  bool readShape() {
    const BodyView &body = view_.bodies().front();
    const auto *block = dyn_cast<CompoundStmt>(body.function->getBody());
    const auto begin = block ? view_.endOffset(block->getLBracLoc()) : std::nullopt,
               end = block ? view_.offset(block->getRBracLoc()) : std::nullopt;
    if (!begin || !end || *end - *begin > kLongestBody ||
        view_.text().slice(*begin, *end).contains('#'))
      return refuse(view_.kernel().getLocation(), "the body is long, or has directives");
    begin_ = *begin;
    end_ = *end;
    if (const FunctionTemplateDecl *pattern = view_.pattern().getDescribedFunctionTemplate())
      for (const NamedDecl *parameter : *pattern->getTemplateParameters())
        if (isa<TemplateTypeParmDecl>(parameter))
          return refuse(parameter->getLocation(), "the kernel is a template over types");
    if (const auto *bounds = view_.kernel().getAttr<CUDALaunchBoundsAttr>();
        bounds && view_.constant(bounds->getMaxThreads()).value_or(0) < kTile * kRows)
      return refuse(bounds->getLocation(), "the bounds allow too few threads");
    for (const LaunchShape &launch : view_.launches)
      if (launch.block[2] != 1 || launch.grid[1] * launch.block[1] < kTile ||
          std::uint64_t{launch.grid[1]} * launch.block[1] / kTile >= gpu::kMostGrid[1])
        return refuse(view_.kernel().getLocation(), "the launch has no plane of threads");
    return readStore(body) && areThreadsIndependent(view_, /*atomics=*/false, refusals_) &&
           readIndices(body);
  }

  /// The one store, which is all that memory is read for.
  bool readStore(const BodyView &body) {
    for (const Stmt *statement : body.statements) {
      const auto *set = dyn_cast<BinaryOperator>(statement);
      const auto *change = dyn_cast<UnaryOperator>(statement);
      const Expr *target = set && set->isAssignmentOp()                 ? set->getLHS()
                           : change && change->isIncrementDecrementOp() ? change->getSubExpr()
                                                                        : nullptr;
      if (!target)
        continue;
      if (const VarDecl *variable = variableOf(target)) {
        if (isa<ParmVarDecl>(variable) || variable->getType()->isReferenceType() ||
            !variable->hasLocalStorage())
          return refuse(statement->getBeginLoc(), "the kernel changes a parameter or a reference");
        continue;
      }
      if (store_ || !set || set->getOpcode() != BO_Assign || !isStatement(body, set))
        return refuse(statement->getBeginLoc(), "there is more than one plain store");
      store_ = set;
    }
    const auto isSpelled = [&](const Stmt *statement) {
      return view_.offset(statement->getBeginLoc()) && view_.endOffset(statement->getEndLoc());
    };
    for (const Stmt *statement : body.statements)
      if (isa<ReturnStmt>(statement) && !isSpelled(statement))
        return refuse(statement->getBeginLoc(), "a macro spells a return");
    if (store_ && (!isSpelled(store_->getLHS()) || !isSpelled(store_->getRHS())))
      return refuse(store_->getBeginLoc(), "a macro spells the store");
    if (!store_)
      return refuse(view_.kernel().getLocation(), "the kernel stores nothing itself");
    for (const Stmt *up = store_; up; up = body.parents.lookup(up))
      if (isa<ForStmt, WhileStmt, DoStmt, SwitchStmt, CXXForRangeStmt>(up))
        return refuse(store_->getBeginLoc(), "the store is in a loop");
    for (const Stmt *statement : body.statements) {
      const auto *cast = dyn_cast<ImplicitCastExpr>(statement);
      const bool reads = cast && cast->getCastKind() == CK_LValueToRValue &&
                         !variableOf(cast->getSubExpr()) && !coordinate(cast);
      if ((reads || isa<CallExpr>(statement)) && !isWithinValue(body, statement))
        return refuse(statement->getBeginLoc(), "it reads memory, or calls, beside the store");
      if (isa<ReturnStmt>(statement) && isInLoop(body, statement))
        return refuse(statement->getBeginLoc(), "a loop returns");
      if (const auto *call = dyn_cast<CallExpr>(statement);
          call &&
          (!call->getDirectCallee() || !writesOnlyThroughParameters(*call->getDirectCallee()) ||
           llvm::any_of(call->arguments(), [](const Expr *argument) {
             return argument->getType()->isPointerType() || argument->isLValue();
           })))
        return refuse(call->getBeginLoc(), "what it calls may store");
    }
    return true;
  }

  /// True if the expression multiplies the index along x.
  bool strides(const Stmt *expression) const {
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
    return llvm::any_of(
        indices_, [&](const Index &index) { return index.dimension == 0 && begin == index.begin; });
  }

  static bool isInLoop(const BodyView &body, const Stmt *statement) {
    for (const Stmt *up = statement; up; up = body.parents.lookup(up))
      if (isa<ForStmt, WhileStmt, DoStmt, SwitchStmt, CXXForRangeStmt, LambdaExpr>(up))
        return true;
    return false;
  }
  bool isWithinValue(const BodyView &body, const Stmt *statement) const {
    return body.isWithin(statement, store_->getRHS());
  }

  /// Where the text has the two global indices, which is all that may name a coordinate.
  bool readIndices(const BodyView &body) {
    const auto uses = coordinateUses(view_, refusals_);
    if (!uses)
      return false;
    for (const CoordinateUse &use : *uses) {
      if (use.body != &body)
        return refuse(use.expression->getBeginLoc(), "a function asks which thread it is");
      if (use.coordinate.variable == "threadIdx" && use.coordinate.dimension < 2)
        if (const Expr *index = globalIndexAt(use))
          if (const auto begin = view_.offset(index->getBeginLoc()),
              end = view_.endOffset(index->getEndLoc());
              begin && end)
            indices_.push_back({*begin, *end, use.coordinate.dimension});
    }
    bool isPlane[2] = {};
    for (const Index &index : indices_)
      isPlane[index.dimension] = true;
    for (const CoordinateUse &use : *uses)
      if (use.coordinate.dimension != 2 && llvm::none_of(indices_, [&](const Index &index) {
            return index.begin <= use.begin && use.end <= index.end;
          }))
        return refuse(use.expression->getBeginLoc(),
                      "threads are told apart by more than their global index");
    return (isPlane[0] && isPlane[1]) ||
           refuse(store_->getBeginLoc(), "the kernel has no two global indices");
  }

  /// The body with these places in a tile, and the store or its value exchanged.
  std::string phase(const std::string &x, const std::string &y, const std::string &element,
                    bool isFirst) const {
    std::vector<SliceEdit> edits;
    for (const Index &index : indices_)
      edits.push_back({index.begin - begin_, index.end - begin_,
                       index.dimension == 0 ? "blockIdx.x * 32 + " + x : "blockIdx.y * 32 + " + y});
    const Expr *replaced = isFirst ? store_->getLHS() : store_->getRHS();
    const unsigned from = *view_.offset(replaced->getBeginLoc()) - begin_,
                   to = *view_.endOffset(replaced->getEndLoc()) - begin_;
    std::erase_if(edits,
                  [&](const SliceEdit &edit) { return from <= edit.begin && edit.end <= to; });
    edits.push_back({from, to, element});
    for (const Stmt *statement : view_.bodies().front().statements)
      if (isa<ReturnStmt>(statement))
        edits.push_back({*view_.offset(statement->getBeginLoc()) - begin_,
                         *view_.endOffset(statement->getEndLoc()) - begin_, "continue"});
    llvm::sort(edits, [](const SliceEdit &a, const SliceEdit &b) { return a.begin < b.begin; });
    std::string text = applyEdits(view_.text().slice(begin_, end_).str(), edits), indented;
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(text).trim().split(lines, '\n');
    for (const llvm::StringRef &line : lines) {
      if (!line.trim().empty())
        indented += (&line == lines.begin() ? "    " : "  ") + line.str();
      indented += "\n";
    }
    return indented;
  }

  std::string textOf(const std::string &tile, bool isAtStore) const {
    const std::string type = store_->getLHS()->getType().getUnqualifiedType().getAsString(
        view_.context().getPrintingPolicy());
    const std::string row = freshName(view_, "row");
    const std::string loop =
        "  for (int " + row + " = threadIdx.y; " + row + " < 32; " + row + " += blockDim.y) {\n";
    const std::string straight = tile + "[" + row + "][threadIdx.x]",
                      turned = tile + "[threadIdx.x][" + row + "]";
    const std::string first = isAtStore ? phase("threadIdx.x", row, straight, true)
                                        : phase(row, "threadIdx.x", turned, true),
                      second = isAtStore ? phase(row, "threadIdx.x", turned, false)
                                         : phase("threadIdx.x", row, straight, false);
    return "\n  // Tiles of 32 x 32 elements are turned in shared memory.\n  __shared__ " + type +
           " " + tile + "[32][33];\n" + loop + first + "  }\n  __syncthreads();\n" + loop + second +
           "  }\n";
  }

  struct Index {
    unsigned begin, end, dimension;
  };
  const KernelView &view_;
  Refusals &refusals_;
  unsigned begin_ = 0, end_ = 0; ///< of the body, without its braces
  const BinaryOperator *store_ = nullptr;
  std::vector<Index> indices_;
};

} // namespace

std::vector<Offer> stageOffers(const KernelView &view, Refusals &refusals) {
  return Stager(view, refusals).run();
}

} // namespace kopt::frontend
