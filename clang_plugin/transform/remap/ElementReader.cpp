// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/Writes.h"
#include "clang_plugin/transform/remap/Elements.h"

namespace kopt::frontend {

using namespace clang;

namespace {

class ElementReader {
public:
  ElementReader(const KernelView &view, const ThreadBody &body, Axes merged, ElementOrder order,
                Refusals &refusals)
      : view_(view), kernel_(view.work()), body_(body), refusals_(refusals) {
    result_.merged = merged;
    result_.order = order;
  }

  std::optional<Elements> run() {
    if (!checkText() || !matchGuard() || !readUnits() || !findAxes())
      return std::nullopt;
    return std::move(result_);
  }

private:
  /// Variables that others name can not become several, and what is compiled only at times cannot
  /// be told apart.
  bool checkText() {
    llvm::SmallVector<llvm::StringRef> lines;
    view_.text().slice(body_.begin, body_.end).split(lines, '\n');
    for (const llvm::StringRef line : lines)
      if (line.ltrim().starts_with("#") && !line.contains("pragma"))
        return refusals_.add(kernel_.function->getBody(), "the body has directives");
    for (const Stmt *part : kernel_.statements) {
      const auto *expression = dyn_cast<Expr>(part);
      if (expression && namesLocal(*expression) && isKept(*expression))
        return refusals_.add(part, "the address of a variable is kept");
      if (const auto *declared = dyn_cast<DeclStmt>(part))
        for (const Decl *each : declared->decls())
          if (const auto *variable = dyn_cast<VarDecl>(each);
              variable && variable->getType()->isReferenceType() && variable->getInit() &&
              readLvalue(variable->getInit()).variable && !readLvalue(variable->getInit()).pointer)
            return refusals_.add(part, "a reference names a variable");
    }
    return true;
  }

  /// `&x`, or an array without a subscript.
  bool namesLocal(const Expr &expression) const {
    const auto *address = dyn_cast<UnaryOperator>(&expression);
    if (address && address->getOpcode() == UO_AddrOf)
      return readLvalue(address->getSubExpr()).isLocal();
    const auto *decay = dyn_cast<ImplicitCastExpr>(&expression);
    return decay && decay->getCastKind() == CK_ArrayToPointerDecay &&
           readLvalue(decay->getSubExpr()).isLocal() &&
           !isa_and_nonnull<ArraySubscriptExpr>(kernel_.parentOf(decay));
  }

  /// False for a pointer that a call gets which returns none.
  bool isKept(const Expr &pointer) const {
    const Stmt *up = kernel_.parentOf(&pointer);
    while (isa_and_nonnull<CastExpr, UnaryOperator>(up))
      up = kernel_.parentOf(up);
    const auto *call = dyn_cast_or_null<CallExpr>(up);
    return !call || (!call->getType()->isVoidType() && !call->getType()->isArithmeticType());
  }

  bool matchGuard() {
    auto guard = readGuard(view_, refusals_);
    if (!guard)
      return false;
    result_.guard = std::move(*guard);
    Axes guarded = 0;
    for (const GuardTest &test : result_.guard.tests)
      guarded |= 1u << test.axis;
    return (guarded & result_.merged) == result_.merged ||
           refusals_.add(result_.guard.statement, "it does not test each index against a bound");
  }

  bool readUnits() {
    const auto *block = cast<CompoundStmt>(kernel_.function->getBody());
    std::vector<const Stmt *> before, work;
    bool isBefore = true;
    for (const Stmt *each : block->body()) {
      if (each != result_.guard.statement)
        (isBefore ? before : work).push_back(each);
      isBefore = isBefore && each != result_.guard.statement;
    }
    for (const Stmt *each : kernel_.statements)
      if (isa<ReturnStmt>(each) &&
          !(result_.guard.leaves && kernel_.isWithin(each, result_.guard.statement)))
        return refusals_.add(each, "it returns beyond its guard");
    result_.before.clear();
    result_.work.clear();
    unsigned place = body_.begin;
    if (!addUnits(before, place, result_.before))
      return false;
    const auto behind = result_.guard.leaves
                            ? endOfStatement(view_, result_.guard.statement)
                            : view_.endOffset(result_.guard.statement->getRParenLoc());
    if (!behind)
      return refusals_.add(result_.guard.statement, "a macro spells the guard");
    place = *behind;
    if (!result_.guard.leaves)
      work = statementsOf(result_.guard.statement->getThen(), place);
    return addUnits(work, place, result_.work);
  }

  /// Those of a body, which may be a block: then `place` moves behind its brace.
  std::vector<const Stmt *> statementsOf(const Stmt *body, unsigned &place) const {
    const auto *block = dyn_cast<CompoundStmt>(body);
    if (!block)
      return {body};
    place = view_.endOffset(block->getLBracLoc()).value_or(place);
    return {block->body_begin(), block->body_end()};
  }

  /// `place`: the end of what stands before.
  bool addUnits(llvm::ArrayRef<const Stmt *> statements, unsigned &place,
                std::vector<Unit> &units) {
    for (const Stmt *each : statements) {
      const auto *attributed = dyn_cast<AttributedStmt>(each);
      const Stmt *bare = attributed ? attributed->getSubStmt() : each;
      const auto begin = view_.offset(bare->getBeginLoc()), end = endOfStatement(view_, bare);
      if (!begin || !end || *begin < place)
        return refusals_.add(each, "a macro spells a statement");
      Unit unit;
      unit.statement = bare;
      unit.begin = *begin;
      unit.end = *end;
      unit.lead = view_.text().slice(place, *begin).trim().str();
      const auto *loop = dyn_cast<ForStmt>(bare);
      if (loop && !apart_.contains(loop) && isShared(*loop)) {
        unit.loop = loop;
        unsigned inner = *view_.endOffset(loop->getRParenLoc());
        if (!addUnits(statementsOf(loop->getBody(), inner), inner, unit.inside))
          return false;
      }
      for (const Stmt *part : kernel_.statements)
        if (kernel_.isWithin(part, bare) && !(unit.loop && kernel_.isWithin(part, loop->getBody())))
          unit.parts.push_back(part);
      place = *end;
      units.push_back(std::move(unit));
    }
    return true;
  }

  /// False for a loop that is left, or whose head is of a macro.
  bool isShared(const ForStmt &loop) const {
    return view_.endOffset(loop.getRParenLoc()) && view_.offset(loop.getBody()->getBeginLoc()) &&
           llvm::none_of(kernel_.statements, [&](const Stmt *each) {
             if (!isa<BreakStmt, ContinueStmt>(each) || !kernel_.isWithin(each, &loop))
               return false;
             const Stmt *up = kernel_.parents.lookup(each);
             while (!isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(up) &&
                    !(isa<SwitchStmt>(up) && isa<BreakStmt>(each)))
               up = kernel_.parents.lookup(up);
             return up == &loop;
           });
  }

  /// Until nothing changes: what depends on the element, through variables. A loop whose head does
  /// is not run together.
  bool findAxes() {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      headOfElement_ = nullptr;
      if (!spread(result_.before, isChanged) || !spread(result_.work, isChanged))
        return false;
      if (!headOfElement_)
        continue;
      apart_.insert(headOfElement_);
      result_.axes.clear();
      if (!readUnits())
        return false;
      isChanged = true;
    }
    for (const Unit &unit : result_.before)
      if (!isa<DeclStmt>(unit.statement) || hasEffect(unit) ||
          (unit.axes != 0 && llvm::any_of(unit.parts, [](const Stmt *part) {
             return isa<CallExpr>(part) || loadsMemory(part);
           })))
        return refusals_.add(unit.statement, "it does more than declare before its guard");
    return true;
  }

  bool spread(std::vector<Unit> &units, bool &isChanged) {
    for (Unit &unit : units) {
      const Axes axes = hasEffect(unit) ? result_.merged : result_.axesOf(unit.parts);
      if (unit.loop) {
        if (axes != 0)
          headOfElement_ = unit.loop;
        if (!spread(unit.inside, isChanged))
          return false;
        continue;
      }
      isChanged |= axes != unit.axes;
      unit.axes = axes;
      for (const Stmt *part : unit.parts) {
        if (isa<LambdaExpr>(part))
          return refusals_.add(part, "the kernel has a lambda");
        const auto *reference = dyn_cast<DeclRefExpr>(part);
        if (const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
            variable && variable->hasLocalStorage() && body_.mayChange(reference))
          join(variable, axes, isChanged);
        if (const auto *declared = dyn_cast<DeclStmt>(part))
          for (const Decl *each : declared->decls())
            if (const auto *variable = dyn_cast<VarDecl>(each))
              join(variable, axes, isChanged);
      }
    }
    return true;
  }

  void join(const VarDecl *variable, Axes axes, bool &isChanged) {
    Axes &known = result_.axes[variable];
    isChanged |= (known | axes) != known;
    known |= axes;
  }

  /// True if it may change more than local variables: each element has to do it.
  static bool hasEffect(const Unit &unit) {
    return llvm::any_of(unit.parts, [](const Stmt *part) {
      const auto written = writesOf(part);
      return !written || llvm::any_of(*written, [](const Lvalue &each) { return !each.isLocal(); });
    });
  }

  const KernelView &view_;
  const BodyView &kernel_;
  const ThreadBody &body_;
  Refusals &refusals_;
  Elements result_;
  llvm::DenseSet<const ForStmt *> apart_; ///< loops that each element runs by itself
  const ForStmt *headOfElement_ = nullptr;
};

} // namespace

Axes Elements::axesOf(llvm::ArrayRef<const Stmt *> parts) const {
  Axes found = 0;
  for (const Stmt *part : parts) {
    if (const auto place = coordinate(dyn_cast<Expr>(part));
        place && (place->variable == "blockIdx" ||
                  (order == ElementOrder::Adjacent && place->variable == "threadIdx")))
      found |= 1u << place->dimension & merged;
    if (const auto *reference = dyn_cast<DeclRefExpr>(part))
      found |= axes.lookup(dyn_cast<VarDecl>(reference->getDecl()));
    if (const auto *declared = dyn_cast<DeclStmt>(part))
      for (const Decl *each : declared->decls())
        found |= axes.lookup(dyn_cast<VarDecl>(each));
  }
  return found;
}

std::optional<Elements> readElements(const KernelView &view, const ThreadBody &body, Axes merged,
                                     ElementOrder order, Refusals &refusals) {
  return ElementReader(view, body, merged, order, refusals).run();
}

} // namespace kopt::frontend
