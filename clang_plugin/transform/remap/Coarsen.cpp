// SPDX-License-Identifier: Apache-2.0
// coarsen: give each thread the work of 2, 4 or 8 threads of its block, which shrinks; the grid
// stays. The body becomes a loop in which threadIdx and blockDim are those of the former block.
// Matches kernels of independent threads in all of whose blocks the threads can be divided. Refuses
// coordinates in functions that the kernel calls or in macros, returns from within loops, labels,
// and kernels that give their threads several elements by multiples of blockDim already.
#include "clang_plugin/analysis/RawTokens.h"
#include "clang_plugin/transform/ThreadOrder.h"

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kWarp = 32;
/// Fewer threads leave the GPU idle: a warp for each of 4 schedulers of 132 multiprocessors.
constexpr std::uint64_t kFewThreads = 132 * 4 * kWarp;

/// The block of the kernel's body in the text.
struct BodyText {
  unsigned begin = 0, end = 0; ///< between the braces
  std::string outer, inner,
      step; ///< indentation of the closing brace, of statements; the difference
};

class Coarsener {
public:
  Coarsener(const KernelView &view, Refusals &refusals) : view_(view), refusals_(refusals) {}

  std::vector<Offer> run() {
    if (view_.launches.empty() || !areThreadsIndependent(view_, /*atomics=*/true, refusals_))
      return {};
    auto uses = coordinateUses(view_, refusals_);
    if (!uses || !readBody() || !readStatements())
      return {};
    uses_ = std::move(*uses);
    std::vector<Offer> offers;
    for (const unsigned dimension : {1u, 0u, 2u})
      if (auto offer = along(dimension))
        offers.push_back(std::move(*offer));
    return offers;
  }

private:
  bool refuse(SourceLocation at, const llvm::Twine &why) {
    refusals_.add(at, why);
    return false;
  }

  const BodyView &kernel() const { return view_.bodies().front(); }

  bool readBody() {
    const auto *block = dyn_cast_or_null<CompoundStmt>(view_.pattern().getBody());
    const auto open = block ? view_.offset(block->getLBracLoc()) : std::nullopt,
               close = block ? view_.offset(block->getRBracLoc()) : std::nullopt;
    if (!open || !close || block->body_empty())
      return refuse(view_.pattern().getLocation(), "a macro or another file spells the body");
    body_.begin = *open + 1;
    body_.end = *close;
    body_.outer = view_.indentation(*close);
    const auto first = view_.offset(block->body_front()->getBeginLoc());
    body_.inner = view_.indentation(first.value_or(*close));
    if (!llvm::StringRef(body_.inner).starts_with(body_.outer) || body_.inner == body_.outer)
      body_.inner = body_.outer + "  ";
    body_.step = body_.inner.substr(body_.outer.size());
    const llvm::StringRef text = view_.text().slice(body_.begin, body_.end);
    for (const RawToken &token : rawTokens(text))
      if (text.slice(token.begin, token.end).contains('\n'))
        return refuse(block->getLBracLoc(), "the body has a text of several lines");
    return true;
  }

  /// True if a use of a parameter does more than read it, or may do.
  bool mayChange(const DeclRefExpr *parameter) const {
    const Stmt *part = parameter, *parent = kernel().parentOf(part);
    const auto isPart = [&] {
      const auto *member = dyn_cast_or_null<MemberExpr>(parent);
      const auto *decay = dyn_cast_or_null<ImplicitCastExpr>(parent);
      return (member && !member->isArrow() && isa<FieldDecl>(member->getMemberDecl())) ||
             (decay && decay->getCastKind() == CK_ArrayToPointerDecay) ||
             (isa_and_nonnull<ArraySubscriptExpr>(parent) && isa<ImplicitCastExpr>(part) &&
              cast<ImplicitCastExpr>(part)->getCastKind() == CK_ArrayToPointerDecay);
    };
    for (; isPart(); parent = kernel().parentOf(part))
      part = parent;
    const auto *read = dyn_cast_or_null<ImplicitCastExpr>(parent);
    return !read || (read->getCastKind() != CK_LValueToRValue && read->getCastKind() != CK_NoOp);
  }

  /// A return ends the work of one of the threads; what outlives it is refused.
  bool readStatements() {
    for (const Stmt *statement : kernel().statements) {
      if (const auto *reference = dyn_cast<DeclRefExpr>(statement);
          reference && isa<ParmVarDecl>(reference->getDecl()) &&
          reference->getDecl()->getDeclContext() == kernel().function && mayChange(reference))
        return refuse(statement->getBeginLoc(),
                      "the parameter '" + reference->getDecl()->getName() + "' may change");
      if (isa<LabelStmt>(statement) || isa<GotoStmt>(statement))
        return refuse(statement->getBeginLoc(), "the kernel has a goto");
      if (const auto *declarations = dyn_cast<DeclStmt>(statement))
        for (const Decl *each : declarations->decls())
          if (const auto *variable = dyn_cast<VarDecl>(each);
              variable && variable->isStaticLocal() && !variable->getType().isConstQualified())
            return refuse(statement->getBeginLoc(), "the kernel has a static variable");
      const auto *leave = dyn_cast<ReturnStmt>(statement);
      const Stmt *up = leave ? kernel().parents.lookup(leave) : nullptr;
      bool isInLoop = false;
      for (; up && !isa<LambdaExpr>(up); up = kernel().parents.lookup(up))
        isInLoop |= isa<ForStmt>(up) || isa<WhileStmt>(up) || isa<DoStmt>(up) ||
                    isa<CXXForRangeStmt>(up) || isa<SwitchStmt>(up);
      if (!leave || up)
        continue;
      const auto begin = view_.offset(leave->getBeginLoc());
      if (isInLoop || leave->getRetValue() || !begin)
        return refuse(leave->getBeginLoc(),
                      isInLoop ? "it returns from within a loop" : "a macro spells the return");
      // The same code may be instantiated more than once.
      edits_.push_back({*begin, *begin + 6, "continue"});
    }
    return true;
  }

  std::vector<std::int64_t> factorsAlong(unsigned dimension) const {
    std::vector<std::int64_t> factors;
    for (const unsigned factor : {4u, 2u, 8u})
      if (llvm::all_of(view_.launches,
                       [&](const LaunchShape &launch) {
                         const unsigned threads =
                             launch.block[0] * launch.block[1] * launch.block[2];
                         return launch.block[dimension] % factor == 0 &&
                                threads / factor >= kWarp &&
                                (dimension > 0 || launch.block[0] / factor >= kWarp);
                       }) &&
          llvm::any_of(view_.launches, [&](const LaunchShape &launch) {
            return std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2] *
                       launch.block[0] * launch.block[1] * launch.block[2] / factor >=
                   kFewThreads;
          }))
        factors.push_back(factor);
    return factors;
  }

  static const Expr *otherFactor(const CoordinateUse &use) {
    const Stmt *parent = use.body->parentOf(use.expression);
    while (isa_and_nonnull<CastExpr>(parent) || isa_and_nonnull<PseudoObjectExpr>(parent))
      parent = use.body->parentOf(parent);
    const auto *product = dyn_cast_or_null<BinaryOperator>(parent);
    if (!product || product->getOpcode() != BO_Mul)
      return nullptr;
    const auto own = coordinate(product->getLHS());
    const bool isLeft = own && own->variable == "blockDim";
    return (isLeft ? product->getRHS() : product->getLHS())->IgnoreParenCasts();
  }

  std::optional<Offer> along(unsigned dimension) {
    const std::string axis(1, "xyz"[dimension]), thread = "threadIdx." + axis,
                                                 width = "blockDim." + axis;
    unsigned threads = 0;
    for (const CoordinateUse &use : uses_) {
      const std::string &variable = use.coordinate.variable;
      if (use.coordinate.dimension != dimension ||
          (variable != "threadIdx" && variable != "blockDim"))
        continue;
      if (use.body != &kernel()) {
        refuse(use.expression->getBeginLoc(), "a function that it calls asks which thread it is");
        return std::nullopt;
      }
      threads += variable == "threadIdx";
      const Expr *factor = variable == "blockDim" ? otherFactor(use) : nullptr;
      if (factor && (view_.constant(factor) || isa<DeclRefExpr>(factor))) {
        refuse(factor->getBeginLoc(), "threads have several elements along " + axis + " already");
        return std::nullopt;
      }
    }
    std::vector<std::int64_t> factors = factorsAlong(dimension);
    if (threads == 0 || factors.empty()) {
      if (threads > 0)
        refusals_.add("the launches are too small, or their blocks not to be divided, along " +
                      axis);
      return std::nullopt;
    }
    Offer offer{"",
                "give each thread ${FACTOR} elements of its block along " + axis,
                "",
                {{body_.begin, body_.end, bodyFor(dimension, threads > 1)}},
                LaunchChange{},
                {{"FACTOR", std::move(factors)}}};
    offer.launch->block = {"blockDim.x", "blockDim.y", "blockDim.z"};
    offer.launch->block[dimension] = width + " / ${FACTOR}";
    offer.legality = Legality::Proven;
    return offer;
  }

  /// True if `a + b` may stand there without parentheses.
  static bool takesSum(const CoordinateUse &use) {
    const Stmt *parent = use.body->parents.lookup(use.expression);
    while (isa_and_nonnull<ImplicitCastExpr>(parent) || isa_and_nonnull<PseudoObjectExpr>(parent))
      parent = use.body->parents.lookup(parent);
    const auto *binary = dyn_cast_or_null<BinaryOperator>(parent);
    return isa_and_nonnull<DeclStmt>(parent) || isa_and_nonnull<ParenExpr>(parent) ||
           (binary && !binary->getType()->isFloatingType() &&
            (binary->getOpcode() == BO_Add || binary->isAssignmentOp()));
  }

  std::string bodyFor(unsigned dimension, bool isNamed) {
    const std::string axis(1, "xyz"[dimension]), part = freshName(view_, "part"),
                                                 name = freshName(view_, "thread");
    const std::string former = "threadIdx." + axis + " + " + part + " * blockDim." + axis;
    std::vector<SliceEdit> edits = edits_;
    for (const CoordinateUse &use : uses_) {
      if (use.coordinate.dimension != dimension)
        continue;
      if (use.coordinate.variable == "blockDim")
        edits.push_back({use.begin, use.end, "(blockDim." + axis + " * ${FACTOR})"});
      else if (use.coordinate.variable == "threadIdx")
        edits.push_back({use.begin, use.end,
                         isNamed         ? name
                         : takesSum(use) ? former
                                         : "(" + former + ")"});
    }
    llvm::sort(edits, [](const SliceEdit &a, const SliceEdit &b) { return a.begin < b.begin; });
    for (SliceEdit &edit : edits) {
      edit.begin -= body_.begin;
      edit.end -= body_.begin;
    }
    const std::string inside = applyEdits(view_.text().slice(body_.begin, body_.end).str(), edits);
    std::string text =
        "\n" + body_.inner +
        "// Each thread has ${FACTOR} elements, a block apart; blocks have that many "
        "times fewer threads.\n" +
        "#pragma unroll\n" + body_.inner + "for (int " + part + " = 0; " + part +
        " < ${FACTOR}; ++" + part + ") {\n";
    if (isNamed)
      text += body_.inner + body_.step + "const unsigned " + name + " = " + former + ";\n";
    return text + indented(inside) + body_.inner + "}\n" + body_.outer;
  }

  /// The statements one level deeper.
  std::string indented(llvm::StringRef inside) const {
    std::string text;
    const auto [first, rest] = inside.split('\n');
    if (!first.trim().empty()) // behind the brace
      text = body_.inner + body_.step + first.trim().str() + "\n";
    llvm::SmallVector<llvm::StringRef> lines;
    rest.rtrim().ltrim('\n').split(lines, '\n');
    for (const llvm::StringRef line : lines)
      if (!rest.trim().empty())
        text +=
            (line.trim().empty() || line.starts_with("#") ? "" : body_.step) + line.str() + "\n";
    return text;
  }

  const KernelView &view_;
  Refusals &refusals_;
  BodyText body_;
  std::vector<CoordinateUse> uses_;
  std::vector<SliceEdit> edits_; ///< of returns
};

} // namespace

std::vector<Offer> coarsenOffers(const KernelView &view, Refusals &refusals) {
  return Coarsener(view, refusals).run();
}

} // namespace kopt::frontend
