// SPDX-License-Identifier: Apache-2.0
// grid-stride: `if (i < n)` with i = blockIdx.x * b + threadIdx.x becomes a loop that strides over
// the grid, which gets fewer blocks: a part of today's, or as many as run at once. Matches kernels
// of independent threads whose place along x goes into i alone. Refuses what stands before the
// guard and does more than declare, other guards, and launches with fewer threads than elements,
// which a loop would go beyond.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/transform/remap/IndexGuard.h"
#include "clang_plugin/transform/remap/ThreadBody.h"

namespace kopt::frontend {

using namespace clang;

namespace {

class GridStrider {
public:
  GridStrider(const KernelView &view, Refusals &refusals)
      : view_(view), refusals_(refusals), body_(view, refusals),
        changing_(view.work().changingVariables()) {}

  std::vector<Offer> run() {
    std::vector<SliceEdit> edits;
    if (view_.launches.empty() || !match() || !body_.read() || !checkUses() || !write(edits))
      return {};
    const LaunchShape &heaviest = *std::max_element(
        view_.launches.begin(), view_.launches.end(),
        [](const LaunchShape &a, const LaunchShape &b) { return a.weight < b.weight; });
    const unsigned threads = heaviest.block[0] * heaviest.block[1] * heaviest.block[2],
                   resident =
                       kMultiprocessors * std::max(1u, view_.threadsPerMultiprocessor / threads);
    std::vector<std::int64_t> factors;
    for (const unsigned factor : {4u, 2u, 8u})
      if (allThreadsOf(heaviest) / factor >= 4 * kFewThreads)
        factors.push_back(factor);
    std::vector<Offer> offers;
    const auto add = [&](const std::string &title, const std::string &grid,
                         std::vector<OfferParameter> parameters) {
      Offer offer{"",    title,          "the launch has to have a thread for each element",
                  edits, LaunchChange{}, std::move(parameters)};
      offer.launch->grid = {grid, "gridDim.y", "gridDim.z"};
      offers.push_back(std::move(offer));
    };
    if (!factors.empty())
      add("stride over the grid, with a block for ${FACTOR} of today's",
          "(gridDim.x + ${FACTOR} - 1) / ${FACTOR}", {{"FACTOR", factors}});
    const std::string most = std::to_string(resident);
    if (heaviest.grid[0] > 2 * resident)
      add("stride over a grid of at most " + most + " blocks",
          "gridDim.x < " + most + " ? gridDim.x : " + most, {});
    return offers;
  }

private:
  bool match() {
    auto guard = readGuard(view_, refusals_);
    if (!guard)
      return false;
    guard_ = std::move(*guard);
    if (guard_.tests.size() != 1 || guard_.tests.front().axis != 0 ||
        cast<BinaryOperator>(guard_.statement->getCond()->IgnoreParenImpCasts())->isLogicalOp())
      return refusals_.add(guard_.statement, "it is not `if (i < n)` or `if (i >= n) return;`");
    for (const DeclStmt *declaration : guard_.declarations)
      if (declaration->isSingleDecl() &&
          declaration->getSingleDecl() == variableOf(guard_.tests.front().index)) {
        declaration_ = declaration;
        index_ = cast<VarDecl>(declaration->getSingleDecl());
      }
    if (!index_ || changing_.contains(index_) || index_->getInitStyle() != VarDecl::CInit ||
        !index_->getType()->isIntegerType())
      return refusals_.add(guard_.statement,
                           "it does not compare a fixed index with a fixed bound");
    for (const LaunchShape &launch : view_.launches)
      if (std::uint64_t{launch.grid[0]} * launch.block[0] > INT32_MAX / 2)
        return refusals_.add(guard_.statement, "the index may wrap with a step of the grid");
    return true;
  }

  /// What stands before the loop happens once a thread, as it did, and knows no element.
  bool checkUses() {
    const BodyView &kernel = view_.work();
    for (const CoordinateUse &use : body_.uses())
      if (use.coordinate.dimension == 0 && !use.body->isWithin(use.expression, declaration_))
        return refusals_.add(use.expression, "the place of the thread along x has another use");
    for (const DeclStmt *declaration : guard_.declarations)
      for (const Decl *each : declaration->decls()) {
        const auto *variable = dyn_cast<VarDecl>(each);
        if (each != index_ &&
            (!variable || changing_.contains(variable) || variable->getType()->isReferenceType() ||
             llvm::any_of(kernel.statements, [&](const Stmt *part) {
               return kernel.isWithin(part, declaration) &&
                      (isa<CallExpr>(part) || variableOf(dyn_cast<Expr>(part)) == index_);
             })))
          return refusals_.add(declaration, "a declaration before the test is not fixed");
      }
    return true;
  }

  /// What blockIdx.x is multiplied by in the index, as one summand; null for other spellings.
  const Expr *factorOfBlock() const {
    const auto isBlock = [](const CoordinateUse &use) {
      return use.coordinate.variable == "blockIdx" && use.coordinate.dimension == 0;
    };
    const auto use = llvm::find_if(body_.uses(), isBlock);
    const Expr *factor = llvm::count_if(body_.uses(), isBlock) == 1 ? otherFactor(*use) : nullptr;
    if (!factor)
      return nullptr;
    const auto above = [&](const Stmt *part) {
      do
        part = use->body->parentOf(part);
      while (isa_and_nonnull<CastExpr>(part));
      return part;
    };
    const Stmt *sum = above(above(factor));
    while (isa_and_nonnull<BinaryOperator>(sum) && cast<BinaryOperator>(sum)->getOpcode() == BO_Add)
      sum = above(sum);
    return sum == declaration_ ? factor : nullptr;
  }

  bool write(std::vector<SliceEdit> &edits) {
    const Expr *factor = factorOfBlock();
    if (!factor)
      return refusals_.add(declaration_, "the index is not blockIdx.x * b + threadIdx.x");
    std::string width = view_.text(factor->getSourceRange()).str();
    if (isa<BinaryOperator, ConditionalOperator>(factor->IgnoreImpCasts()))
      width = "(" + width + ")";
    const llvm::StringRef bound = view_.text(guard_.tests.front().bound->getSourceRange());
    llvm::StringRef declared =
        view_.text({declaration_->getBeginLoc(), index_->getInit()->getEndLoc()});
    declared.consume_front("const ");
    const auto start = view_.offset(declaration_->getBeginLoc()),
               semicolon = view_.endOffset(declaration_->getEndLoc()),
               test = view_.offset(guard_.statement->getBeginLoc()),
               then = view_.offset(guard_.statement->getThen()->getBeginLoc()),
               behind = endOfStatement(view_, guard_.statement);
    if (width.empty() || bound.empty() || declared.empty() || declared.contains("const ") ||
        !start || !semicolon || !test || !then || !behind)
      return refusals_.add(guard_.statement, "a macro spells a part of the index or its test");
    const std::string name = index_->getName().str(),
                      head = "// Each thread takes the elements that are a grid apart.\n" +
                             body_.inner + "for (" + declared.str() + "; " + name + " < " +
                             bound.str() + "; " + name + " += gridDim.x * " + width + ")";
    // The declaration goes with its line.
    const llvm::StringRef rest = view_.text().drop_front(*semicolon);
    const unsigned blanks = rest.size() - rest.ltrim(" \t\n").size();
    edits = {{*start, *semicolon + blanks, ""}};
    if (!guard_.leaves) {
      edits.push_back({*test, *then, head + " "});
      edits.insert(edits.end(), body_.returns().begin(), body_.returns().end());
      return true;
    }
    edits.push_back({*test, body_.end,
                     head + " {\n" +
                         body_.indented(body_.edited(*behind, body_.end, body_.returns())) +
                         body_.inner + "}\n" + body_.outer});
    return true;
  }

  const KernelView &view_;
  Refusals &refusals_;
  ThreadBody body_;
  const llvm::DenseSet<const VarDecl *> changing_;
  IndexGuard guard_;
  const DeclStmt *declaration_ = nullptr; ///< of the index
  const VarDecl *index_ = nullptr;
};

} // namespace

std::vector<Offer> gridStrideOffers(const KernelView &view, Refusals &refusals) {
  return GridStrider(view, refusals).run();
}

} // namespace kopt::frontend
