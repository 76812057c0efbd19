// SPDX-License-Identifier: Apache-2.0
// Operators on floating-point expressions whose value reaches an output.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/mutate/Mutation.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// `a + b`, `a - b`, `a * b` or `a / b` of built-in floating-point types, half or bfloat16.
struct Operation {
  const Expr *whole, *left, *right;
  SourceLocation at;
  char op; ///< + - * /
};

std::optional<Operation> operationOf(const Stmt *statement) {
  if (const auto *binary = dyn_cast<BinaryOperator>(statement)) {
    if (!isFloating(binary->getType()))
      return std::nullopt;
    switch (binary->getOpcode()) {
    case BO_Add:
    case BO_Sub:
    case BO_Mul:
    case BO_Div:
      return Operation{binary, binary->getLHS(), binary->getRHS(), binary->getOperatorLoc(),
                       BinaryOperator::getOpcodeStr(binary->getOpcode())[0]};
    default:
      return std::nullopt;
    }
  }
  const auto *call = dyn_cast<CXXOperatorCallExpr>(statement);
  if (!call || call->getNumArgs() != 2 || !isFloating(call->getType()))
    return std::nullopt;
  const OverloadedOperatorKind kind = call->getOperator();
  if (kind != OO_Plus && kind != OO_Minus && kind != OO_Star && kind != OO_Slash)
    return std::nullopt;
  return Operation{call, call->getArg(0), call->getArg(1), call->getOperatorLoc(),
                   getOperatorSpelling(kind)[0]};
}

bool isNumber(const Expr *expression, double number) {
  expression = expression->IgnoreParenImpCasts();
  if (const auto *literal = dyn_cast<FloatingLiteral>(expression))
    return literal->getValueAsApproximateDouble() == number;
  const auto *literal = dyn_cast<IntegerLiteral>(expression);
  return literal && literal->getValue() == static_cast<std::uint64_t>(number);
}

char opposite(char op) { return op == '+' ? '-' : op == '-' ? '+' : op == '*' ? '/' : '*'; }

void swapCompound(const KernelFacts &facts, MutantSink &sink,
                  const CompoundAssignOperator &compound) {
  const std::string op = BinaryOperator::getOpcodeStr(compound.getOpcode()).str();
  const VarDecl *variable = variableOf(compound.getLHS());
  if (!isFloating(compound.getType()) || op.size() != 2 ||
      !llvm::StringRef("+-*/").contains(op[0]) || (variable && !facts.isLive(variable)))
    return;
  const std::string other = std::string(1, opposite(op[0])) + "=";
  const SourceLocation at = compound.getOperatorLoc();
  sink.add(at, "`" + op + "` made `" + other + "`", facts.replace({at, at}, other));
}

/// `+` for `-`, `*` for `/`, and back.
void findArithmetic(const KernelFacts &facts, MutantSink &sink) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      if (const auto *compound = dyn_cast<CompoundAssignOperator>(statement))
        swapCompound(facts, sink, *compound);
      const auto operation = operationOf(statement);
      if (!operation || !facts.reachesOutput(body, operation->whole))
        continue;
      const bool isSum = operation->op == '+' || operation->op == '-';
      if (isNumber(operation->right, isSum ? 0 : 1))
        continue; // nothing would change
      const std::string other(1, opposite(operation->op));
      sink.add(operation->at, std::string("`") + operation->op + "` made `" + other + "`",
               facts.replace({operation->at, operation->at}, other));
    }
}

bool isFusedMultiplyAdd(llvm::StringRef name) {
  return name == "fmaf" || name == "fma" || name.starts_with("__fmaf_") ||
         name.starts_with("__fma_");
}

/// A sum lacks its last term.
void findDroppedTerm(const KernelFacts &facts, MutantSink &sink) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      if (const auto *call = dyn_cast<CallExpr>(statement); call && call->getNumArgs() == 3 &&
                                                            isFusedMultiplyAdd(calleeName(call)) &&
                                                            facts.reachesOutput(body, call))
        sink.add(call->getBeginLoc(), "nothing added in " + facts.text(call).str(),
                 facts.replace(call->getArg(2)->getSourceRange(), "0"));
      const auto operation = operationOf(statement);
      if (!operation || (operation->op != '+' && operation->op != '-') ||
          isNumber(operation->right, 0) || !facts.reachesOutput(body, operation->whole))
        continue;
      const auto left = facts.placeOf(operation->left->getSourceRange());
      const auto right = facts.placeOf(operation->right->getSourceRange());
      std::optional<std::vector<SliceEdit>> edits;
      if (left && right && left->second <= right->first)
        edits = std::vector{SliceEdit{left->second, right->second, ""}};
      sink.add(operation->at, "`" + facts.text(operation->right).str() + "` dropped from a sum",
               std::move(edits));
    }
}

/// Min for max, and back.
void findMinMax(const KernelFacts &facts, MutantSink &sink) {
  static const std::pair<llvm::StringRef, llvm::StringRef> kPairs[] = {
      {"min", "max"},           {"fmin", "fmax"},
      {"fminf", "fmaxf"},       {"umin", "umax"},
      {"llmin", "llmax"},       {"__hmin", "__hmax"},
      {"__hmin2", "__hmax2"},   {"atomicMin", "atomicMax"},
      {"__vmins2", "__vmaxs2"}, {"__reduce_min_sync", "__reduce_max_sync"}};
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      const auto *call = dyn_cast<CallExpr>(statement);
      const auto *callee =
          call ? dyn_cast<DeclRefExpr>(call->getCallee()->IgnoreParenImpCasts()) : nullptr;
      if (!callee || !facts.reachesOutput(body, call))
        continue;
      const llvm::StringRef name = calleeName(call);
      for (const auto &[low, high] : kPairs) {
        if (name != low && name != high)
          continue;
        const std::string other = (name == low ? high : low).str();
        sink.add(callee->getLocation(), name.str() + " made " + other,
                 facts.replace({callee->getLocation(), callee->getLocation()}, other));
      }
    }
}

} // namespace

void addArithmeticOperators(MutationOperators &catalogue) {
  catalogue.insert(
      catalogue.end(),
      {{"arithmetic", findArithmetic}, {"dropped-term", findDroppedTerm}, {"min-max", findMinMax}});
}

} // namespace kopt::frontend
