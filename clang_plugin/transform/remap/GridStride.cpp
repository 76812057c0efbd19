// SPDX-License-Identifier: Apache-2.0
// grid-stride: `if (i < n)` with i = blockIdx.x * b + threadIdx.x becomes a loop that strides over
// the grid, which gets fewer blocks: a part of today's, or as many as run at once. Matches kernels
// of independent threads whose place along x goes into i alone. Refuses what stands before the
// guard and does more than declare, other guards, and launches with fewer threads than elements,
// which a loop would go beyond.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/model/KernelModel.h"
#include "clang_plugin/transform/remap/ThreadBody.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// `int i = …; if (i < n) { }` or `int i = …; if (i >= n) return;` at the beginning of a kernel.
struct GuardedIndex {
  const DeclStmt *declaration = nullptr;
  const VarDecl *index = nullptr;
  const IfStmt *guard = nullptr;
  const Expr *bound = nullptr;
  bool leaves = false; ///< the second form
};

class GridStrider {
public:
  GridStrider(const KernelView &view, Refusals &refusals)
      : view_(view), refusals_(refusals), body_(view, refusals),
        changing_(view.bodies().front().changingVariables()) {}

  std::vector<Offer> run() {
    if (view_.launches.empty() || !match() || !checkLaunches() || !body_.read() || !checkUses())
      return {};
    const std::vector<SliceEdit> edits = write();
    if (edits.empty())
      return {};
    const LaunchShape &heaviest = *std::max_element(
        view_.launches.begin(), view_.launches.end(),
        [](const LaunchShape &a, const LaunchShape &b) { return a.weight < b.weight; });
    const unsigned threads = heaviest.block[0] * heaviest.block[1] * heaviest.block[2],
                   resident =
                       kMultiprocessors * std::max(1u, view_.threadsPerMultiprocessor / threads);
    std::vector<std::int64_t> factors;
    for (const unsigned factor : {4u, 2u, 8u})
      if (heaviest.grid[0] / factor * threads >= 4 * kFewThreads)
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
  bool refuse(const Stmt *at, const llvm::Twine &why) {
    refusals_.add(at->getBeginLoc(), why);
    return false;
  }

  /// Nothing is said of kernels of other forms before their guard.
  bool match() {
    const auto *block = dyn_cast_or_null<CompoundStmt>(view_.kernel().getBody());
    if (!block)
      return false;
    for (const Stmt *statement : block->body()) {
      found_.guard = dyn_cast<IfStmt>(statement);
      if (found_.guard || !isa<DeclStmt>(statement))
        break;
      declarations_.push_back(cast<DeclStmt>(statement));
    }
    if (!found_.guard) {
      refusals_.add("it does not begin with declarations and a test of its index");
      return false;
    }
    const Stmt *then = found_.guard->getThen();
    if (const auto *only = dyn_cast<CompoundStmt>(then); only && only->size() == 1)
      then = only->body_front();
    found_.leaves = isa<ReturnStmt>(then);
    const auto *condition =
        dyn_cast<BinaryOperator>(found_.guard->getCond()->IgnoreParenImpCasts());
    const bool isWhole = !found_.guard->getElse() && !found_.guard->getInit() &&
                         !found_.guard->getConditionVariable() &&
                         (found_.leaves || block->body_back() == found_.guard);
    const BinaryOperatorKind wanted = found_.leaves ? BO_GE : BO_LT;
    if (!condition || !isWhole || condition->getOpcode() != wanted)
      return refuse(found_.guard, "it is not `if (i < n)` or `if (i >= n) return;`");
    found_.bound = condition->getRHS();
    for (const DeclStmt *declaration : declarations_)
      if (declaration->isSingleDecl() &&
          declaration->getSingleDecl() == variableOf(condition->getLHS())) {
        found_.declaration = declaration;
        found_.index = cast<VarDecl>(declaration->getSingleDecl());
      }
    model_ = modelOf(view_, refusals_);
    return model_ && checkTest(*condition);
  }

  bool checkTest(const BinaryOperator &condition) {
    const auto begin = view_.offset(condition.getBeginLoc());
    const auto test = llvm::find_if(model_->conditions, [&](const model::Condition &each) {
      return begin && each.place.range && each.place.range->begin == *begin && each.compared;
    });
    const bool isFixed = test != model_->conditions.end() &&
                         llvm::none_of(test->compared->right.symbols(), [this](unsigned symbol) {
                           return mayDiffer(model_->symbols[symbol]);
                         });
    if (!found_.index || changing_.contains(found_.index) ||
        found_.index->getInitStyle() != VarDecl::CInit ||
        !found_.index->getType()->isIntegerType() || !isFixed)
      return refuse(found_.guard, "it does not compare a fixed index with a fixed bound");
    bound_ = test->compared->right;
    const model::Polynomial &index = test->compared->left;
    const unsigned block = model_->coordinate(model::SymbolKind::BlockIdx, 0),
                   thread = model_->coordinate(model::SymbolKind::ThreadIdx, 0);
    width_ = index.growth(block).value_or(model::Polynomial());
    const auto first = product(width_, model::Polynomial::ofSymbol(block));
    return (width_.terms.size() == 1 && first &&
            sum(*first, model::Polynomial::ofSymbol(thread)) == index) ||
           refuse(found_.declaration, "the index is not blockIdx.x * b + threadIdx.x");
  }

  /// True of what may not be the same for all threads while the kernel runs.
  static bool mayDiffer(const model::Symbol &symbol) {
    return symbol.isOfBlock || symbol.isOfMemory || !symbol.loops.empty() ||
           llvm::is_contained(symbol.varies, true);
  }

  bool checkLaunches() {
    for (const LaunchShape &launch : view_.launches) {
      const auto width = valueOf(width_, *model_, &launch),
                 elements = valueOf(bound_, *model_, &launch);
      if (!width || *width != launch.block[0] ||
          (elements && *elements > std::int64_t{launch.grid[0]} * *width))
        return refuse(found_.guard, "a launch has fewer threads than elements");
      if (elements && *elements > INT32_MAX / 2)
        return refuse(found_.guard, "the index may wrap with a step of the grid");
    }
    return true;
  }

  /// What stands before the loop happens once a thread, as it did, and knows no element.
  bool checkUses() {
    const BodyView &kernel = view_.bodies().front();
    for (const CoordinateUse &use : body_.uses())
      if (use.coordinate.dimension == 0 && !use.body->isWithin(use.expression, found_.declaration))
        return refuse(use.expression, "the place of the thread along x has another use");
    for (const DeclStmt *declaration : declarations_)
      for (const Decl *each : declaration->decls()) {
        const auto *variable = dyn_cast<VarDecl>(each);
        if (each != found_.index &&
            (!variable || changing_.contains(variable) || variable->getType()->isReferenceType() ||
             llvm::any_of(kernel.statements, [&](const Stmt *part) {
               return kernel.isWithin(part, declaration) &&
                      (isa<CallExpr>(part) || variableOf(dyn_cast<Expr>(part)) == found_.index);
             })))
          return refuse(declaration, "a declaration before the test is not fixed");
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
    return sum == found_.declaration ? factor : nullptr;
  }

  std::vector<SliceEdit> write() {
    const Expr *factor = factorOfBlock();
    std::string width = factor ? view_.text(factor->getSourceRange()).str() : "";
    if (factor && isa<BinaryOperator, ConditionalOperator>(factor->IgnoreImpCasts()))
      width = "(" + width + ")";
    const llvm::StringRef bound = view_.text(found_.bound->getSourceRange());
    llvm::StringRef declared =
        view_.text({found_.declaration->getBeginLoc(), found_.index->getInit()->getEndLoc()});
    declared.consume_front("const ");
    const auto start = view_.offset(found_.declaration->getBeginLoc()),
               semicolon = view_.endOffset(found_.declaration->getEndLoc()),
               test = view_.offset(found_.guard->getBeginLoc()),
               then = view_.offset(found_.guard->getThen()->getBeginLoc());
    if (!factor) {
      refuse(found_.declaration, "the index is not blockIdx.x * b + threadIdx.x");
      return {};
    }
    if (width.empty() || bound.empty() || declared.empty() || declared.contains("const ") ||
        !start || !semicolon || !test || !then) {
      refuse(found_.guard, "a macro spells a part of the index or its test");
      return {};
    }
    const std::string name = found_.index->getName().str(),
                      head = "// Each thread takes the elements that are a grid apart.\n" +
                             body_.inner + "for (" + declared.str() + "; " + name + " < " +
                             bound.str() + "; " + name + " += gridDim.x * " + width + ")";
    // The declaration goes with its line.
    const llvm::StringRef rest = view_.text().drop_front(*semicolon);
    const unsigned blanks = rest.size() - rest.ltrim(" \t\n").size();
    std::vector<SliceEdit> edits = {{*start, *semicolon + blanks, ""}};
    if (!found_.leaves) {
      edits.push_back({*test, *then, head + " "});
      edits.insert(edits.end(), body_.returns().begin(), body_.returns().end());
      return edits;
    }
    unsigned behind = *view_.endOffset(found_.guard->getEndLoc());
    if (view_.text().substr(behind).ltrim().starts_with(";"))
      behind += view_.text().substr(behind).find(';') + 1;
    edits.push_back({*test, body_.end,
                     head + " {\n" +
                         body_.indented(body_.edited(behind, body_.end, body_.returns())) +
                         body_.inner + "}\n" + body_.outer});
    return edits;
  }

  const KernelView &view_;
  Refusals &refusals_;
  ThreadBody body_;
  const llvm::DenseSet<const VarDecl *> changing_;
  const model::KernelModel *model_ = nullptr;
  std::vector<const DeclStmt *> declarations_; ///< before the guard
  GuardedIndex found_;
  model::Polynomial width_, bound_;
};

} // namespace

std::vector<Offer> gridStrideOffers(const KernelView &view, Refusals &refusals) {
  return GridStrider(view, refusals).run();
}

} // namespace kopt::frontend
