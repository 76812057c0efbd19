// SPDX-License-Identifier: Apache-2.0
// launch-bounds: tell the compiler how many threads a block has, and how many blocks should fit on
// a multiprocessor: half of its threads, all of them, or a single block, which may have all
// registers. Numbers between these mostly give the same machine code. Matches any kernel whose
// launches are known. Refuses a kernel with __maxnreg__ (the two exclude each other), with a
// cluster bound, or whose bounds or name come from a macro. Existing bounds are replaced in place,
// on every redeclaration.
#include "clang_plugin/analysis/BodyText.h"
#include "clang_plugin/transform/Transformation.h"
#include "runtime/device/GpuLimits.h"

#include <clang/AST/Attr.h>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kMostBlocks = 16; ///< that every GPU takes on a multiprocessor

/// The numbers of blocks, without the one that is there already.
std::vector<std::int64_t> blocksFor(const KernelView &view, unsigned threads) {
  std::optional<long long> present;
  if (const auto *bounds = view.kernel().getAttr<CUDALaunchBoundsAttr>();
      bounds && view.constant(bounds->getMaxThreads()) == threads)
    present = bounds->getMinBlocks() ? view.constant(bounds->getMinBlocks()) : 1;
  const unsigned most = view.threadsPerMultiprocessor / threads;
  std::vector<std::int64_t> blocks;
  for (const std::int64_t each : {std::min(most / 2, kMostBlocks), std::min(most, kMostBlocks), 1u})
    if (each > 0 && each <= most && each != present && !llvm::is_contained(blocks, each))
      blocks.push_back(each);
  return blocks;
}

} // namespace

std::vector<Offer> launchBoundsOffers(const KernelView &view, Refusals &refusals) {
  unsigned threads = 0;
  for (const LaunchShape &launch : view.launches)
    threads = std::max(threads, launch.block[0] * launch.block[1] * launch.block[2]);
  if (threads == 0 || threads > gpu::kMostThreads)
    return {};

  const SourceManager &sources = view.context().getSourceManager();
  const FunctionDecl &pattern = view.pattern();
  Offer offer;
  for (const FunctionDecl *declaration : pattern.redecls())
    for (const auto *attribute : declaration->specific_attrs<CUDALaunchBoundsAttr>()) {
      if (attribute->isInherited())
        continue;
      const auto place =
          spanOf(view, sources.getExpansionRange(attribute->getRange()).getAsRange());
      if (!place || attribute->getMaxBlocks() ||
          !view.text().drop_front(place->begin).starts_with("__launch_bounds__")) {
        refusals.add(attribute->getLocation(), "the bounds are a macro's, or those of a cluster");
        return {};
      }
      offer.edits.push_back({place->begin, place->end, ""});
    }

  const auto name = view.offset(pattern.getQualifierLoc() ? pattern.getQualifierLoc().getBeginLoc()
                                                          : pattern.getLocation());
  // The declaration usually begins with the macro __global__. Clang does not know __maxnreg__ and
  // drops it from the AST.
  const auto begin = view.offset(sources.getExpansionLoc(pattern.getBeginLoc()));
  if (!name || !begin || view.text().slice(*begin, *name).contains("__maxnreg__")) {
    refusals.add(pattern.getLocation(), "a macro spells the name, or __maxnreg__ stands there");
    return {};
  }
  const bool isNew = offer.edits.empty();
  if (isNew)
    offer.edits.push_back({*name, *name, ""});
  const std::string bounds = "__launch_bounds__(" + std::to_string(threads) + ", ${BLOCKS})";
  for (SliceEdit &edit : offer.edits)
    edit.text = bounds + (isNew ? " " : "");
  offer.title = (isNew ? "add " : "change to ") + bounds;
  offer.parameters = {{"BLOCKS", blocksFor(view, threads)}};
  offer.note = "launches of larger blocks than the measured ones fail";
  return offer.parameters.front().values.empty() ? std::vector<Offer>() : std::vector{offer};
}

} // namespace kopt::frontend
