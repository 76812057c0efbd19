// SPDX-License-Identifier: Apache-2.0
// grid-size: launch more blocks, or fewer, of a kernel whose loops stride over the grid. Matches
// kernels in which blockIdx goes only into the start and gridDim only into the step of such loops:
// start = blockIdx.x * b + t and step = gridDim.x * b, whatever b and t are. Then a grid of any
// size has the same turns of the loops, dealt out to its blocks in another way. Refuses loops that
// are left early, stores that do not depend on the turn, and threads that depend on each other
// where there is only one block. Blocks that wait for others have to run at once: a limit of the
// grid.
#include "clang_plugin/analysis/CudaFunctions.h"
#include "clang_plugin/model/KernelModel.h"
#include "clang_plugin/transform/remap/ThreadBody.h"
#include "runtime/device/GpuLimits.h"

namespace kopt::frontend {

using namespace clang;
using model::Access;
using model::AccessKind;
using model::LoopFacts;
using model::Polynomial;

namespace {

/// The loops that stride over the grid along one axis, and whether its size may be another there.
class GridLoops {
public:
  GridLoops(const KernelView &view, const model::KernelModel &model, unsigned axis,
            Refusals &refusals)
      : view_(view), model_(model), axis_(axis), refusals_(refusals) {
    for (const LoopFacts &loop : model.loops)
      if (loop.gridAxis == axis)
        loops_.push_back(&loop);
  }

  /// False, with a refusal, if something but the loops depends on the grid, or if what they store
  /// is not for each turn to store.
  bool check() {
    for (const model::Blind &use : model_.gridUses[axis_])
      return refusals_.add(use.place,
                           use.what + " has another use than to begin a loop or to step in it");
    for (const model::Blind &blind : model_.blind) {
      isProven_ = areApart_ = false;
      if (llvm::StringRef(blind.what).contains("grid_group"))
        return refusals_.add(blind.place, "it knows the grid by other means");
    }
    for (const LoopFacts *loop : loops_) {
      if (loop->otherExit)
        return refusals_.add(*loop->otherExit, "the loop that strides over the grid is left early");
      isProven_ = isProven_ && !loop->carriesMore &&
                  llvm::none_of(loop->bound->symbols(), [this](unsigned symbol) {
                    return model_.symbols[symbol].isOfMemory;
                  });
    }
    return llvm::all_of(model_.accesses,
                        [this](const Access &access) { return checkAccess(access); });
  }

  const std::vector<const LoopFacts *> &loops() const { return loops_; }
  /// Each turn computes the same whichever thread it is given to.
  bool isProven() const { return isProven_ && areApart_; }
  /// No turn reads or writes what another one certainly or maybe writes.
  bool areApart() const { return areApart_; }

private:
  bool checkAccess(const Access &access) {
    if (access.kind == AccessKind::Load || access.space == model::MemorySpace::Local)
      return true;
    if (access.kind == AccessKind::Atomic || access.space == model::MemorySpace::Shared) {
      isProven_ = false; // it may be of another turn, or its order may matter
      return true;
    }
    const auto loop = llvm::find_if(
        access.loops, [this](unsigned each) { return model_.loops[each].gridAxis == axis_; });
    if (loop == access.loops.end())
      return refusals_.add(access.place,
                           "a store is outside of the loops that stride over the grid");
    const auto &stride = access.loopStrides[std::size_t(loop - access.loops.begin())];
    const auto block =
        access.offset ? access.offset->growth(model_.coordinate(model::SymbolKind::BlockIdx, axis_))
                      : std::nullopt;
    const auto ofTurn =
        block ? product(*block,
                        Polynomial::ofSymbol(model_.coordinate(model::SymbolKind::GridDim, axis_)))
              : std::nullopt;
    if (stride && stride->isZero())
      return refusals_.add(access.place, "a store is to the same place in each turn of the loop");
    if (stride && stride != ofTurn)
      return refusals_.add(access.place, "where a store goes depends on the turns before");
    // Else the buffers may be one.
    isProven_ = isProven_ && llvm::all_of(model_.accesses, [&](const Access &other) {
                  return other.root == access.root || other.space == model::MemorySpace::Local ||
                         (isRestrict(access.root) && isRestrict(other.root));
                });
    areApart_ = areApart_ && stride && access.space != model::MemorySpace::Unknown &&
                llvm::all_of(model_.accesses, [&](const Access &other) {
                  return other.root != access.root || isOfOneTurn(other, access, *block);
                });
    return true;
  }

  /// Whether two accesses of one object meet in one turn alone: `block` is how far a block goes.
  bool isOfOneTurn(const Access &one, const Access &other, const Polynomial &block) const {
    const auto apart = one.offset ? difference(*one.offset, *other.offset) : std::nullopt;
    if (!apart || apart->isZero())
      return apart.has_value();
    // Parts of one element.
    const auto &element = other.strides[0];
    const auto bytes = element ? element->constant() : std::nullopt, distance = apart->constant();
    return bytes && distance && std::abs(*distance) + std::max(one.bytes, other.bytes) <= *bytes &&
           llvm::any_of(loops_, [&](const LoopFacts *loop) {
             return product(loop->gridWidth, *element) == block;
           });
  }

  /// True if the caller promises that nothing else names what the parameter points to.
  bool isRestrict(const std::string &root) const {
    return llvm::any_of(view_.kernel().parameters(), [&](const ParmVarDecl *parameter) {
      return parameter->getName() == root && parameter->getType().isRestrictQualified();
    });
  }

  const KernelView &view_;
  const model::KernelModel &model_;
  unsigned axis_;
  Refusals &refusals_;
  std::vector<const LoopFacts *> loops_;
  bool isProven_ = true, areApart_ = true;
};

std::uint64_t blocksOf(const LaunchShape &launch) {
  return std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
}

std::uint64_t threadsOf(const LaunchShape &launch) {
  return std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
}

/// True if a thread may wait for one of another block: all blocks have to run at once.
bool mayWaitForBlocks(const KernelView &view) {
  return llvm::any_of(view.bodies(), [](const BodyView &body) {
    return llvm::any_of(body.statements, [&](const Stmt *statement) {
      const auto *expression = dyn_cast<Expr>(statement);
      const CudaFunction kind = cudaFunction(statement);
      return isa<AsmStmt>(statement) || kind == CudaFunction::Fence ||
             kind == CudaFunction::Sleep || kind == CudaFunction::Clock ||
             (kind == CudaFunction::Atomic && mayWait(body, cast<CallExpr>(statement))) ||
             (expression && expression->getType().isVolatileQualified());
    });
  });
}

/// Sizes of the grid along one dimension that are worth a try.
class GridSizes {
public:
  GridSizes(const KernelView &view, const model::KernelModel &model, unsigned dimension,
            llvm::ArrayRef<const LoopFacts *> loops, bool waits)
      : view_(view), dimension_(dimension), waits_(waits),
        heaviest_(*std::max_element(
            view.launches.begin(), view.launches.end(),
            [](const LaunchShape &a, const LaunchShape &b) { return a.weight < b.weight; })) {
    const std::uint64_t most = view.threadsPerMultiprocessor;
    full_ =
        std::uint64_t{kMultiprocessors} * std::max<std::uint64_t>(1, most / threadsOf(heaviest_));
    useful_ = 0;
    for (const LoopFacts *loop : loops) {
      const auto bound = valueOf(*loop->bound, model, &heaviest_),
                 width = valueOf(loop->gridWidth, model, &heaviest_);
      const bool isKnown = bound && width && *bound > 0 && *width > 0;
      useful_ = std::max(useful_, isKnown ? std::uint64_t((*bound + *width - 1) / *width)
                                          : std::uint64_t{gpu::kMostGrid[0]});
    }
  }

  /// Factors by which the grid grows until it fills the GPU.
  std::vector<std::int64_t> growth() const {
    std::vector<std::int64_t> factors;
    for (const unsigned factor : {16u, 8u, 4u, 2u})
      if (blocksOf(heaviest_) * factor / 2 < full_ && own() * factor / 2 < useful_ &&
          llvm::all_of(view_.launches, [&](const LaunchShape &launch) {
            return std::uint64_t{launch.grid[dimension_]} * factor <= gpu::kMostGrid[dimension_] &&
                   (!waits_ || blocksOf(launch) * factor * threadsOf(launch) <=
                                   std::uint64_t{kMultiprocessors} * gpu::kMostThreads);
          }))
        factors.push_back(factor);
    return factors;
  }

  /// Divisors that leave the blocks with turns, and those that leave a few for each place.
  std::vector<std::int64_t> shrinkage() const {
    std::vector<std::int64_t> divisors;
    const std::uint64_t used = std::min(own(), useful_), others = blocksOf(heaviest_) / own();
    for (const std::uint64_t wanted : {used, 4 * full_ / others, 2 * full_ / others})
      if (const auto divisor =
              static_cast<std::int64_t>(own() / std::max<std::uint64_t>(1, wanted));
          wanted <= used && divisor > 1 && !llvm::is_contained(divisors, divisor))
        divisors.push_back(divisor);
    return divisors;
  }

private:
  std::uint64_t own() const { return heaviest_.grid[dimension_]; }

  const KernelView &view_;
  unsigned dimension_;
  bool waits_;
  const LaunchShape &heaviest_;
  std::uint64_t full_, useful_; ///< blocks: those that run at once, those that have turns
};

void addGrids(const KernelView &view, const model::KernelModel &model, unsigned dimension,
              const GridLoops &loops, Refusals &refusals, std::vector<Offer> &offers) {
  std::vector<OfferRefusal> ties;
  Refusals unused(view, "", ties);
  const bool areIndependent = areThreadsIndependent(view, /*atomics=*/true, unused);
  const bool waits = !areIndependent && mayWaitForBlocks(view);
  // The threads of one block may be in step by barriers, and its turns have an order.
  if (!(areIndependent && loops.areApart()) &&
      llvm::any_of(view.launches, [](const LaunchShape &launch) { return blocksOf(launch) == 1; }))
    return void(refusals.add("a launch has one block, whose work may depend on its order"));
  const bool isProven = areIndependent && loops.isProven();
  const GridSizes sizes(view, model, dimension, loops.loops(), waits);
  const std::string own = std::string("gridDim.") + "xyz"[dimension];
  const auto add = [&](const char *title, const std::string &grid,
                       std::vector<std::int64_t> values) {
    if (values.empty())
      return;
    Offer offer{"", title, "", {}, LaunchChange{}, {{"FACTOR", std::move(values)}}};
    offer.launch->grid = {"gridDim.x", "gridDim.y", "gridDim.z"};
    offer.launch->grid[dimension] = grid;
    offer.legality = isProven ? Legality::Proven : Legality::Tested;
    if (waits)
      offer.note = "threads may wait for other blocks, so all of them have to run at once";
    else if (!isProven)
      offer.note = "turns of a loop move to other threads, and sums are added in another order";
    offers.push_back(std::move(offer));
  };
  add("launch ${FACTOR} times the blocks", own + " * ${FACTOR}", sizes.growth());
  add("launch a block for ${FACTOR} of today's", "(" + own + " + ${FACTOR} - 1) / ${FACTOR}",
      sizes.shrinkage());
}

} // namespace

std::vector<Offer> gridSizeOffers(const KernelView &view, Refusals &refusals) {
  std::vector<Offer> offers;
  for (const LaunchShape &launch : view.launches)
    if (blocksOf(launch) == 0 || threadsOf(launch) == 0)
      return {};
  const model::KernelModel *model = view.launches.empty() ? nullptr : modelOf(view, refusals);
  if (!model)
    return {};
  for (unsigned dimension = 0; dimension < 3; ++dimension)
    if (GridLoops loops(view, *model, dimension, refusals); !loops.loops().empty() && loops.check())
      addGrids(view, *model, dimension, loops, refusals, offers);
  if (llvm::none_of(model->loops, [](const LoopFacts &loop) { return loop.gridAxis.has_value(); }))
    refusals.add("no loop strides over the grid");
  return offers;
}

} // namespace kopt::frontend
