// SPDX-License-Identifier: Apache-2.0
// grid-stride: `if (i < n)` with i = blockIdx.x * b + threadIdx.x becomes a loop that strides over
// the grid, which gets fewer blocks: a part of today's, or as many as run at once. Matches kernels
// of independent threads whose place along x goes into i alone. Refuses what stands before the
// guard and does more than declare, other guards, and launches with fewer threads than elements,
// which a loop would go beyond.
#include "clang_plugin/transform/remap/IndexForm.h"
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
      : view_(view), refusals_(refusals), forms_(view, view.bodies().front()),
        body_(view, refusals) {}

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
    if (!found_.index || !forms_.definition(found_.index) ||
        found_.index->getInitStyle() != VarDecl::CInit ||
        !found_.index->getType()->isIntegerType() || !forms_.isFixed(found_.bound) ||
        isOfThread(found_.bound))
      return refuse(found_.guard, "it does not compare a fixed index with a fixed bound");
    const IndexForm form = forms_.of(found_.index->getInit());
    const auto width = form.factorOf("blockIdx.x");
    width_ = width.value_or(IndexForm());
    const bool isPlain = form.terms.size() == 2 && form.terms.contains({"threadIdx.x"}) &&
                         form.terms.at({"threadIdx.x"}) == 1 && width_.terms.size() == 1 &&
                         width_.opaque.empty();
    return isPlain || refuse(found_.declaration, "the index is not blockIdx.x * b + threadIdx.x");
  }

  bool isOfThread(const Expr *expression) const {
    return expression && forms_.mentions(expression, [&](const Expr *part) {
      return coordinate(part) || variableOf(part) == found_.index;
    });
  }

  bool checkLaunches() {
    const IndexForm bound = forms_.of(found_.bound);
    for (const LaunchShape &launch : view_.launches) {
      const auto width = valueOf(width_, launch), elements = valueOf(bound, launch);
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
    for (const CoordinateUse &use : body_.uses()) {
      const Stmt *up = use.expression;
      while (up && up != found_.declaration)
        up = use.body->parents.lookup(up);
      if (use.coordinate.dimension == 0 && !up)
        return refuse(use.expression, "the place of the thread along x has another use");
    }
    for (const DeclStmt *declaration : declarations_)
      for (const Decl *each : declaration->decls()) {
        const auto *variable = dyn_cast<VarDecl>(each);
        if (each != found_.index &&
            (!variable || forms_.isChanged(variable) || variable->getType()->isReferenceType() ||
             forms_.mentions(variable->getInit(), [&](const Expr *part) {
               return isa<CallExpr>(part) || variableOf(part) == found_.index;
             })))
          return refuse(declaration, "a declaration before the test is not fixed");
      }
    return true;
  }

  std::vector<SliceEdit> write() {
    const auto use = llvm::find_if(body_.uses(), [](const CoordinateUse &each) {
      return nameOf(each.coordinate) == "blockIdx.x";
    });
    const Expr *factor = use == body_.uses().end() ? nullptr : otherFactor(*use);
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
    if (!factor || !(forms_.of(factor) == width_)) {
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
  const IndexForms forms_;
  ThreadBody body_;
  std::vector<const DeclStmt *> declarations_; ///< before the guard
  GuardedIndex found_;
  IndexForm width_;
};

} // namespace

std::vector<Offer> gridStrideOffers(const KernelView &view, Refusals &refusals) {
  return GridStrider(view, refusals).run();
}

} // namespace kopt::frontend
