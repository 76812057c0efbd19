// SPDX-License-Identifier: Apache-2.0
// launch-bounds: tell the compiler how many threads a block has, and how many blocks should fit on
// a multiprocessor, so that it can use all registers that this allows. Matches any kernel whose
// launches are known. Refuses a kernel with __maxnreg__ (the two exclude each other), with a
// cluster bound, or whose bounds or name come from a macro. Existing bounds are replaced in place,
// on every redeclaration.
#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/transform/Transformation.h"
#include "runtime/device/GpuLimits.h"

#include <clang/AST/Attr.h>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kMostBlocks = 4;

struct Bounds {
  unsigned threads = 0, minBlocks = 0; ///< minBlocks 0: not given
  bool operator==(const Bounds &) const = default;
};

std::string spell(const Bounds &bounds) {
  std::string text = "__launch_bounds__(" + std::to_string(bounds.threads);
  if (bounds.minBlocks)
    text += ", " + std::to_string(bounds.minBlocks);
  return text + ")";
}

/// The range of the `__launch_bounds__(…)` in the text; nothing if a macro spells the attribute.
std::optional<SliceEdit> spelledBounds(const KernelView &view,
                                       const CUDALaunchBoundsAttr &attribute) {
  const SourceManager &sources = view.context().getSourceManager();
  const CharSourceRange range = sources.getExpansionRange(attribute.getRange());
  const auto begin = view.offset(range.getBegin()), end = view.endOffset(range.getEnd());
  if (!begin || !end || !view.text().slice(*begin, *end).starts_with("__launch_bounds__"))
    return std::nullopt;
  return SliceEdit{*begin, *end, ""};
}

/// True if the kernel has __maxnreg__. Clang does not know it and drops it from the AST, so the
/// text before the name is searched.
bool limitsRegisters(const KernelView &view, unsigned nameOffset) {
  // The declaration usually begins with the macro __global__.
  const auto begin =
      view.offset(view.context().getSourceManager().getExpansionLoc(view.pattern().getBeginLoc()));
  return !begin || view.text().slice(*begin, nameOffset).contains("__maxnreg__");
}

} // namespace

std::vector<Offer> launchBoundsOffers(const KernelView &view, Refusals &refusals) {
  unsigned threads = 0;
  for (const LaunchShape &launch : view.launches)
    threads = std::max(threads, launch.block[0] * launch.block[1] * launch.block[2]);
  if (threads == 0 || threads > gpu::kMostThreads)
    return {};

  std::vector<SliceEdit> places; // where the bounds are inserted or replaced
  std::optional<Bounds> present;
  for (const FunctionDecl *declaration : view.pattern().redecls()) {
    for (const auto *attribute : declaration->specific_attrs<CUDALaunchBoundsAttr>()) {
      if (attribute->isInherited())
        continue;
      const auto place = spelledBounds(view, *attribute);
      if (!place || attribute->getMaxBlocks()) {
        refusals.add(attribute->getLocation(), "the bounds are a macro's, or those of a cluster");
        return {};
      }
      places.push_back(*place);
    }
  }
  if (const auto *attribute = view.kernel().getAttr<CUDALaunchBoundsAttr>()) {
    const auto most = view.constant(attribute->getMaxThreads());
    const auto least = attribute->getMinBlocks() ? view.constant(attribute->getMinBlocks()) : 0;
    if (most && least)
      present = Bounds{static_cast<unsigned>(*most), static_cast<unsigned>(*least)};
  }

  const FunctionDecl &pattern = view.pattern();
  const SourceLocation name =
      pattern.getQualifierLoc() ? pattern.getQualifierLoc().getBeginLoc() : pattern.getLocation();
  const auto nameOffset = view.offset(name);
  if (!nameOffset || limitsRegisters(view, *nameOffset)) {
    refusals.add(pattern.getLocation(), "a macro spells the name, or __maxnreg__ stands there");
    return {};
  }
  const bool add = places.empty();
  if (add)
    places.push_back({*nameOffset, *nameOffset, ""});

  std::vector<Offer> offers;
  for (unsigned blocks = 0; blocks <= kMostBlocks; ++blocks) {
    const Bounds bounds{threads, blocks};
    if (blocks * threads > view.threadsPerMultiprocessor || present == bounds)
      continue;
    Offer offer{"", (add ? "add " : "change to ") + spell(bounds), "", places, {}};
    offer.legality = Legality::Proven;
    for (SliceEdit &edit : offer.edits)
      edit.text = spell(bounds) + (add ? " " : "");
    offers.push_back(std::move(offer));
  }
  return offers;
}

} // namespace kopt::frontend
