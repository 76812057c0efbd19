// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/ReductionLoop.h"

#include "clang_plugin/analysis/BodyText.h"

namespace kopt::frontend {

using namespace clang;

namespace {

Accumulator accumulatorOf(model::ReductionKind kind, const std::string &name, bool isDouble) {
  using model::ReductionKind;
  const auto by = [&](const std::string &sign, const std::string &identity) {
    return Accumulator{name, name + " " + sign + "= ${OTHER}", identity};
  };
  const auto call = [&](const std::string &function) {
    return Accumulator{name, name + " = " + function + "(" + name + ", ${OTHER})", ""};
  };
  const std::string suffix = isDouble ? "" : "f";
  switch (kind) {
  case ReductionKind::Add:
  case ReductionKind::FAdd:
    return by("+", "0");
  case ReductionKind::Multiply:
  case ReductionKind::FMultiply:
    return by("*", "1");
  case ReductionKind::And:
    return by("&", "");
  case ReductionKind::Or:
    return by("|", "");
  case ReductionKind::Xor:
    return by("^", "0");
  case ReductionKind::Min:
    return call("min");
  case ReductionKind::Max:
    return call("max");
  case ReductionKind::FMin:
    return call("fmin" + suffix);
  case ReductionKind::FMax:
    return call("fmax" + suffix);
  }
  llvm_unreachable("a kind of reduction");
}

class LoopReader {
public:
  LoopReader(const KernelView &view, const model::KernelModel &model, const BodyView &body,
             const ForStmt &loop, Refusals &refusals)
      : view_(view), model_(model), body_(body), loop_(loop), refusals_(refusals) {}

  std::optional<ReductionLoop> run() {
    const auto count = countedLoop(view_, body_, loop_);
    if (!count || !isCertain(*count))
      return refuse(&loop_, "the loop does not count to a bound");
    if (!readBody())
      return std::nullopt;
    ReductionLoop result{&body_, &loop_, *count, {}};
    for (const auto &[variable, writes] : writes_) {
      if (auto accumulator = readAccumulator(variable))
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

  /// How each instance of the loop accumulates the variable, if all do so alike and lanes can
  /// exchange it.
  std::optional<Accumulator> readAccumulator(const VarDecl *variable) const {
    const auto *type = variable->getType()->getAs<BuiltinType>();
    const SourceManager &sources = view_.context().getSourceManager();
    const unsigned line = sources.getPresumedLoc(variable->getLocation()).getLine();
    std::optional<model::ReductionKind> kind;
    for (const model::LoopFacts &facts : model_.loops) {
      if (!facts.place.range || facts.place.range->begin != view_.offset(loop_.getForLoc()))
        continue;
      const auto found = llvm::find_if(facts.reductions, [&](const model::Reduction &each) {
        return each.name == variable->getName() && each.line == line;
      });
      if (found == facts.reductions.end() || (kind && *kind != found->kind))
        return std::nullopt;
      kind = found->kind;
    }
    if (!kind || !type || !llvm::is_contained({32, 64}, view_.context().getTypeSize(type)))
      return std::nullopt;
    Accumulator result =
        accumulatorOf(*kind, variable->getName().str(), type->getKind() == BuiltinType::Double);
    result.startsAtIdentity = !result.identity.empty() && isDeclaredAs(variable, result.identity);
    return result;
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
  const model::KernelModel &model_;
  const BodyView &body_;
  const ForStmt &loop_;
  Refusals &refusals_;
  llvm::MapVector<const VarDecl *, std::vector<const Stmt *>> writes_; ///< to what is outside
};

} // namespace

std::optional<ReductionLoop> readReductionLoop(const KernelView &view,
                                               const model::KernelModel &model,
                                               const BodyView &body, const ForStmt &loop,
                                               Refusals &refusals) {
  return LoopReader(view, model, body, loop, refusals).run();
}

} // namespace kopt::frontend
