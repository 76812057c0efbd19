// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/reference/Legality.h"
#include "clang_plugin/reference/Names.h"
#include "clang_plugin/reference/Widening.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// Follows integers that were converted from floats through variables, parameters and results,
/// regardless of the order of statements.
class Steering {
public:
  Steering(const KernelView &view, std::vector<ReferenceNote> &refusals,
           std::vector<ReferenceNote> &notes)
      : view_(view), refusals_(refusals), notes_(notes) {}

  void check() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const BodyView &body : view_.bodies())
        for (const Stmt *statement : body.statements)
          changed |= spread(body, statement);
    }
    for (const BodyView &body : view_.bodies())
      for (const Stmt *statement : body.statements)
        judge(body, statement);
  }

private:
  bool isRounding(const Stmt *statement) const {
    if (const auto *cast = dyn_cast<CastExpr>(statement))
      return cast->getCastKind() == CK_FloatingToIntegral &&
             isWidened(view_.context(), cast->getSubExpr()->getType()) &&
             !isConstant(cast->getSubExpr());
    const auto *call = dyn_cast<CallExpr>(statement);
    const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
    return callee && callee->getIdentifier() && makesInteger(callee->getName()) &&
           call->getNumArgs() > 0 && isWidened(view_.context(), call->getArg(0)->getType());
  }

  static bool roundsToWhole(llvm::StringRef name) {
    static const char *const kNames[] = {
        "floor",     "floorf",     "ceil",      "ceilf",      "round", "roundf", "rint", "rintf",
        "trunc",     "truncf",     "nearbyint", "nearbyintf", "fmod",  "fmodf",  "modf", "modff",
        "remainder", "remainderf", "hfloor",    "hceil",      "hrint", "htrunc"};
    return llvm::is_contained(kNames, name);
  }

  bool isConstant(const Expr *expression) const {
    Expr::EvalResult result;
    return !expression->isValueDependent() && expression->EvaluateAsRValue(result, view_.context());
  }

  /// True for an integer whose value may depend on how a float was rounded.
  bool isTainted(const Stmt *statement) const {
    if (!statement)
      return false;
    if (isRounding(statement))
      return true;
    if (const auto *reference = dyn_cast<DeclRefExpr>(statement))
      return tainted_.contains(reference->getDecl());
    if (const auto *call = dyn_cast<CallExpr>(statement);
        call && call->getDirectCallee() &&
        tainted_.contains(call->getDirectCallee()->getDefinition()))
      return true;
    if (const auto *expression = dyn_cast<Expr>(statement);
        expression && !expression->getType()->isIntegralOrEnumerationType() &&
        !expression->getType()->isPointerType())
      return false; // an element, a float: no longer the integer itself
    if (isa<ArraySubscriptExpr>(statement))
      return false;
    return llvm::any_of(statement->children(), [&](const Stmt *child) { return isTainted(child); });
  }

  static bool isInteger(QualType type) {
    type = type.getNonReferenceType();
    return type->isIntegralOrEnumerationType() || type->isPointerType();
  }

  bool spread(const BodyView &body, const Stmt *statement) {
    bool changed = false;
    const auto taint = [&](const Decl *decl) { changed |= decl && tainted_.insert(decl).second; };
    if (const auto *declaration = dyn_cast<DeclStmt>(statement)) {
      for (const Decl *decl : declaration->decls())
        if (const auto *variable = dyn_cast<VarDecl>(decl);
            variable && isInteger(variable->getType()) && isTainted(variable->getInit()))
          taint(variable);
    } else if (const auto *assignment = dyn_cast<BinaryOperator>(statement);
               assignment && assignment->isAssignmentOp()) {
      const auto *target = dyn_cast<DeclRefExpr>(assignment->getLHS()->IgnoreParenCasts());
      if (target && isInteger(target->getType()) && isTainted(assignment->getRHS()))
        taint(target->getDecl());
    } else if (const auto *result = dyn_cast<ReturnStmt>(statement)) {
      if (isInteger(body.function->getReturnType()) && isTainted(result->getRetValue()))
        taint(body.function);
    } else if (const auto *call = dyn_cast<CallExpr>(statement)) {
      const FunctionDecl *callee =
          call->getDirectCallee() ? call->getDirectCallee()->getDefinition() : nullptr;
      if (callee && view_.isInText(callee->getLocation()) && !isa<CXXOperatorCallExpr>(call))
        for (unsigned i = 0; i < std::min(call->getNumArgs(), callee->getNumParams()); ++i)
          if (isInteger(callee->getParamDecl(i)->getType()) && isTainted(call->getArg(i)))
            taint(callee->getParamDecl(i));
    }
    return changed;
  }

  /// True if narrow numbers are compared anywhere in a condition.
  bool comparesFloats(const Stmt *condition) const {
    if (!condition)
      return false;
    if (const auto *comparison = dyn_cast<BinaryOperator>(condition);
        comparison && comparison->isComparisonOp() &&
        isWidened(view_.context(), comparison->getLHS()->getType()))
      return true;
    if (const auto *call = dyn_cast<CXXOperatorCallExpr>(condition);
        call && call->isComparisonOp() && isWidened(view_.context(), call->getArg(0)->getType()))
      return true;
    return llvm::any_of(condition->children(),
                        [&](const Stmt *child) { return comparesFloats(child); });
  }

  static bool leavesLoop(const Stmt *statement) {
    if (!statement || isa<ForStmt, WhileStmt, DoStmt, SwitchStmt>(statement))
      return false;
    return isa<BreakStmt>(statement) ||
           llvm::any_of(statement->children(), [](const Stmt *child) { return leavesLoop(child); });
  }

  void judge(const BodyView &body, const Stmt *statement) {
    const Expr *condition = nullptr;
    if (const auto *loop = dyn_cast<ForStmt>(statement))
      condition = loop->getCond();
    else if (const auto *loop = dyn_cast<WhileStmt>(statement))
      condition = loop->getCond();
    else if (const auto *loop = dyn_cast<DoStmt>(statement))
      condition = loop->getCond();
    if (condition && (comparesFloats(condition) || isTainted(condition)))
      refuse("float-loop",
             "a floating-point number decides how often the loop on " +
                 quoted(view_, condition->getSourceRange()) + " runs",
             statement->getBeginLoc());
    if (const auto *branch = dyn_cast<IfStmt>(statement);
        branch && comparesFloats(branch->getCond()) &&
        (leavesLoop(branch->getThen()) || leavesLoop(branch->getElse())))
      refuse("float-loop",
             "a floating-point number decides when a loop is left: " +
                 quoted(view_, branch->getCond()->getSourceRange()),
             statement->getBeginLoc());
    const Expr *index = nullptr;
    if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(statement))
      index = subscript->getIdx();
    else if (const auto *sum = dyn_cast<BinaryOperator>(statement);
             sum && sum->isAdditiveOp() && sum->getType()->isPointerType())
      index = sum->getLHS()->getType()->isPointerType() ? sum->getRHS() : sum->getLHS();
    if (index && isTainted(index))
      refuse("float-index",
             "a floating-point number, rounded, decides which element is taken: " +
                 quoted(view_, index->getSourceRange()),
             statement->getBeginLoc());
    if (const auto *branch = dyn_cast<IfStmt>(statement);
        branch && comparesFloats(branch->getCond()))
      note("float-branch",
           "a comparison of floating-point numbers decides what is done: where they "
           "are nearly equal, the clone may go the other way",
           statement->getBeginLoc());
    if (const auto *call = dyn_cast<CallExpr>(statement);
        call && call->getDirectCallee() && call->getDirectCallee()->getIdentifier() &&
        roundsToWhole(call->getDirectCallee()->getName()) &&
        isWidened(view_.context(), call->getType()))
      note("rounding",
           "a floating-point number is rounded to a whole one: where it lies near one, the "
           "clone may take the other side",
           statement->getBeginLoc());
    if (isRounding(statement))
      note("to-integer",
           "a floating-point number becomes an integer: where it lies near one, the "
           "clone may take the other side",
           statement->getBeginLoc());
  }

  void refuse(const char *id, const std::string &message, SourceLocation at) {
    add(refusals_, id, message, at);
  }
  void note(const char *id, const std::string &message, SourceLocation at) {
    add(notes_, id, message, at);
  }
  void add(std::vector<ReferenceNote> &list, const char *id, const std::string &message,
           SourceLocation at) const {
    const unsigned line = lineOf(view_, at);
    for (const ReferenceNote &known : list)
      if (known.id == id && known.line == line)
        return;
    list.push_back({id, message, line});
  }

  const KernelView &view_;
  std::vector<ReferenceNote> &refusals_, &notes_;
  llvm::DenseSet<const Decl *> tainted_; ///< variables, parameters and functions
};

} // namespace

void checkSteering(const KernelView &view, std::vector<ReferenceNote> &refusals,
                   std::vector<ReferenceNote> &notes) {
  Steering(view, refusals, notes).check();
}

} // namespace kopt::frontend
