// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/Catalogue.h"

#include "clang_plugin/analysis/KernelView.h"

#include <clang/Frontend/ASTUnit.h>

namespace kopt::frontend {

namespace {

/// Drops the offers whose text does not parse.
void dropUnparsable(const TransformRequest &request, std::vector<Offer> &offers) {
  std::vector<std::vector<Edit>> edits;
  for (const Offer &offer : offers)
    edits.push_back(offer.edits);
  const std::vector<bool> isBroken = findUnparsable(request, edits);
  std::vector<Offer> kept;
  for (std::size_t i = 0; i < offers.size(); ++i)
    if (!isBroken[i])
      kept.push_back(std::move(offers[i]));
  offers = std::move(kept);
}

} // namespace

const std::vector<std::unique_ptr<Transformation>> &catalogue() {
  static const auto *all = [] {
    auto *list = new std::vector<std::unique_ptr<Transformation>>;
    list->push_back(makeSharedPadding());
    list->push_back(makeBlockSize());
    list->push_back(makeLaunchBounds());
    list->push_back(makeReadonlyLoads());
    list->push_back(makeUnroll());
    return list;
  }();
  return *all;
}

llvm::Expected<std::vector<Offer>> findOffers(const TransformRequest &request) {
  const ParsedUnit unit = parseSlice(request, request.slice);
  if (!unit.ast || unit.hasErrors)
    return parseFailure(unit);
  auto view = KernelView::open(*unit.ast, request.kernel, request.expression);
  if (!view)
    return view.takeError();
  view->launches = request.launches;
  view->threadsPerMultiprocessor = threadsPerMultiprocessor(request.arch);

  std::vector<Offer> offers;
  for (const auto &transformation : catalogue()) {
    if (!request.techniques.empty() &&
        !llvm::is_contained(request.techniques, transformation->id()))
      continue;
    for (Offer &offer : transformation->find(*view))
      if (offer.launch || applyEdits(request.slice, offer.edits) != request.slice)
        offers.push_back(std::move(offer));
  }
  dropUnparsable(request, offers);
  return offers;
}

} // namespace kopt::frontend
