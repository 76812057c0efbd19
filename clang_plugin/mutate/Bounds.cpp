// SPDX-License-Identifier: Apache-2.0
// Operators on conditions: limits of loops, comparisons, branches. None of them makes a loop
// endless: every workload notices a mutant that hangs, and each costs a whole deadline.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/mutate/Mutation.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// A comparison of integers that decides, alone or in a conjunction, whether a loop goes on.
struct LoopTest {
  const BodyView *body;
  const Stmt *loop;
  const BinaryOperator *comparison;
  bool isUpper;           ///< the loop goes on while the left side is the smaller one
  const VarDecl *stepped; ///< the left side, if it is the variable that a for loop steps; else null
  bool byOne;             ///< `stepped` is stepped by ++ or --, towards the limit
};

void addTests(const BodyView &body, const Stmt *loop, const Expr *condition,
              std::vector<LoopTest> &tests) {
  const auto *binary =
      dyn_cast_or_null<BinaryOperator>(condition ? condition->IgnoreParenImpCasts() : nullptr);
  if (!binary)
    return;
  if (binary->getOpcode() == BO_LAnd) {
    addTests(body, loop, binary->getLHS(), tests);
    addTests(body, loop, binary->getRHS(), tests);
    return;
  }
  if (!binary->isRelationalOp() || !binary->getLHS()->getType()->isIntegerType() ||
      !binary->getRHS()->getType()->isIntegerType())
    return;
  LoopTest test{&body,   loop, binary, binary->getOpcode() == BO_LT || binary->getOpcode() == BO_LE,
                nullptr, false};
  if (const auto *counted = dyn_cast<ForStmt>(loop)) {
    const VarDecl *variable = variableOf(binary->getLHS());
    if (variable && mentions(counted->getInc(), variable)) {
      test.stepped = variable;
      const auto *step = dyn_cast<UnaryOperator>(counted->getInc()->IgnoreParens());
      test.byOne = step && step->isIncrementDecrementOp() && step->isIncrementOp() == test.isUpper;
    }
  }
  tests.push_back(test);
}

std::vector<LoopTest> loopTests(const KernelFacts &facts) {
  std::vector<LoopTest> tests;
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements)
      if (isa<ForStmt, WhileStmt>(statement))
        addTests(body, statement, conditionOf(statement), tests);
  return tests;
}

std::string heading(const KernelFacts &facts, const BinaryOperator &comparison) {
  return "`" + facts.text(&comparison).str() + "`";
}

/// The `if` or `?:` that tests the expression, alone or combined with others by && and ||; null if
/// there is none.
const Stmt *branchOf(const BodyView &body, const Expr *test) {
  const Stmt *parent = body.parentOf(test);
  while (parent && (isa<CastExpr>(parent) ||
                    (isa<BinaryOperator>(parent) && cast<BinaryOperator>(parent)->isLogicalOp())))
    parent = body.parentOf(parent);
  if (const auto *branch = dyn_cast_or_null<IfStmt>(parent))
    return branch->isConstexpr() ? nullptr : branch;
  return isa_and_nonnull<ConditionalOperator>(parent) ? parent : nullptr;
}

bool isSigned(const VarDecl &variable) {
  return variable.getType().getNonReferenceType()->isSignedIntegerType();
}

BinaryOperatorKind otherBound(BinaryOperatorKind op) {
  return op == BO_LT ? BO_LE : op == BO_LE ? BO_LT : op == BO_GT ? BO_GE : BO_GT;
}

std::string spelling(BinaryOperatorKind op) { return BinaryOperator::getOpcodeStr(op).str(); }

std::string swapTitle(BinaryOperatorKind op) {
  return "`" + spelling(op) + "` made `" + spelling(otherBound(op)) + "`";
}

/// `<` made `<=`, `<=` made `<`, and so on, in a bound or a loop.
void findComparison(const KernelFacts &facts, MutantSink &sink) {
  for (const LoopTest &test : loopTests(facts)) {
    const BinaryOperatorKind op = test.comparison->getOpcode();
    const bool isLoosened = op == BO_LT || op == BO_GT;
    // As `s >= 0`, `s > 0` would always hold for `s >>= 1` and for an unsigned s.
    if (isLoosened && (!test.byOne || (!test.isUpper && !isSigned(*test.stepped))))
      continue;
    sink.add(test.comparison->getOperatorLoc(), swapTitle(op),
             facts.replace({test.comparison->getOperatorLoc(), test.comparison->getOperatorLoc()},
                           spelling(otherBound(op))),
             isLoosened    ? "the same where a step beyond the last one does nothing"
             : !test.byOne ? "the same where the loop never gets to the limit itself"
                           : "");
  }
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      const auto *comparison = dyn_cast<BinaryOperator>(statement);
      if (!comparison || !comparison->isRelationalOp() ||
          !comparison->getLHS()->getType()->isIntegerType() || !branchOf(body, comparison) ||
          facts.view().constant(comparison))
        continue;
      const SourceLocation at = comparison->getOperatorLoc();
      sink.add(at, swapTitle(comparison->getOpcode()),
               facts.replace({at, at}, spelling(otherBound(comparison->getOpcode()))),
               "the same where nothing is equal to the limit itself");
    }
}

/// A loop ends one step early.
void findLoopBound(const KernelFacts &facts, MutantSink &sink) {
  for (const LoopTest &test : loopTests(facts)) {
    // One is added to the smaller side, because a subtraction from the other could wrap around.
    const Expr *smaller = test.isUpper ? test.comparison->getLHS() : test.comparison->getRHS();
    const bool isStrided = test.stepped && !test.byOne;
    sink.add(test.comparison->getOperatorLoc(), heading(facts, *test.comparison) + " off by one",
             facts.wrap(smaller, "(", ") + 1"),
             isStrided ? "the same where the loop never gets close to the limit" : "");
  }
}

const Expr *initialValue(const LoopTest &test) {
  const auto *loop = dyn_cast<ForStmt>(test.loop);
  if (!loop || !test.stepped)
    return nullptr;
  if (const auto *declaration = dyn_cast_or_null<DeclStmt>(loop->getInit()))
    return declaration->isSingleDecl() && declaration->getSingleDecl() == test.stepped
               ? test.stepped->getInit()
               : nullptr;
  const auto *assignment = dyn_cast_or_null<BinaryOperator>(loop->getInit());
  return assignment && assignment->getOpcode() == BO_Assign &&
                 variableOf(assignment->getLHS()) == test.stepped
             ? assignment->getRHS()
             : nullptr;
}

/// A loop runs half as often.
void findReducedIterations(const KernelFacts &facts, MutantSink &sink) {
  for (const LoopTest &test : loopTests(facts)) {
    const Expr *limit = test.comparison->getRHS();
    if (!test.isUpper) {
      limit = initialValue(test);
      if (!limit)
        continue;
    }
    sink.add(test.comparison->getOperatorLoc(),
             heading(facts, *test.comparison) + " with half the limit",
             facts.wrap(limit, "((", ") / 2)"));
  }
}

/// True for conditions such as `threadIdx.x == 0`.
bool electsThread(const KernelFacts &facts, const Expr *condition) {
  const auto *comparison = dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts());
  if (comparison && comparison->isLogicalOp())
    return electsThread(facts, comparison->getLHS()) || electsThread(facts, comparison->getRHS());
  return comparison && comparison->isEqualityOp() && facts.dependsOnThread(comparison);
}

bool leavesLoop(const Stmt *statement) {
  if (!statement)
    return false;
  return isa<BreakStmt, ContinueStmt>(statement) ||
         llvm::any_of(statement->children(), [](const Stmt *child) { return leavesLoop(child); });
}

/// A branch is taken the other way.
void findNegatedCondition(const KernelFacts &facts, MutantSink &sink) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      const Expr *condition = nullptr;
      if (const auto *branch = dyn_cast<IfStmt>(statement)) {
        // Threads that diverge before a barrier would hang, and so may a loop that a branch
        // leaves.
        if (!branch->isConstexpr() && !branch->getConditionVariable() &&
            !facts.waits(branch->getThen(), /*lanes=*/true) &&
            !facts.waits(branch->getElse(), /*lanes=*/true) && !leavesLoop(branch->getThen()) &&
            !leavesLoop(branch->getElse()))
          condition = branch->getCond();
      } else if (const auto *choice = dyn_cast<ConditionalOperator>(statement);
                 choice && facts.reachesOutput(body, choice)) {
        condition = choice->getCond();
      }
      if (!condition || facts.view().constant(condition))
        continue;
      llvm::StringRef text = facts.text(condition);
      sink.add(condition->getBeginLoc(),
               "`" + (text.size() > 60 ? text.take_front(57).str() + "..." : text.str()) +
                   "` negated",
               facts.wrap(condition, "!(", ")"),
               electsThread(facts, condition)
                   ? "the same where any of the threads may do it, as often as they like"
                   : "");
    }
}

} // namespace

void addBoundOperators(MutationOperators &catalogue) {
  catalogue.insert(catalogue.end(), {{"comparison", findComparison},
                                     {"loop-bound", findLoopBound},
                                     {"reduced-iterations", findReducedIterations},
                                     {"negated-condition", findNegatedCondition}});
}

} // namespace kopt::frontend
