// SPDX-License-Identifier: Apache-2.0
// unroll: `#pragma unroll` on the counted loops of the kernel and of the device functions it calls,
// and other factors for existing pragmas. Matches `for` loops with a condition. Refuses loops that
// come from a macro, loops under a pragma that is not a plain `#pragma unroll` line,
// and loops known to run at most once. The meaning of the program never changes.
#include "clang_plugin/analysis/BodyText.h"
#include "clang_plugin/analysis/Writes.h"
#include "clang_plugin/transform/Transformation.h"

#include <clang/AST/Attr.h>

namespace kopt::frontend {

using namespace clang;

namespace {

/// A loop known to run more iterations than this is not unrolled fully, to limit the code size.
constexpr long long kMostFullTrips = 64;

/// The iterations of a counted loop whose bounds are constants.
std::optional<long long> tripCount(const KernelView &view, const BodyView &body,
                                   const ForStmt &loop) {
  const auto count = countedLoop(view, body, loop);
  const auto first = count ? view.constant(count->first) : std::nullopt,
             bound = count ? view.constant(count->bound) : std::nullopt;
  if (!first || !bound)
    return std::nullopt;
  const long long distance = count->step > 0 ? *bound - *first : *first - *bound,
                  stride = std::abs(count->step);
  if (count->comparison == BO_NE)
    return distance % stride == 0 && distance >= 0 ? std::optional(distance / stride)
                                                   : std::nullopt;
  const bool isInclusive = count->comparison == BO_LE || count->comparison == BO_GE;
  return std::max(0LL, (distance + isInclusive + stride - 1) / stride);
}

/// The range of an attribute's `#pragma unroll` line, without the newline, if it is a line of the
/// text.
std::optional<SliceEdit> pragmaLine(const KernelView &view, const LoopHintAttr &hint) {
  const auto inside = view.offset(hint.getLocation());
  if (!inside || hint.getSemanticSpelling() != LoopHintAttr::Pragma_unroll)
    return std::nullopt;
  const unsigned begin = lineStart(view.text(), *inside);
  const llvm::StringRef line = view.text().drop_front(begin).split('\n').first;
  llvm::StringRef rest = line.ltrim();
  if (!rest.consume_front("#") || !rest.ltrim().starts_with("pragma") || line.contains("\\") ||
      line.contains("/*"))
    return std::nullopt;
  return SliceEdit{begin + unsigned(line.size() - line.ltrim().size()),
                   begin + unsigned(line.split("//").first.rtrim().size()), ""};
}

std::string heading(const KernelView &view, const ForStmt &loop) {
  const llvm::StringRef text = view.text({loop.getForLoc(), loop.getRParenLoc()});
  std::string line;
  for (char c : text) {
    const bool blank = isspace(static_cast<unsigned char>(c));
    if (!blank || (!line.empty() && line.back() != ' '))
      line += blank ? ' ' : c;
  }
  return line.size() > 60 ? line.substr(0, 57) + "..." : line;
}

std::vector<Offer> offersFor(const KernelView &view, const BodyView &body, const ForStmt &loop) {
  const auto *attributed = dyn_cast_or_null<AttributedStmt>(body.parents.lookup(&loop));
  const unsigned place = *view.offset(loop.getForLoc());
  std::optional<SliceEdit> existing;
  std::string present; // the existing pragma
  if (attributed) {
    const auto *hint = attributed->getAttrs().size() == 1
                           ? dyn_cast<LoopHintAttr>(attributed->getAttrs().front())
                           : nullptr;
    if (!hint || !(existing = pragmaLine(view, *hint)))
      return {};
    const auto factor = hint->getValue() ? view.constant(hint->getValue()) : std::nullopt;
    if (hint->getValue() && !factor)
      return {};
    present = factor ? "#pragma unroll " + std::to_string(*factor) : "#pragma unroll";
  }

  const auto trips = tripCount(view, body, loop);
  if (trips && *trips < 2)
    return {};
  const std::string indentation = view.indentation(place);
  const bool startsLine = lineStart(view.text(), place) + indentation.size() == place;
  std::vector<Offer> offers;
  const auto add = [&](const std::string &pragma, const std::string &title,
                       std::vector<OfferParameter> parameters) {
    if (pragma == present)
      return;
    // A directive needs a line of its own.
    const SliceEdit edit =
        existing ? SliceEdit{existing->begin, existing->end, pragma}
                 : SliceEdit{place, place,
                             (startsLine ? "" : "\n" + indentation) + pragma + "\n" + indentation};
    offers.push_back({"",
                      title + ": " + heading(view, loop),
                      "",
                      {edit},
                      {},
                      std::move(parameters),
                      {},
                      Legality::Proven});
  };
  if (trips && *trips <= kMostFullTrips)
    add("#pragma unroll", "fully unroll", {});
  OfferParameter factor{"FACTOR", {}};
  for (const unsigned value : {4u, 2u, 8u})
    if ((!trips || value < *trips) && present != "#pragma unroll " + std::to_string(value))
      factor.values.push_back(value);
  if (!factor.values.empty())
    add("#pragma unroll ${FACTOR}", "unroll by ${FACTOR}", {factor});
  add("#pragma unroll 1", "do not unroll", {});
  return offers;
}

} // namespace

std::vector<Offer> unrollOffers(const KernelView &view, Refusals &refusals) {
  std::vector<std::pair<std::pair<int, std::size_t>, Offer>> found; // keyed by depth, then place
  llvm::DenseSet<unsigned> seen; // the same code may be instantiated more than once
  for (const BodyView &body : view.bodies()) {
    for (const Stmt *statement : body.statements) {
      const auto *loop = dyn_cast<ForStmt>(statement);
      if (!loop || !loop->getCond())
        continue;
      const auto place = view.offset(loop->getForLoc());
      if (!place || !view.endOffset(loop->getEndLoc())) {
        refusals.add(loop->getForLoc(), "a macro spells the loop");
        continue;
      }
      if (!seen.insert(*place).second)
        continue;
      int depth = 0;
      for (const Stmt *up = loop; (up = loopAround(body, up)); ++depth)
        ;
      for (Offer &offer : offersFor(view, body, *loop))
        found.emplace_back(std::pair(-depth, found.size()), std::move(offer));
    }
  }
  // Innermost loops first: they run most often.
  llvm::sort(found, [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<Offer> offers;
  for (auto &[order, offer] : found)
    offers.push_back(std::move(offer));
  return offers;
}

} // namespace kopt::frontend
