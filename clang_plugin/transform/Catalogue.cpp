// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/Catalogue.h"

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/model/KernelModel.h"
#include "runtime/device/GpuLimits.h"

#include <algorithm>

namespace kopt::frontend {

namespace {

/// Drops the offers whose text does not parse with the first values of their parameters: another
/// number changes no syntax.
void dropUnparsable(const KernelSource &request, std::vector<Offer> &offers) {
  std::vector<std::vector<SliceEdit>> edits;
  for (const Offer &offer : offers) {
    std::map<std::string, std::int64_t> values;
    for (const OfferParameter &parameter : offer.parameters)
      values[parameter.name] = parameter.values.front();
    edits.push_back(withValues(offer, values).edits);
  }
  const std::vector<bool> isBroken = findUnparsable(request, edits);
  std::vector<Offer> kept;
  for (std::size_t i = 0; i < offers.size(); ++i)
    if (!isBroken[i])
      kept.push_back(std::move(offers[i]));
  offers = std::move(kept);
}

/// The catalogue, in the order of its offers.
constexpr std::pair<const char *, std::vector<Offer> (*)(const KernelView &, Refusals &)>
    kRewrites[] = {{"loop-split", loopSplitOffers},
                   {"swap-axes", swapAxesOffers},
                   {"stage", stageOffers},
                   {"jam", jamOffers},
                   {"specialise", specialiseOffers},
                   {"grid-size", gridSizeOffers},
                   {"trim-grid", trimGridOffers},
                   {"arithmetic", arithmeticOffers},
                   {"vectorize", vectorizeOffers},
                   {"coarsen", coarsenOffers},
                   {"grid-stride", gridStrideOffers},
                   {"block-size", blockSizeOffers},
                   {"shared-padding", sharedPaddingOffers},
                   {"readonly-loads", readonlyLoadsOffers},
                   {"unroll", unrollOffers},
                   {"launch-bounds", launchBoundsOffers}};

static_assert(std::ranges::equal(kRewrites, kRewriteIds, {},
                                 [](const auto &each) { return std::string_view(each.first); }));

} // namespace

bool Refusals::add(clang::SourceLocation at, const llvm::Twine &why) {
  const clang::SourceManager &sources = view_.context().getSourceManager();
  return keep(sources.getExpansionLineNumber(at), why);
}

bool Refusals::add(const clang::Stmt *at, const llvm::Twine &why) {
  return add(at->getBeginLoc(), why);
}

bool Refusals::add(const model::Place &at, const llvm::Twine &why) { return keep(at.line, why); }

bool Refusals::add(const llvm::Twine &why) { return keep(0, why); }

bool Refusals::keep(unsigned line, const llvm::Twine &why) {
  const OfferRefusal refusal{technique_, line, why.str()};
  if (llvm::none_of(list_, [&](const OfferRefusal &each) {
        return each.technique == technique_ && each.line == line && each.why == refusal.why;
      }))
    list_.push_back(refusal);
  return false;
}

const model::KernelModel *modelOf(const KernelView &view, Refusals &refusals) {
  if (!view.model) {
    llvm::Expected<model::KernelModel> made = model::makeModel(view);
    if (made)
      view.model = std::make_shared<const model::KernelModel>(std::move(*made));
    else
      refusals.add(llvm::toString(made.takeError()));
  }
  return view.model.get();
}

llvm::Expected<OfferList> findOffers(const TransformRequest &request) {
  auto slice = openSlice(request.source);
  if (!slice)
    return slice.takeError();
  slice->view.launches = request.launches;
  llvm::StringRef arch = request.source.arch;
  unsigned capability = 0;
  arch.consume_front("sm_");
  arch.consumeInteger(10, capability);
  slice->view.threadsPerMultiprocessor = gpu::threadsPerMultiprocessor(capability);

  OfferList reply;
  std::vector<Offer> &offers = reply.offers;
  for (const auto &[technique, find] : kRewrites) {
    if (!request.techniques.empty() && !llvm::is_contained(request.techniques, technique))
      continue;
    Refusals refusals(slice->view, technique, reply.refusals);
    for (Offer &offer : find(slice->view, refusals)) {
      if (offer.launch && llvm::StringRef(request.source.slice).contains("__cluster_dims__")) {
        refusals.add("the grid has to be a multiple of the cluster");
        continue;
      }
      llvm::erase_if(offer.edits, [](const SliceEdit &each) {
        return each.begin == each.end && each.text.empty();
      });
      llvm::stable_sort(offer.edits, [](const SliceEdit &a, const SliceEdit &b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
      });
      if (offer.launch || applyEdits(request.source.slice, offer.edits) != request.source.slice) {
        offer.technique = technique;
        offers.push_back(std::move(offer));
      }
    }
  }
  dropUnparsable(request.source, offers);
  return reply;
}

} // namespace kopt::frontend
