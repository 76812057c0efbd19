// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/ReductionLoop.h"

#include "clang_plugin/analysis/BodyText.h"

namespace kopt::frontend {

using namespace clang;

namespace {

using Operation = std::pair<std::string, std::string>; ///< Accumulator's combine and identity

std::optional<Operation> operationOf(BinaryOperatorKind kind, const std::string &name) {
  switch (kind) {
  case BO_Add:
  case BO_Sub:
    return Operation{name + " += ${OTHER}", "0"};
  case BO_Mul:
    return Operation{name + " *= ${OTHER}", "1"};
  case BO_Xor:
    return Operation{name + " ^= ${OTHER}", "0"};
  case BO_And:
    return Operation{name + " &= ${OTHER}", ""};
  case BO_Or:
    return Operation{name + " |= ${OTHER}", ""};
  default:
    return std::nullopt;
  }
}

class LoopReader {
public:
  LoopReader(const KernelView &view, const BodyView &body, const ForStmt &loop, Refusals &refusals)
      : view_(view), body_(body), loop_(loop), refusals_(refusals) {}

  std::optional<ReductionLoop> run() {
    const auto count = countedLoop(view_, body_, loop_);
    if (!count || !isCertain(*count))
      return refuse(&loop_, "the loop does not count to a bound");
    if (!readBody())
      return std::nullopt;
    ReductionLoop result{&body_, &loop_, *count, {}};
    for (const auto &[variable, writes] : writes_) {
      if (auto accumulator = readAccumulator(variable, writes))
        result.accumulators.push_back(std::move(*accumulator));
      else if (!isTemporary(variable))
        return refuse(writes.front(),
                      "the loop carries '" + variable->getName() + "' to its next iteration");
    }
    if (result.accumulators.empty())
      return refuse(&loop_, "the loop accumulates nothing");
    return result;
  }

private:
  std::nullopt_t refuse(const Stmt *at, const llvm::Twine &why) {
    refusals_.add(at->getBeginLoc(), why);
    return std::nullopt;
  }
  bool isInside(const Stmt *statement) const { return body_.isWithin(statement, &loop_); }

  std::vector<const DeclRefExpr *> usesOf(const VarDecl *variable) const {
    std::vector<const DeclRefExpr *> uses;
    for (const Stmt *statement : body_.statements)
      if (const auto *use = dyn_cast<DeclRefExpr>(statement); use && use->getDecl() == variable)
        uses.push_back(use);
    return uses;
  }

  /// True if the counter does not wrap before the bound, also in longer steps, and has its value
  /// for this loop alone.
  bool isCertain(const CountedLoop &count) const {
    const QualType type = count.counter->getType();
    return count.comparison != BO_NE && type->isIntegerType() &&
           view_.context().getTypeSize(type) >= 32 && !mentions(count.bound, count.counter) &&
           (count.step > 0 || (type->isSignedIntegerType() && count.isSigned)) &&
           spanOf(view_, loop_.getInc()->getSourceRange()) &&
           spanOf(view_, count.first->getSourceRange()) &&
           llvm::all_of(usesOf(count.counter), [&](const DeclRefExpr *use) {
             return isa<DeclStmt>(loop_.getInit()) || isSetByLoop(use);
           });
  }

  /// True for a counter's use in a loop that sets it first.
  bool isSetByLoop(const DeclRefExpr *counter) const {
    for (const Stmt *up = counter; up; up = body_.parents.lookup(up)) {
      const auto *loop = dyn_cast<ForStmt>(up);
      const auto *set = loop ? dyn_cast_or_null<BinaryOperator>(loop->getInit()) : nullptr;
      if (set && set->getOpcode() == BO_Assign && variableOf(set->getLHS()) == counter->getDecl())
        return true;
    }
    return false;
  }

  /// False, with a refusal, if the loop does more than compute. Collects what it writes to outside.
  bool readBody() {
    llvm::DenseSet<const Decl *> own;
    const auto fail = [&](const Stmt *at, const llvm::Twine &why) {
      return refuse(at, why), false;
    };
    for (const Stmt *statement : body_.statements) {
      if (!isInside(statement) || statement == loop_.getInc() || statement == loop_.getInit())
        continue;
      if (const auto *declared = dyn_cast<DeclStmt>(statement))
        own.insert(declared->decl_begin(), declared->decl_end());
      if (isa<ReturnStmt, GotoStmt, IndirectGotoStmt, LabelStmt, LambdaExpr, CXXNewExpr,
              CXXDeleteExpr>(statement) ||
          (isa<BreakStmt>(statement) &&
           enclosing<ForStmt, WhileStmt, DoStmt, SwitchStmt, CXXForRangeStmt>(body_, statement) ==
               &loop_))
        return fail(statement, "the loop is left before its end, or has a lambda");
      const auto written = writesOf(statement);
      if (!written)
        return fail(statement, "the loop calls what may write to memory");
      for (const Lvalue &target : *written) {
        if (target.isTemporary() || (target.isLocal() && own.contains(target.variable)))
          continue;
        if (!target.isLocal())
          return fail(statement, "the loop writes to memory");
        if (!target.isWhole)
          return fail(statement,
                      "the loop writes to a part of '" + target.variable->getName() + "'");
        writes_[target.variable].push_back(statement);
      }
    }
    return true;
  }

  /// Only the loop uses it, and every iteration begins by setting it.
  bool isTemporary(const VarDecl *variable) const {
    const auto uses = usesOf(variable);
    const Stmt *first = uses.front(); // then the statement of the loop's body that has it
    while (first && body_.parents.lookup(first) != loop_.getBody())
      first = body_.parents.lookup(first);
    if (!isa<CompoundStmt>(loop_.getBody()) || !isa_and_nonnull<Expr>(first) ||
        !llvm::all_of(uses, [&](const Stmt *use) { return isInside(use); }))
      return false;
    if (const auto *set = dyn_cast<BinaryOperator>(first))
      return set->getOpcode() == BO_Assign && variableOf(set->getLHS()) == variable &&
             !mentions(set->getRHS(), variable);
    return calleeName(cast<Expr>(first)).contains("sincos"); // it sets what it gets a pointer to
  }

  std::optional<Accumulator> readAccumulator(const VarDecl *variable,
                                             const std::vector<const Stmt *> &writes) const {
    const auto *type = variable->getType()->getAs<BuiltinType>();
    const auto uses = usesOf(variable);
    // Lanes can exchange it, and it has no other name.
    if (!type ||
        !(type->isInteger() || type->getKind() == BuiltinType::Float ||
          type->getKind() == BuiltinType::Double) ||
        !llvm::is_contained({32, 64}, view_.context().getTypeSize(type)) ||
        !llvm::all_of(uses, [&](const DeclRefExpr *use) { return isReadOrWritten(use); }))
      return std::nullopt;
    Accumulator result{variable->getName().str(), "", ""};
    std::ptrdiff_t accounted = 0;
    for (const Stmt *write : writes) {
      const auto operation = operationOf(write, variable);
      if (!operation || (!result.combine.empty() && result.combine != operation->first))
        return std::nullopt;
      std::tie(result.combine, result.identity) = *operation;
      accounted +=
          llvm::count_if(uses, [&](const auto *use) { return body_.isWithin(use, write); });
    }
    if (accounted != llvm::count_if(uses, [&](const auto *use) { return isInside(use); }))
      return std::nullopt;
    result.startsAtIdentity = !result.identity.empty() && isDeclaredAs(variable, result.identity);
    return result;
  }

  bool isReadOrWritten(const DeclRefExpr *use) const {
    const Stmt *parent = body_.parentOf(use);
    const auto *read = dyn_cast_or_null<ImplicitCastExpr>(parent);
    const Expr *written = parent ? writtenBy(parent) : nullptr;
    return (read && read->getCastKind() == CK_LValueToRValue) ||
           (written && written->IgnoreParens() == use);
  }

  /// How a write accumulates; nothing if it does not.
  std::optional<Operation> operationOf(const Stmt *write, const VarDecl *variable) const {
    const std::string name = variable->getName().str();
    if (!isStatement(body_, write))
      return std::nullopt;
    if (isa<UnaryOperator>(write))
      return frontend::operationOf(BO_Add, name);
    const auto *set = dyn_cast<BinaryOperator>(write);
    if (!set)
      return std::nullopt;
    const Expr *value = set->getRHS()->IgnoreParenImpCasts();
    // An integer that is computed as a real number loses a part in each turn.
    const auto *compound = dyn_cast<CompoundAssignOperator>(set);
    const QualType computed = compound ? compound->getComputationResultType() : value->getType();
    if (variable->getType()->isIntegerType() && !computed->isIntegerType())
      return std::nullopt;
    if (compound)
      return mentions(value, variable)
                 ? std::nullopt
                 : frontend::operationOf(
                       BinaryOperator::getOpForCompoundAssignment(set->getOpcode()), name);
    const auto isAlone = [&](const Expr *own, std::initializer_list<const Expr *> others) {
      return variableOf(own) == variable &&
             llvm::none_of(others, [&](const Expr *each) { return mentions(each, variable); });
    };
    if (const auto *binary = dyn_cast<BinaryOperator>(value)) {
      const Expr *left = binary->getLHS(), *right = binary->getRHS();
      return isAlone(left, {right}) || (isAlone(right, {left}) && binary->getOpcode() != BO_Sub)
                 ? frontend::operationOf(binary->getOpcode(), name)
                 : std::nullopt;
    }
    const auto *call = dyn_cast<CallExpr>(value);
    const llvm::StringRef callee = calleeName(value);
    if (call && call->getNumArgs() == 3 &&
        llvm::is_contained({"fma", "fmaf", "__fmaf_rn", "__fma_rn"}, callee) &&
        isAlone(call->getArg(2), {call->getArg(0), call->getArg(1)}))
      return frontend::operationOf(BO_Add, name);
    if (call && call->getNumArgs() == 2 && cudaFunction(call) == CudaFunction::Smaller &&
        !view_.isInText(call->getDirectCallee()->getLocation()) &&
        (isAlone(call->getArg(0), {call->getArg(1)}) ||
         isAlone(call->getArg(1), {call->getArg(0)})))
      return Operation{name + " = " + callee.str() + "(" + name + ", ${OTHER})", ""};
    return std::nullopt;
  }

  /// True if the variable is declared with this value in the block of the loop, and is not used in
  /// between.
  bool isDeclaredAs(const VarDecl *variable, llvm::StringRef value) const {
    Expr::EvalResult result;
    if (!variable->getInit() || variable->getInit()->isValueDependent() ||
        !variable->getInit()->EvaluateAsRValue(result, view_.context()))
      return false;
    const bool isOne = value == "1";
    const bool isEqual = (result.Val.isInt() && result.Val.getInt() == isOne) ||
                         (result.Val.isFloat() && result.Val.getFloat().isExactlyValue(isOne) &&
                          !result.Val.getFloat().isNegative());
    const Stmt *around = body_.parents.lookup(&loop_);
    if (isa_and_nonnull<AttributedStmt>(around))
      around = body_.parents.lookup(around);
    return isEqual && isInside(usesOf(variable).front()) &&
           llvm::any_of(body_.statements,
                        [&](const Stmt *each) {
                          const auto *declared = dyn_cast<DeclStmt>(each);
                          return declared && llvm::is_contained(declared->decls(), variable) &&
                                 body_.parents.lookup(each) == around;
                        }) &&
           llvm::none_of(body_.statements, [](const Stmt *each) { return isa<LabelStmt>(each); });
  }

  const KernelView &view_;
  const BodyView &body_;
  const ForStmt &loop_;
  Refusals &refusals_;
  llvm::MapVector<const VarDecl *, std::vector<const Stmt *>> writes_; ///< to what is outside
};

} // namespace

std::optional<ReductionLoop> readReductionLoop(const KernelView &view, const BodyView &body,
                                               const ForStmt &loop, Refusals &refusals) {
  return LoopReader(view, body, loop, refusals).run();
}

} // namespace kopt::frontend
