// SPDX-License-Identifier: Apache-2.0
// Operators on statements that write: the stored value is zero, the old value is lost, or the
// statement is gone.
#include "clang_plugin/analysis/Writes.h"
#include "clang_plugin/mutate/Mutation.h"

#include <set>

namespace kopt::frontend {

using namespace clang;

namespace {

/// True if a loop around the statement might not end when the variable has another value.
bool steersALoop(const BodyView &body, const Stmt *statement, const VarDecl *variable) {
  for (const Stmt *loop = loopAround(body, statement); loop; loop = loopAround(body, loop)) {
    if (mentions(conditionOf(loop), variable))
      return true;
    if (!conditionOf(loop) && variable->getType()->isIntegerType())
      return true; // for (;;) ends by a break, which may depend on any variable
  }
  return false;
}

bool isLoopStep(const BodyView &body, const Stmt *statement) {
  const Stmt *child = statement;
  for (const Stmt *up = body.parents.lookup(statement); up;
       child = up, up = body.parents.lookup(up)) {
    if (const auto *loop = dyn_cast<ForStmt>(up))
      return loop->getInc() == child || loop->getInit() == child;
    if (!isa<ParenExpr, BinaryOperator, CastExpr>(up))
      return false;
  }
  return false;
}

/// The text of a zero that can be assigned to the type; empty if none is sure to compile.
std::string zeroOf(QualType type) {
  type = type.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  if (type->isArithmeticType())
    return "0";
  const auto *record = type->getAsCXXRecordDecl();
  const llvm::StringRef name =
      record && record->getIdentifier() ? record->getName() : llvm::StringRef();
  if (name == "__half" || name == "__nv_bfloat16")
    return (name + "(0.0f)").str();
  return record && record->isAggregate() ? "{}" : "";
}

constexpr const char *kStoredAgain = "the same where that is stored again before anybody reads it";

/// True if a later statement assigns to a target that is spelled the same.
bool isStoredAgain(const KernelFacts &facts, const BodyView &body, const Expr &target) {
  return llvm::any_of(body.statements, [&](const Stmt *statement) {
    const auto *assignment = dyn_cast<BinaryOperator>(statement);
    return assignment && assignment->getOpcode() == BO_Assign && assignment->getLHS() != &target &&
           target.getEndLoc() < assignment->getBeginLoc() &&
           facts.text(assignment->getLHS()) == facts.text(&target);
  });
}

/// A store to global memory writes zero.
void findConstantStore(const KernelFacts &facts, MutantSink &sink) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      const Expr *target = nullptr, *value = nullptr;
      if (const auto *plain = dyn_cast<BinaryOperator>(statement);
          plain && plain->getOpcode() == BO_Assign) {
        target = plain->getLHS();
        value = plain->getRHS();
      } else if (const auto *call = dyn_cast<CXXOperatorCallExpr>(statement);
                 call && call->getOperator() == OO_Equal && call->getNumArgs() == 2) {
        target = call->getArg(0);
        value = call->getArg(1);
      }
      if (!target || spaceOf(target) != MemorySpace::Global ||
          isa<DeclRefExpr>(target->IgnoreParenImpCasts()))
        continue;
      const std::string zero = zeroOf(target->getType());
      const auto constant = facts.view().constant(value);
      const auto *literal = dyn_cast<FloatingLiteral>(value->IgnoreParenImpCasts());
      if (zero.empty() || (constant && *constant == 0) || (literal && literal->getValue().isZero()))
        continue;
      sink.add(value->getBeginLoc(), "zero stored to " + facts.text(target).str(),
               facts.replace(value->getSourceRange(), zero),
               isStoredAgain(facts, body, *target) ? kStoredAgain : "");
    }
}

/// `+=` and its like made `=`.
void findDroppedAccumulate(const KernelFacts &facts, MutantSink &sink) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      const Expr *target = nullptr;
      SourceLocation at;
      if (const auto *compound = dyn_cast<CompoundAssignOperator>(statement)) {
        target = compound->getLHS();
        at = compound->getOperatorLoc();
      } else if (const auto *call = dyn_cast<CXXOperatorCallExpr>(statement);
                 call &&
                 (call->getOperator() == OO_PlusEqual || call->getOperator() == OO_MinusEqual)) {
        target = call->getArg(0);
        at = call->getOperatorLoc();
      }
      if (!target || target->getType()->isPointerType() || isLoopStep(body, statement))
        continue;
      const VarDecl *variable = variableOf(target);
      if (variable && (steersALoop(body, statement, variable) || !facts.isLive(variable)))
        continue;
      sink.add(
          at, "`" + facts.view().text({at, at}).str() + "` made `=`", facts.replace({at, at}, "="),
          variable && !loopAround(body, statement) ? "the same where what it is added to is zero"
                                                   : "");
    }
}

std::string noteFor(const KernelFacts &facts, const BodyView &body, const Expr &expression) {
  const auto *plain = dyn_cast<BinaryOperator>(expression.IgnoreParenImpCasts());
  const bool isStore = plain && plain->getOpcode() == BO_Assign && !variableOf(plain->getLHS());
  return isStore && isStoredAgain(facts, body, *plain->getLHS()) ? kStoredAgain : "";
}

bool matters(const KernelFacts &facts, const BodyView &body, const Expr &expression) {
  const Expr *plain = expression.IgnoreParenImpCasts();
  const Expr *target = writtenBy(plain);
  if (const auto *call = dyn_cast<CXXOperatorCallExpr>(plain); call && call->isAssignmentOp())
    target = call->getArg(0);
  if (target) {
    const VarDecl *variable = variableOf(target);
    if (!variable)
      return true;
    return !steersALoop(body, &expression, variable) && facts.isLive(variable);
  }
  const auto *call = dyn_cast<CallExpr>(plain);
  static const std::set<CudaFunction> kIdle = {CudaFunction::Fence, CudaFunction::Print,
                                               CudaFunction::Assert, CudaFunction::Prefetch,
                                               CudaFunction::Sleep};
  return call && !calleeName(call).empty() && !kIdle.contains(cudaFunction(call));
}

/// A statement is gone.
void findRemovedStatement(const KernelFacts &facts, MutantSink &sink) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      const auto *expression = dyn_cast<Expr>(statement);
      if (!expression || isa<ParenExpr>(expression) || !isStatement(body, statement) ||
          facts.waits(statement, /*lanes=*/false) || !matters(facts, body, *expression))
        continue;
      llvm::StringRef text = facts.text(statement);
      sink.add(
          statement->getBeginLoc(),
          "`" + (text.size() > 60 ? text.take_front(57).str() + "..." : text.str()) + "` removed",
          facts.replace(statement->getSourceRange(), "(void)0"), noteFor(facts, body, *expression));
    }
}

} // namespace

void addStoreOperators(MutationOperators &catalogue) {
  catalogue.insert(catalogue.end(), {{"constant-store", findConstantStore},
                                     {"dropped-accumulate", findDroppedAccumulate},
                                     {"removed-statement", findRemovedStatement}});
}

} // namespace kopt::frontend
