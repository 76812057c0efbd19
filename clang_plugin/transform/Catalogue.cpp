// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/Catalogue.h"

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/parse/ParseCuda.h"

#include <clang/Frontend/ASTUnit.h>

namespace kopt::frontend {

namespace {

ParsedUnit parseSlice(const TransformRequest &request, const std::string &text) {
  ParseRequest parse;
  parse.file = "kopt-slice.cu";
  parse.content = text;
  parse.nvccFlags = request.flags;
  const bool namesArch = llvm::any_of(request.flags, [](llvm::StringRef flag) {
    return flag.contains("-arch") || flag.contains("-gencode") || flag.contains("-generate-code");
  });
  if (!request.arch.empty() && !namesArch)
    parse.nvccFlags.push_back("-arch=" + request.arch);
  parse.directory = request.directory;
  return parseCuda(parse);
}

llvm::Error parseFailure(const ParsedUnit &unit) {
  for (const Diagnostic &diagnostic : unit.diagnostics)
    if (diagnostic.severity == "error" || diagnostic.severity == "fatal")
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "the slice does not parse: " + diagnostic.file + ":" +
                                         llvm::Twine(diagnostic.line) + ": " + diagnostic.message);
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "the slice does not parse");
}

bool parses(const TransformRequest &request, const std::vector<Edit> &edits) {
  const ParsedUnit unit = parseSlice(request, applyEdits(request.slice, edits));
  return unit.ast && !unit.hasErrors;
}

bool overlaps(const std::vector<Edit> &left, const std::vector<Edit> &right) {
  for (const Edit &a : left)
    for (const Edit &b : right)
      if (a.begin <= b.end && b.begin <= a.end)
        return true;
  return false;
}

/// Drops the offers whose text does not parse. One parse costs half a second, so offers that touch
/// different places are tried together, and one by one only where that fails.
void dropUnparsable(const TransformRequest &request, std::vector<Offer> &offers) {
  std::vector<bool> isTried(offers.size());
  std::vector<bool> isBroken(offers.size());
  for (std::size_t first = 0; first < offers.size(); ++first) {
    if (isTried[first] || offers[first].edits.empty())
      continue;
    std::vector<std::size_t> batch;
    std::vector<Edit> edits;
    for (std::size_t i = first; i < offers.size(); ++i) {
      if (isTried[i] || offers[i].edits.empty() || overlaps(edits, offers[i].edits))
        continue;
      isTried[i] = true;
      batch.push_back(i);
      edits.insert(edits.end(), offers[i].edits.begin(), offers[i].edits.end());
    }
    llvm::sort(edits, [](const Edit &a, const Edit &b) { return a.begin < b.begin; });
    if (parses(request, edits))
      continue;
    for (std::size_t i : batch)
      isBroken[i] = batch.size() == 1 || !parses(request, offers[i].edits);
  }
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

std::string applyEdits(const std::string &text, const std::vector<Edit> &edits) {
  std::string result;
  std::size_t position = 0;
  for (const Edit &edit : edits) {
    result.append(text, position, edit.begin - position);
    result += edit.text;
    position = edit.end;
  }
  return result.append(text, position);
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
