// SPDX-License-Identifier: Apache-2.0
// unroll: `#pragma unroll` on the counted loops of the kernel and of the device functions it calls,
// and other factors for existing pragmas. Matches `for` loops with a condition. Refuses loops that
// come from a macro, loops under a pragma that is not a plain `#pragma unroll` line,
// and loops known to run at most once. The meaning of the program never changes.
#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/transform/Transformation.h"

#include <clang/AST/Attr.h>

namespace kopt::frontend {

using namespace clang;

namespace {

/// A loop known to run more iterations than this is not unrolled fully, to limit the code size.
constexpr long long kMostFullTrips = 64;

/// True if the statement assigns to the variable or takes its address.
bool changes(const Stmt *statement, llvm::function_ref<bool(const Expr *)> isVariable) {
  if (!statement)
    return false;
  if (const auto *unary = dyn_cast<UnaryOperator>(statement);
      unary && (unary->isIncrementDecrementOp() || unary->getOpcode() == UO_AddrOf) &&
      isVariable(unary->getSubExpr()))
    return true;
  if (const auto *binary = dyn_cast<BinaryOperator>(statement);
      binary && binary->isAssignmentOp() && isVariable(binary->getLHS()))
    return true;
  return llvm::any_of(statement->children(),
                      [&](const Stmt *child) { return changes(child, isVariable); });
}

/// The iterations of `for (i = a; i < b; i += c)` and its mirror images, if a, b and c are
/// constants and the body does not change i.
std::optional<long long> tripCount(const KernelView &view, const ForStmt &loop) {
  const VarDecl *variable = nullptr;
  const Expr *start = nullptr;
  if (const auto *declaration = dyn_cast_or_null<DeclStmt>(loop.getInit())) {
    variable =
        declaration->isSingleDecl() ? dyn_cast<VarDecl>(declaration->getSingleDecl()) : nullptr;
    start = variable ? variable->getInit() : nullptr;
  } else if (const auto *assignment = dyn_cast_or_null<BinaryOperator>(loop.getInit())) {
    if (const auto *reference = dyn_cast<DeclRefExpr>(assignment->getLHS()->IgnoreParenImpCasts());
        reference && assignment->getOpcode() == BO_Assign)
      variable = dyn_cast<VarDecl>(reference->getDecl());
    start = assignment->getRHS();
  }
  const auto isVariable = [&](const Expr *expression) {
    const auto *reference = dyn_cast<DeclRefExpr>(expression->IgnoreParenImpCasts());
    return reference && reference->getDecl() == variable;
  };
  const auto *condition = dyn_cast_or_null<BinaryOperator>(loop.getCond());
  if (!variable || !condition || !condition->isComparisonOp())
    return std::nullopt;

  long long step = 0;
  if (const auto *unary = dyn_cast_or_null<UnaryOperator>(loop.getInc());
      unary && unary->isIncrementDecrementOp() && isVariable(unary->getSubExpr())) {
    step = unary->isIncrementOp() ? 1 : -1;
  } else if (const auto *compound = dyn_cast_or_null<CompoundAssignOperator>(loop.getInc());
             compound && isVariable(compound->getLHS())) {
    const auto amount = view.constant(compound->getRHS());
    if (amount && compound->getOpcode() == BO_AddAssign)
      step = *amount;
    else if (amount && compound->getOpcode() == BO_SubAssign)
      step = -*amount;
  }
  BinaryOperatorKind comparison = condition->getOpcode();
  const Expr *limit = condition->getRHS();
  if (!isVariable(condition->getLHS())) {
    if (!isVariable(condition->getRHS()))
      return std::nullopt;
    comparison = BinaryOperator::reverseComparisonOp(comparison);
    limit = condition->getLHS();
  }
  const auto first = view.constant(start), last = view.constant(limit);
  if (!first || !last || step == 0)
    return std::nullopt;

  if (changes(loop.getBody(), isVariable))
    return std::nullopt;

  const auto runs = [](long long distance, long long stride) {
    return (distance + stride - 1) / stride;
  };
  switch (comparison) {
  case BO_LT:
    return step > 0 ? std::optional(std::max(0LL, runs(*last - *first, step))) : std::nullopt;
  case BO_LE:
    return step > 0 ? std::optional(std::max(0LL, runs(*last - *first + 1, step))) : std::nullopt;
  case BO_GT:
    return step < 0 ? std::optional(std::max(0LL, runs(*first - *last, -step))) : std::nullopt;
  case BO_GE:
    return step < 0 ? std::optional(std::max(0LL, runs(*first - *last + 1, -step))) : std::nullopt;
  case BO_NE:
    return (*last - *first) % step == 0 && (*last - *first) / step >= 0
               ? std::optional((*last - *first) / step)
               : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// The range of an attribute's `#pragma unroll` line, without the newline, if it is a line of the
/// text.
std::optional<SliceEdit> pragmaLine(const KernelView &view, const LoopHintAttr &hint) {
  const auto inside = view.offset(hint.getLocation());
  if (!inside || hint.getSemanticSpelling() != LoopHintAttr::Pragma_unroll)
    return std::nullopt;
  const llvm::StringRef text = view.text();
  const unsigned lineBegin = text.take_front(*inside).rfind('\n') + 1;
  const unsigned lineEnd = std::min(text.find('\n', *inside), text.size());
  const llvm::StringRef line = text.slice(lineBegin, lineEnd);
  const llvm::StringRef directive = line.ltrim();
  llvm::StringRef rest = directive;
  if (!rest.consume_front("#") || !rest.ltrim().starts_with("pragma") || line.contains("\\") ||
      line.contains("/*"))
    return std::nullopt;
  const unsigned begin = lineBegin + (line.size() - directive.size());
  return SliceEdit{begin, begin + static_cast<unsigned>(directive.split("//").first.rtrim().size()),
                   ""};
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

std::vector<Offer> offersFor(const KernelView &view, const ForStmt &loop,
                             const AttributedStmt *attributed) {
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

  const auto trips = tripCount(view, loop);
  if (trips && *trips < 2)
    return {};
  const std::string indentation = view.indentation(place);
  const bool startsLine =
      view.text().take_front(place).rfind('\n') + 1 + indentation.size() == place;
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
      for (const Stmt *up = body.parents.lookup(loop); up; up = body.parents.lookup(up))
        depth += isa<ForStmt>(up) || isa<WhileStmt>(up) || isa<DoStmt>(up);
      const auto *attributed = dyn_cast_or_null<AttributedStmt>(body.parents.lookup(loop));
      for (Offer &offer : offersFor(view, *loop, attributed))
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
