// SPDX-License-Identifier: Apache-2.0
// swap-axes: exchange x and y in the text and in the launch, so that the threads of a warp, which
// are neighbours along x, have elements that lie side by side. Matches kernels of independent
// threads that index memory with threadIdx.y alone and threadIdx.x times something. Refuses
// coordinates that macros spell, and grids that are too large along x to be one along y.
#include "clang_plugin/analysis/BodyText.h"
#include "clang_plugin/model/KernelModel.h"
#include "clang_plugin/transform/ThreadOrder.h"
#include "runtime/device/GpuLimits.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// Whether elements lie side by side along y, and apart along x.
bool isAlongY(const model::Access &access) {
  const auto &x = access.strides[0], &y = access.strides[1];
  return access.space != model::MemorySpace::Local && x && y && y->terms.contains({}) &&
         !x->isZero() && !x->terms.contains({});
}

bool areElementsAlongY(const KernelView &view, Refusals &refusals) {
  if (llvm::all_of(view.launches, [](const LaunchShape &launch) {
        return launch.block[1] == 1 && launch.grid[1] == 1;
      }))
    return refusals.add("it is launched along x alone");
  const model::KernelModel *model = modelOf(view, refusals);
  if (model && llvm::none_of(model->accesses, isAlongY))
    return refusals.add("no access has neighbours along y side by side, and those along x apart");
  for (const LaunchShape &launch : view.launches)
    if (launch.grid[0] > gpu::kMostGrid[1])
      return refusals.add("a launch has more blocks along x than there may be along y");
  return model && areThreadsIndependent(view, /*atomics=*/true, refusals);
}

} // namespace

std::vector<Offer> swapAxesOffers(const KernelView &view, Refusals &refusals) {
  if (view.launches.empty() || !areElementsAlongY(view, refusals))
    return {};
  const auto uses = coordinateUses(view, refusals);
  const auto body = bodyText(view, view.pattern());
  if (!uses || !body)
    return {};
  Offer offer{"", "exchange x and y, in the kernel and in the launch", "", {}, LaunchChange{}};
  offer.edits = {{body->begin, body->begin,
                  "\n" + body->inner +
                      "// x and y are exchanged, here and in the launch: a warp's elements lie "
                      "side by side."}};
  for (const CoordinateUse &use : *uses)
    if (use.coordinate.dimension < 2)
      offer.edits.push_back({use.end - 1, use.end, use.coordinate.dimension == 0 ? "y" : "x"});
  offer.launch->grid = {"gridDim.y", "gridDim.x", "gridDim.z"};
  offer.launch->block = {"blockDim.y", "blockDim.x", "blockDim.z"};
  offer.legality = Legality::Proven;
  return {offer};
}

} // namespace kopt::frontend
