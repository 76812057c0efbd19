// SPDX-License-Identifier: Apache-2.0
// coarsen: give each thread the work of 2, 4 or 8 threads of its block, which shrinks; the grid
// stays. The body becomes a loop in which threadIdx and blockDim are those of the former block.
// Matches kernels of independent threads in all of whose blocks the threads can be divided. Refuses
// coordinates in functions that the kernel calls or in macros, returns from within loops, labels,
// and kernels that give their threads several elements by multiples of blockDim already.
#include "clang_plugin/transform/remap/ThreadBody.h"

namespace kopt::frontend {

using namespace clang;

namespace {

class Coarsener {
public:
  Coarsener(const KernelView &view, Refusals &refusals)
      : view_(view), refusals_(refusals), body_(view, refusals) {}

  std::vector<Offer> run() {
    if (view_.launches.empty() || !body_.read())
      return {};
    std::vector<Offer> offers;
    for (const unsigned dimension : {1u, 0u, 2u})
      if (auto offer = along(dimension))
        offers.push_back(std::move(*offer));
    return offers;
  }

private:
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
            return allThreadsOf(launch) / factor >= kFewThreads;
          }))
        factors.push_back(factor);
    return factors;
  }

  /// How often the text says which thread it is; 0, with a refusal, if that is not the kernel's
  /// own.
  unsigned threadsIn(unsigned dimension) {
    unsigned threads = 0;
    for (const CoordinateUse &use : body_.uses()) {
      const std::string &variable = use.coordinate.variable;
      if (use.coordinate.dimension != dimension ||
          (variable != "threadIdx" && variable != "blockDim"))
        continue;
      if (use.body != &view_.work())
        return refusals_.add(use.expression, "a function that it calls asks which thread it is");
      threads += variable == "threadIdx";
      const Expr *factor = variable == "blockDim" ? otherFactor(use) : nullptr;
      if (factor && (view_.constant(factor) || isa<DeclRefExpr>(factor)))
        return refusals_.add(factor, std::string("threads have several elements along ") +
                                         "xyz"[dimension] + " already");
    }
    return threads;
  }

  std::optional<Offer> along(unsigned dimension) {
    const std::string axis(1, "xyz"[dimension]);
    const unsigned threads = threadsIn(dimension);
    std::vector<std::int64_t> factors = factorsAlong(dimension);
    if (threads > 0 && factors.empty())
      refusals_.add("the launches are too small, or their blocks not to be divided, along " + axis);
    if (threads == 0 || factors.empty())
      return std::nullopt;
    Offer offer{"",
                "give each thread ${FACTOR} elements of its block along " + axis,
                "",
                {{body_.begin, body_.end, bodyFor(dimension, threads > 1)}},
                LaunchChange{},
                {{"FACTOR", std::move(factors)}}};
    offer.launch->block = {"blockDim.x", "blockDim.y", "blockDim.z"};
    offer.launch->block[dimension] = "blockDim." + axis + " / ${FACTOR}";
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
    std::vector<SliceEdit> edits = body_.returns();
    for (const CoordinateUse &use : body_.uses()) {
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
    const std::string inside = body_.edited(body_.begin, body_.end, std::move(edits));
    std::string text =
        "\n" + body_.inner +
        "// Each thread has ${FACTOR} elements, a block apart; blocks have that many "
        "times fewer threads.\n" +
        "#pragma unroll\n" + body_.inner + "for (int " + part + " = 0; " + part +
        " < ${FACTOR}; ++" + part + ") {\n";
    if (isNamed)
      text += body_.inner + body_.step + "const unsigned " + name + " = " + former + ";\n";
    return text + body_.indented(inside) + body_.inner + "}\n" + body_.outer;
  }

  const KernelView &view_;
  Refusals &refusals_;
  ThreadBody body_;
};

} // namespace

std::vector<Offer> coarsenOffers(const KernelView &view, Refusals &refusals) {
  return Coarsener(view, refusals).run();
}

} // namespace kopt::frontend
