// SPDX-License-Identifier: Apache-2.0
// block-size: launch the same kernel in blocks of another shape, with the grid made to cover the
// same threads. Matches kernels that take their geometry from blockDim: in every dimension d in
// which they read threadIdx, they also read blockDim, and they use blockIdx either only as
// blockIdx.d * blockDim.d (the grid follows) or not at all, with a loop that strides by blockDim
// (the grid stays). Refuses if the block is tied to something else: a constant in the code equal to
// an extent of the present block, or an argument if threads share memory, cooperative groups, CUB,
// WMMA, three dimensions, dynamic shared memory that is not a whole number of bytes per thread.
// Refuses also where an access, by the kernel's model, goes to other places in other blocks.
// Static shared arrays, __launch_bounds__ and grid limits bound the shapes; so do the launches'
// threads, in whole blocks, where no guard stops more of them.
#include "clang_plugin/analysis/BlockGeometry.h"
#include "clang_plugin/model/KernelModel.h"
#include "clang_plugin/transform/Transformation.h"
#include "runtime/device/GpuLimits.h"

#include <clang/AST/Attr.h>
#include <map>
#include <set>
#include <tuple>

namespace kopt::frontend {

using namespace clang;

namespace {

using Block = std::array<unsigned, 3>;

constexpr Block kLineBlocks[] = {{128, 1, 1}, {256, 1, 1}, {512, 1, 1}, {64, 1, 1}, {1024, 1, 1}};
/// The tall ones at the end are for kernels whose neighbouring data lies along threadIdx.y.
constexpr Block kPlaneBlocks[] = {{32, 8, 1},  {32, 16, 1}, {16, 16, 1}, {64, 4, 1},  {32, 4, 1},
                                  {32, 32, 1}, {16, 8, 1},  {128, 2, 1}, {64, 8, 1},  {8, 8, 1},
                                  {8, 32, 1},  {4, 64, 1},  {1, 256, 1}, {8, 128, 1}, {2, 128, 1}};

unsigned threads(const Block &block) { return block[0] * block[1] * block[2]; }

std::string spell(const Block &block) {
  std::string text = std::to_string(block[0]);
  if (block[1] > 1)
    text += "x" + std::to_string(block[1]);
  return text;
}

/// Bytes of dynamic shared memory for another block: the present number of bytes per thread, times
/// its threads; 0 if none is used. Nothing if the launches differ in it, if it is not a whole
/// number of bytes per thread, or if the result exceeds gpu::kSharedWithoutOptIn.
std::optional<unsigned> sharedBytesFor(const KernelView &view, const Block &block) {
  const LaunchShape &first = view.launches.front();
  for (const LaunchShape &launch : view.launches)
    if (launch.sharedBytes != first.sharedBytes ||
        (launch.sharedBytes && launch.block != first.block))
      return std::nullopt;
  if (first.sharedBytes % threads(first.block) != 0)
    return std::nullopt;
  const std::uint64_t bytes =
      std::uint64_t{first.sharedBytes} / threads(first.block) * threads(block);
  return bytes <= gpu::kSharedWithoutOptIn ? std::optional(static_cast<unsigned>(bytes))
                                           : std::nullopt;
}

/// Whether a grid of such blocks is allowed; `exact` becomes false for the axes along which it has
/// more threads than a launch.
bool gridFits(const KernelView &view, const Block &block, std::array<bool, 3> &exact) {
  for (const LaunchShape &launch : view.launches) {
    for (unsigned d = 0; d < 3; ++d) {
      const std::uint64_t covered = std::uint64_t{launch.grid[d]} * launch.block[d];
      exact[d] &= covered % block[d] == 0;
      if ((covered + block[d] - 1) / block[d] > gpu::kMostGrid[d])
        return false;
    }
  }
  return true;
}

/// True if it is only reached, or a loop around it only runs, below a limit of an index with this
/// coordinate.
bool isLimited(const model::Access &access, unsigned block, const model::KernelModel &model) {
  return llvm::any_of(access.reached,
                      [&](const model::Reached &each) {
                        const auto &compared = model.conditions[each.condition].compared;
                        return compared && isUpperLimit(*compared, each.when, block);
                      }) ||
         llvm::any_of(access.loops, [&](unsigned each) {
           const model::LoopFacts &loop = model.loops[each];
           return loop.first && loop.bound && loop.first->symbols().contains(block) &&
                  (loop.relation == model::Relation::Less ||
                   loop.relation == model::Relation::LessEqual);
         });
}

/// Along each axis, whether threads beyond today's reach no memory that they share with others.
std::array<bool, 3> guardedAxes(const KernelView &view, Refusals &refusals) {
  const model::KernelModel *model = modelOf(view, refusals);
  std::array<bool, 3> guarded = {};
  for (unsigned axis = 0; model && model->blind.empty() && axis < 3; ++axis) {
    const unsigned block = model->coordinate(model::SymbolKind::BlockIdx, axis);
    guarded[axis] = llvm::all_of(model->accesses, [&](const model::Access &access) {
      return access.space == model::MemorySpace::Shared ||
             access.space == model::MemorySpace::Local ||
             access.space == model::MemorySpace::Constant || isLimited(access, block, *model) ||
             (access.kind == model::AccessKind::Load && access.offset &&
              !access.offset->symbols().contains(block));
    });
  }
  return guarded;
}

/// Of an access at `(blockIdx * places + shift) * blockDim + threadIdx`, or at that of a loop.
struct Reach {
  std::int64_t places = 0; ///< 0: blockIdx is not in it
  std::int64_t shifts = 1; ///< that many, in a loop that steps by the block; 0: as many as it runs
  std::int64_t shift = 0;
};

/// Nothing if the access is known to have another form along the axis, and with it reaches other
/// places where the same threads stand in blocks of another extent.
std::optional<Reach> reachOf(const model::Access &access, unsigned axis, unsigned threadAxis,
                             const model::KernelModel &model) {
  using model::Polynomial, model::SymbolKind;
  const auto symbol = [&](SymbolKind kind) { return model.coordinate(kind, axis); };
  const unsigned extent = symbol(SymbolKind::BlockDim), block = symbol(SymbolKind::BlockIdx);
  const auto perThread = access.offset->growth(model.coordinate(SymbolKind::ThreadIdx, threadAxis));
  const auto perExtent = access.offset->growth(extent);
  if (!perThread || !perExtent || perThread->isZero())
    return std::nullopt;
  const auto timesThread = [&](const Polynomial &value) -> std::optional<std::int64_t> {
    const std::int64_t times =
        value.isZero() ? 0 : value.terms.begin()->second / perThread->terms.begin()->second;
    return product(*perThread, Polynomial::of(times)) == value ? std::optional(times)
                                                               : std::nullopt;
  };
  Reach reach;
  Polynomial shift;
  for (const auto &[factors, number] : perExtent->terms) {
    const auto loop = llvm::find_if(
        factors, [&](unsigned each) { return model.symbols[each].kind == SymbolKind::Iteration; });
    if (llvm::is_contained(factors, block) ||
        llvm::is_contained(factors, symbol(SymbolKind::GridDim)))
      continue;
    if (loop == factors.end())
      shift.terms[factors] = number;
    else if (reach.shifts != 1 ||
             product(*perThread, Polynomial::ofSymbol(*loop)) != Polynomial{{{factors, number}}})
      return std::nullopt;
    else
      reach.shifts = std::int64_t(model.loops[model.symbols[*loop].index].trips.value_or(0));
  }
  const auto perBlock = perExtent->growth(block);
  const auto places = perBlock ? timesThread(*perBlock) : std::nullopt;
  const auto shifted = timesThread(shift);
  if (!places || !shifted)
    return std::nullopt;
  reach.places = *places;
  reach.shift = *shifted;
  return reach;
}

/// False if an access is known to reach other places where the same threads stand in blocks of
/// another extent along the axis: each pointer must be read, or written, at all places of a block.
bool reachesTheSame(unsigned axis, bool squareOnly, const model::KernelModel &model) {
  const unsigned extent = model.coordinate(model::SymbolKind::BlockDim, axis);
  std::map<std::tuple<std::string, model::AccessKind, std::int64_t>, std::set<std::int64_t>> seen;
  for (const model::Access &access : model.accesses) {
    if (access.space != model::MemorySpace::Global || !access.offset ||
        !access.offset->symbols().contains(extent))
      continue;
    auto reach = reachOf(access, axis, axis, model);
    if (!reach && squareOnly && axis < 2) // the other axis has the same extent
      reach = reachOf(access, axis, 1 - axis, model);
    if (!reach || (reach->places == 0 && reach->shift != 0))
      return false;
    auto &shifts = seen[{access.root, access.kind, reach->places}];
    for (std::int64_t i = 0; i < std::min(reach->shifts, reach->places); ++i)
      shifts.insert(reach->shift + i);
  }
  return llvm::all_of(seen, [](const auto &each) {
    const auto &[key, shifts] = each;
    const std::int64_t places = std::get<2>(key);
    return places == 0 || (std::int64_t(shifts.size()) == places && *shifts.begin() == 0 &&
                           *shifts.rbegin() == places - 1);
  });
}

} // namespace

std::vector<Offer> blockSizeOffers(const KernelView &view, Refusals &refusals) {
  if (view.launches.empty())
    return {};
  for (const LaunchShape &launch : view.launches)
    if (threads(launch.block) == 0 || threads(launch.block) > gpu::kMostThreads)
      return {};
  BlockGeometry geometry(view);
  const auto rule = geometry.rule();
  if (!rule) {
    refusals.add("the block is tied to its size");
    return {};
  }

  const model::KernelModel *model = modelOf(view, refusals);
  for (unsigned axis = 0; model && axis < 3; ++axis)
    if (!reachesTheSame(axis, rule->squareOnly, *model)) {
      refusals.add("what a thread reaches is tied to the block's size");
      return {};
    }

  const auto *bounds = view.kernel().getAttr<CUDALaunchBoundsAttr>();
  const long long mostThreads =
      bounds ? view.constant(bounds->getMaxThreads()).value_or(0) : gpu::kMostThreads;
  std::vector<Offer> offers;
  std::optional<std::array<bool, 3>> guarded;
  for (const Block &block :
       rule->plane ? llvm::ArrayRef(kPlaneBlocks) : llvm::ArrayRef(kLineBlocks)) {
    const bool isPresent = llvm::all_of(
        view.launches, [&](const LaunchShape &launch) { return launch.block == block; });
    std::array<bool, 3> exact = {true, true, true};
    const auto shared = sharedBytesFor(view, block);
    if (isPresent || threads(block) > mostThreads || (rule->squareOnly && block[0] != block[1]) ||
        !shared || (rule->coverGrid && !gridFits(view, block, exact)) ||
        !geometry.sharedArraysHold(block))
      continue;
    const bool isExact = exact == std::array{true, true, true};
    if (!isExact && !guarded)
      guarded = guardedAxes(view, refusals);
    bool isGuarded = true;
    for (unsigned axis = 0; axis < 3; ++axis)
      isGuarded &= exact[axis] || (*guarded)[axis];
    if (!isGuarded) {
      refusals.add("no guard stops the threads of blocks beyond the launches' threads");
      continue;
    }
    Offer offer{"", "launch in blocks of " + spell(block), "", {}, LaunchChange{}};
    for (std::size_t axis = 0; axis < 3; ++axis)
      offer.launch->block[axis] = std::to_string(block[axis]);
    if (rule->coverGrid)
      offer.launch->grid = coveringGrid(block);
    if (*shared) {
      offer.launch->sharedBytes = std::to_string(*shared);
      offer.note = "dynamic shared memory is scaled with the block";
    }
    if (!isExact)
      offer.note += std::string(offer.note.empty() ? "" : "; ") +
                    "the grid grows to whole blocks beyond today's threads";
    offers.push_back(std::move(offer));
  }
  return offers;
}

} // namespace kopt::frontend
