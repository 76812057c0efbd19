// SPDX-License-Identifier: Apache-2.0
// Operators that leave out work of the kernel: all of it, or that of one block, of the last threads
// or on the last elements.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/mutate/Mutation.h"

namespace kopt::frontend {

using namespace clang;

namespace {

const CompoundStmt *bodyOf(const KernelFacts &facts) {
  return dyn_cast_or_null<CompoundStmt>(facts.view().kernel().getBody());
}

/// True if the kernel uses a grid_group: its blocks may wait for each other, so none may leave
/// early.
bool waitsForGrid(const KernelFacts &facts) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements)
      if (const auto *expression = dyn_cast<Expr>(statement);
          expression && expression->getType()->getAsCXXRecordDecl() &&
          expression->getType()->getAsCXXRecordDecl()->getNameAsString() == "grid_group")
        return true;
  return false;
}

/// Adds a mutant with the text `guard` at the start of the kernel's body.
void addGuard(const KernelFacts &facts, MutantSink &sink, const std::string &what,
              const std::string &guard, const std::string &note) {
  const CompoundStmt *body = bodyOf(facts);
  if (!body)
    return;
  const auto begin = facts.view().endOffset(body->getLBracLoc());
  std::optional<std::vector<SliceEdit>> edits;
  if (begin)
    edits = std::vector{SliceEdit{*begin, *begin, " " + guard}};
  sink.add(body->getLBracLoc(), what, std::move(edits), note);
}

/// The kernel does nothing.
void findEmptyBody(const KernelFacts &facts, MutantSink &sink) {
  const CompoundStmt *body = bodyOf(facts);
  if (!body || body->body_empty())
    return;
  const auto begin = facts.view().endOffset(body->getLBracLoc());
  const auto end = facts.view().offset(body->getRBracLoc());
  std::optional<std::vector<SliceEdit>> edits;
  if (begin && end && *begin <= *end)
    edits = std::vector{SliceEdit{*begin, *end, ""}};
  sink.add(body->getLBracLoc(), "empty body", std::move(edits));
}

/// The last block of the grid does nothing.
void findSkippedBlock(const KernelFacts &facts, MutantSink &sink) {
  if (waitsForGrid(facts))
    return;
  // A whole block leaves, so no thread waits for one that has left.
  addGuard(facts, sink, "the last block does nothing",
           "if (blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1 && "
           "blockIdx.z == gridDim.z - 1) return;",
           "");
}

/// The last 1/128 of the grid's threads do nothing.
void findSkippedThreads(const KernelFacts &facts, MutantSink &sink) {
  // Other threads would wait for the skipped ones.
  if (facts.waits(bodyOf(facts), /*lanes=*/true) || waitsForGrid(facts))
    return;
  addGuard(facts, sink, "the last 1/128 of the threads do nothing",
           "{ const unsigned long long koptBlock = 1ull * blockDim.x * blockDim.y * blockDim.z, "
           "koptAll = koptBlock * gridDim.x * gridDim.y * gridDim.z, "
           "koptThread = ((1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) "
           "* koptBlock + (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; "
           "if (koptThread >= koptAll - (koptAll + 127) / 128) return; }",
           "the same where the last threads of the grid have nothing to do");
}

/// Calls `found` for each guard `i < n` or `i >= n` of an if statement in which i depends on the
/// thread and n does not.
template <class Found> void forEachGuard(const KernelFacts &facts, const Found &found) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      const auto *comparison = dyn_cast<BinaryOperator>(statement);
      if (!comparison || !comparison->isRelationalOp() ||
          !comparison->getLHS()->getType()->isIntegerType())
        continue;
      const Stmt *parent = body.parentOf(comparison);
      while (isa_and_nonnull<BinaryOperator>(parent) && cast<BinaryOperator>(parent)->isLogicalOp())
        parent = body.parentOf(parent);
      const auto *branch = dyn_cast_or_null<IfStmt>(parent);
      if (!branch || branch->isConstexpr())
        continue;
      const bool leftIsThread = facts.dependsOnThread(comparison->getLHS());
      if (leftIsThread == facts.dependsOnThread(comparison->getRHS()))
        continue;
      const Expr *limit = leftIsThread ? comparison->getRHS() : comparison->getLHS();
      const bool isUpper =
          leftIsThread == (comparison->getOpcode() == BO_LT || comparison->getOpcode() == BO_GE ||
                           comparison->getOpcode() == BO_LE || comparison->getOpcode() == BO_GT);
      if (isUpper && !facts.view().constant(limit))
        found(*comparison, *limit);
    }
}

/// A guard lets the last 1/128 of the elements out.
void findSkippedTail(const KernelFacts &facts, MutantSink &sink) {
  forEachGuard(facts, [&](const BinaryOperator &guard, const Expr &limit) {
    const std::string text = facts.text(&limit).str();
    sink.add(guard.getOperatorLoc(), "the last 1/128 below " + text + " left out",
             text.empty() ? std::nullopt
                          : facts.replace(limit.getSourceRange(),
                                          "((" + text + ") - ((" + text + ") + 127) / 128)"));
  });
}

/// A guard rounds its limit down to a multiple of 32: no tail.
void findLostRemainder(const KernelFacts &facts, MutantSink &sink) {
  forEachGuard(facts, [&](const BinaryOperator &guard, const Expr &limit) {
    sink.add(guard.getOperatorLoc(), facts.text(&limit).str() + " rounded down to a multiple of 32",
             facts.wrap(&limit, "((", ") / 32 * 32)"),
             "the same where the limit is a multiple of 32");
  });
}

} // namespace

void addWorkOperators(MutationOperators &catalogue) {
  catalogue.insert(catalogue.end(), {{"empty-body", findEmptyBody},
                                     {"skipped-block", findSkippedBlock},
                                     {"skipped-threads", findSkippedThreads},
                                     {"skipped-tail", findSkippedTail},
                                     {"lost-remainder", findLostRemainder}});
}

} // namespace kopt::frontend
