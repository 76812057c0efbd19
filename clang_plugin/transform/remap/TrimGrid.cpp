// SPDX-License-Identifier: Apache-2.0
// trim-grid: launch no blocks that have no work. Matches kernels whose accesses a guard limits,
// `index < bound` with an index that grows from block to block, where more than half of the blocks
// of each launch are beyond it. Refuses several limits along an axis, stores and atomics under
// other conditions alone, and kernels that ask for the size of the grid.
#include "clang_plugin/model/KernelModel.h"
#include "clang_plugin/transform/ThreadOrder.h"

namespace kopt::frontend {

using model::Polynomial;
using model::Relation;
using model::SymbolKind;

namespace {

/// The blocks from 0 to span / width have an index within the guard.
struct Limit {
  Polynomial span, width;
  bool operator==(const Limit &) const = default;
};

/// What a guard that is `when` where there is work says of the blocks along the axis; nothing if
/// that is no upper limit, or if the host does not know it.
std::optional<Limit> limitOf(const model::Comparison &guard, bool when, unsigned axis,
                             const model::KernelModel &model) {
  const unsigned block = model.coordinate(SymbolKind::BlockIdx, axis);
  const bool isLeft = guard.left.symbols().contains(block);
  const Polynomial &index = isLeft ? guard.left : guard.right;
  const bool hasEqual =
      guard.relation == Relation::LessEqual || guard.relation == Relation::GreaterEqual;
  if (!isUpperLimit(guard, when, block))
    return std::nullopt;
  const auto width = index.growth(block);
  auto span = difference(isLeft ? guard.right : guard.left, index);
  if (!width || width->isZero())
    return std::nullopt;
  // Up to the least index of a block, that of thread 0.
  llvm::SmallVector<std::pair<unsigned, Polynomial>> parts = {{block, *width}};
  for (unsigned each = 0; each < 3; ++each) {
    const unsigned thread = model.coordinate(SymbolKind::ThreadIdx, each);
    const auto growth = index.growth(thread);
    const auto range = growth ? rangeOf(*growth, model) : std::nullopt;
    if (!range || range->low < 0)
      return std::nullopt;
    parts.emplace_back(thread, *growth);
  }
  for (const auto &[symbol, growth] : parts) {
    const auto part = product(growth, Polynomial::ofSymbol(symbol));
    span = span && part ? sum(*span, *part) : std::nullopt;
  }
  span = span && hasEqual != when ? difference(*span, Polynomial::of(1)) : span;
  const auto isKnown = [&](unsigned each) {
    const model::Symbol &symbol = model.symbols[each];
    return symbol.kind == SymbolKind::BlockDim ||
           (symbol.kind == SymbolKind::Scalar && !llvm::StringRef(symbol.name).contains('.'));
  };
  if (!span || !llvm::all_of(span->symbols(), isKnown) || !llvm::all_of(width->symbols(), isKnown))
    return std::nullopt;
  return Limit{*span, *width};
}

/// The one limit that all guards have along the axis; nothing, with a refusal, if there is none.
std::optional<Limit> limitAlong(unsigned axis, const KernelView &view,
                                const model::KernelModel &model, Refusals &refusals) {
  std::optional<Limit> limit;
  for (const model::Access &access : model.accesses) {
    bool mayBeLimited = access.kind == model::AccessKind::Load ||
                        access.space == model::MemorySpace::Shared ||
                        access.space == model::MemorySpace::Local;
    for (const model::Reached &each : access.reached) {
      const model::Condition &condition = model.conditions[each.condition];
      const bool isKnown =
          condition.compared && llvm::all_of(view.launches, [&](const LaunchShape &launch) {
            return hold(condition.compared->assumptions, model, launch);
          });
      const auto found =
          isKnown ? limitOf(*condition.compared, each.when, axis, model) : std::nullopt;
      if (found && limit && limit != found) {
        refusals.add(condition.place, "another guard limits the same axis otherwise");
        return std::nullopt;
      }
      limit = found ? found : limit;
      mayBeLimited |= found || !condition.compared;
    }
    if (!mayBeLimited) {
      refusals.add(access.place, "a store has nothing to do with where blocks have work");
      return std::nullopt;
    }
  }
  return limit;
}

} // namespace

std::vector<Offer> trimGridOffers(const KernelView &view, Refusals &refusals) {
  const model::KernelModel *model = view.launches.empty() ? nullptr : modelOf(view, refusals);
  const auto uses = model ? coordinateUses(view, refusals) : std::nullopt;
  std::vector<Offer> offers;
  if (!uses || !model->blind.empty() || llvm::any_of(*uses, [](const CoordinateUse &use) {
        return use.coordinate.variable == "gridDim";
      })) {
    refusals.add("it may depend on the size of the grid");
    return offers;
  }
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (model->coordinate(SymbolKind::BlockIdx, axis) == model->symbols.size())
      continue;
    const auto limit = limitAlong(axis, view, *model, refusals);
    const bool isIdle = limit && llvm::all_of(view.launches, [&](const LaunchShape &launch) {
                          const auto span = valueOf(limit->span, *model, &launch),
                                     width = valueOf(limit->width, *model, &launch);
                          return span && width && *span >= 0 && *width > 0 &&
                                 *span / *width < launch.grid[axis] / 2;
                        });
    if (!isIdle)
      continue;
    const std::string own = std::string("gridDim.") + "xyz"[axis],
                      span = limit->span.text(model->symbols),
                      width = limit->width.text(model->symbols);
    const bool isBlock = rangeOf(limit->width, *model)->low > 0;
    Offer offer{"", "launch no blocks beyond the last with work", "", {}, LaunchChange{}};
    offer.launch->grid = {"gridDim.x", "gridDim.y", "gridDim.z"};
    const std::string last = "(" + span + ") / (" + width + ")";
    // Without min(), which host code has only for two operands of like types.
    offer.launch->grid[axis] = (isBlock ? "" : "0 < " + width + " && ") + "0 <= " + span + " && " +
                               last + " < " + own + " ? " + last + " + 1 : " + own;
    offer.legality = Legality::Tested;
    offer.note = "what a guard leaves no work is taken to have no effect at all";
    offers.push_back(std::move(offer));
  }
  if (offers.empty())
    refusals.add("no guard shows that more than half of the blocks have no work");
  return offers;
}

} // namespace kopt::frontend
