// SPDX-License-Identifier: Apache-2.0
// jam: give each thread the elements of 2 to 8 neighbouring blocks along x, along y or along both,
// computed in step: a loop that all of them run becomes one loop, whose loads they share and whose
// sums become arrays in registers. Where a thread's last element fails the kernel's guard, its
// elements are computed one after the other by the former text. Matches kernels of independent
// threads that begin with declarations and a guard `index < bound` for each axis, with a loop whose
// loads do not all differ. Refuses returns beyond the guard, and variables that cannot be arrays.
#include "clang_plugin/analysis/Writes.h"
#include "clang_plugin/transform/remap/Elements.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// True if a load in a loop that is run together is the same for several elements.
bool hasSharedLoad(const KernelView &view, const Elements &elements, const std::vector<Unit> &units,
                   bool isInLoop) {
  return llvm::any_of(units, [&](const Unit &unit) {
    if (unit.loop)
      return hasSharedLoad(view, elements, unit.inside, true);
    return isInLoop && llvm::any_of(unit.parts, [&](const Stmt *part) {
             if (!loadsMemory(part))
               return false;
             std::vector<const Stmt *> inner;
             for (const Stmt *each : unit.parts)
               if (view.work().isWithin(each, part))
                 inner.push_back(each);
             return elements.axesOf(inner) != elements.merged;
           });
  });
}

/// `mostElements`: more a thread leave too few threads.
std::optional<Offer> jam(const KernelView &view, const ThreadBody &body, Axes merged,
                         std::uint64_t mostElements, Refusals &refusals) {
  auto elements = readElements(view, body, merged, ElementOrder::BlocksApart, refusals);
  if (!elements)
    return std::nullopt;
  if (!hasSharedLoad(view, *elements, elements->work, false)) {
    refusals.add(elements->guard.statement->getBeginLoc(),
                 "no loop has loads that several elements of a thread share");
    return std::nullopt;
  }
  const bool isPlane = llvm::popcount(merged) > 1;
  std::array<std::string, 3> factors = {"${FACTOR}", "${FACTOR}", "${FACTOR}"};
  if (isPlane)
    factors = {"${COLUMNS}", "${ROWS}", ""};
  ElementWriter writer(view, body, std::move(*elements), factors, refusals);
  const std::string blocks = isPlane ? "${ROWS} x ${COLUMNS}" : "${FACTOR}";
  const std::string text = writer.write(
      "Each thread has the elements of " + blocks + " blocks, and computes them in step.", "");
  if (text.empty())
    return std::nullopt;
  Offer offer{"",
              "compute " + blocks + " elements a thread, a block apart" +
                  (isPlane ? "" : std::string(" along ") + "xyz"[llvm::countr_zero(merged)]) +
                  ", in step",
              "the launch has to have a thread for each element",
              {{body.begin, body.end, text}},
              LaunchChange{{"gridDim.x", "gridDim.y", "gridDim.z"}, {}, ""}};
  for (unsigned axis = 0; axis < 3; ++axis)
    if (merged >> axis & 1)
      offer.launch->grid[axis] = "(gridDim." + std::string(1, "xyz"[axis]) + " + " + factors[axis] +
                                 " - 1) / " + factors[axis];
  if (isPlane) {
    const std::int64_t most = mostElements >= 64 ? 8 : mostElements >= 16 ? 4 : 2;
    offer.parameters = {{"ROWS", {most}}, {"COLUMNS", {most}}};
    for (OfferParameter &parameter : offer.parameters)
      if (most > 2)
        parameter.values.push_back(most / 2);
  } else {
    offer.parameters = {{"FACTOR", {}}};
    for (const unsigned factor : {4u, 2u, 8u})
      if (factor <= mostElements)
        offer.parameters.front().values.push_back(factor);
  }
  if (writer.writesUnroll())
    offer.parameters.push_back({"UNROLL", {2, 4}});
  return offer;
}

} // namespace

std::vector<Offer> jamOffers(const KernelView &view, Refusals &refusals) {
  std::vector<Offer> offers;
  std::uint64_t threads = 0;
  for (const LaunchShape &launch : view.launches)
    threads = std::max(threads, allThreadsOf(launch));
  const std::uint64_t mostElements = threads / (2 * kFewThreads);
  std::vector<Axes> choices;
  for (const Axes merged : {0b011u, 0b010u, 0b001u})
    if (mostElements >= 2u * llvm::popcount(merged) &&
        llvm::any_of(view.launches, [&](const LaunchShape &launch) {
          return (!(merged & 1) || launch.grid[0] > 3) && (!(merged & 2) || launch.grid[1] > 3);
        }))
      choices.push_back(merged);
  ThreadBody body(view, refusals);
  if (choices.empty() || !body.read())
    return {};
  for (const Axes merged : choices)
    if (auto offer = jam(view, body, merged, mostElements, refusals))
      offers.push_back(std::move(*offer));
  return offers;
}

} // namespace kopt::frontend
