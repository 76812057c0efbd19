// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/KernelFacts.h"

#include <clang/AST/Attr.h>
#include <clang/Lex/Lexer.h>

namespace kopt::frontend {

using namespace clang;

namespace {

/// True for a call that only computes: its result depends on its arguments, and it has no other
/// effects.
bool isPureCall(const CallExpr *call) {
  for (const Expr *argument : call->arguments())
    if (argument->getType()->isPointerType() || argument->isLValue())
      return false;
  const CudaFunction kind = cudaFunction(call);
  return kind != CudaFunction::Atomic && kind != CudaFunction::Print &&
         kind != CudaFunction::CacheStore;
}

} // namespace

llvm::StringRef calleeName(const Expr *expression) {
  const auto *call = dyn_cast_or_null<CallExpr>(expression);
  const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
  return callee && callee->getIdentifier() ? callee->getName() : llvm::StringRef();
}

const Stmt *loopAround(const BodyView &body, const Stmt *statement) {
  for (const Stmt *up = body.parents.lookup(statement); up; up = body.parents.lookup(up))
    if (isa<ForStmt, WhileStmt, DoStmt>(up))
      return up;
  return nullptr;
}

const Expr *conditionOf(const Stmt *loop) {
  if (const auto *counted = dyn_cast<ForStmt>(loop))
    return counted->getCond();
  if (const auto *plain = dyn_cast<WhileStmt>(loop))
    return plain->getCond();
  if (const auto *trailing = dyn_cast<DoStmt>(loop))
    return trailing->getCond();
  return nullptr;
}

bool isStatement(const BodyView &body, const Stmt *statement) {
  const Stmt *child = statement, *parent = body.parents.lookup(statement);
  while (parent && isa<ParenExpr, ExprWithCleanups>(parent)) {
    child = parent;
    parent = body.parents.lookup(parent);
  }
  if (!parent)
    return false;
  if (isa<CompoundStmt, SwitchCase, LabelStmt>(parent))
    return true;
  if (const auto *branch = dyn_cast<IfStmt>(parent))
    return branch->getThen() == child || branch->getElse() == child;
  if (const auto *loop = dyn_cast<ForStmt>(parent))
    return loop->getBody() == child;
  if (const auto *loop = dyn_cast<WhileStmt>(parent))
    return loop->getBody() == child;
  return false;
}

const VarDecl *variableOf(const Expr *expression) {
  const auto *reference =
      expression ? dyn_cast<DeclRefExpr>(expression->IgnoreParenImpCasts()) : nullptr;
  return reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
}

bool mentions(const Stmt *statement, const VarDecl *variable) {
  if (!statement || !variable)
    return false;
  if (const auto *reference = dyn_cast<DeclRefExpr>(statement);
      reference && reference->getDecl() == variable)
    return true;
  return llvm::any_of(statement->children(),
                      [&](const Stmt *child) { return mentions(child, variable); });
}

bool isFloating(QualType type) {
  type = type.getNonReferenceType().getCanonicalType();
  if (type->isRealFloatingType())
    return true;
  const auto *record = type->getAsCXXRecordDecl();
  return record && record->getIdentifier() &&
         (record->getName().starts_with("__half") ||
          record->getName().starts_with("__nv_bfloat16"));
}

KernelFacts::KernelFacts(const KernelView &view) : view_(view), bodies_(view.bodies()) {
  std::erase_if(bodies_, [](const BodyView &body) { return body.function->isDefaulted(); });
  for (BodyView &body : bodies_) {
    llvm::DenseSet<const Stmt *> dead; // parents come before children
    for (const Stmt *statement : body.statements) {
      if (dead.contains(body.parents.lookup(statement)))
        dead.insert(statement);
      const auto *branch = dyn_cast<IfStmt>(statement);
      const auto taken = branch ? view_.constant(branch->getCond()) : std::nullopt;
      if (taken)
        dead.insert(*taken ? branch->getElse() : branch->getThen());
    }
    dead.erase(nullptr);
    std::erase_if(body.statements, [&](const Stmt *each) { return dead.contains(each); });
  }
  // Repeat until both sets stop growing, because variables get their values from other variables.
  for (bool changed = true; changed;) {
    changed = false;
    for (const BodyView &body : bodies_)
      for (const Stmt *statement : body.statements) {
        if (const auto *reference = dyn_cast<DeclRefExpr>(statement))
          if (const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
              variable && !live_.contains(variable) && climbsToOutput(body, reference))
            changed = live_.insert(variable).second || changed;
        if (const auto *declaration = dyn_cast<DeclStmt>(statement))
          for (const Decl *decl : declaration->decls())
            if (const auto *variable = dyn_cast<VarDecl>(decl);
                variable && variable->getInit() && !threadLocal_.contains(variable) &&
                dependsOnThread(variable->getInit()))
              changed = threadLocal_.insert(variable).second || changed;
        if (const auto *assignment = dyn_cast<BinaryOperator>(statement);
            assignment && assignment->isAssignmentOp())
          if (const VarDecl *variable = variableOf(assignment->getLHS());
              variable && !threadLocal_.contains(variable) && dependsOnThread(assignment->getRHS()))
            changed = threadLocal_.insert(variable).second || changed;
      }
  }
}

bool KernelFacts::dependsOnThread(const Stmt *expression) const {
  if (!expression)
    return false;
  if (const auto *value = dyn_cast<Expr>(expression))
    if (const auto place = coordinate(value))
      return place->variable == "threadIdx" || place->variable == "blockIdx";
  if (const auto *reference = dyn_cast<DeclRefExpr>(expression)) {
    const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
    return variable && threadLocal_.contains(variable);
  }
  return llvm::any_of(expression->children(),
                      [&](const Stmt *child) { return dependsOnThread(child); });
}

bool KernelFacts::waits(const Stmt *statement, bool lanes) const {
  llvm::SmallPtrSet<const Stmt *, 16> seen;
  llvm::SmallVector<const Stmt *> open = {statement};
  while (!open.empty()) {
    const Stmt *next = open.pop_back_val();
    if (!next || !seen.insert(next).second)
      continue;
    const CudaFunction kind = cudaFunction(next);
    if (kind == CudaFunction::Barrier || (lanes && kind == CudaFunction::Lanes))
      return true;
    open.append(next->child_begin(), next->child_end());
    const auto *call = dyn_cast<CallExpr>(next);
    const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
    for (const BodyView &body : bodies_)
      if (callee && body.function == callee->getDefinition())
        open.push_back(body.function->getBody());
  }
  return false;
}

bool KernelFacts::reachesOutput(const BodyView &body, const Expr *expression) const {
  return climbsToOutput(body, expression);
}

bool KernelFacts::climbsToOutput(const BodyView &body, const Stmt *value) const {
  const Stmt *child = value;
  for (const Stmt *parent = body.parents.lookup(child); parent;
       child = parent, parent = body.parents.lookup(parent)) {
    if (const auto *assignment = dyn_cast<BinaryOperator>(parent);
        assignment && assignment->isAssignmentOp()) {
      const Expr *target = assignment->getLHS();
      if (assignment->getLHS() == child) {
        // A compound assignment also reads its target, and an index on the left decides where to
        // write.
        if (!variableOf(target))
          return true;
        if (!isa<CompoundAssignOperator>(assignment))
          return false;
      }
      const VarDecl *variable = variableOf(target);
      if (!variable || !variable->isLocalVarDeclOrParm() ||
          variable->getType()->isReferenceType() || live_.contains(variable))
        return true;
      continue; // the value of the assignment itself may be used
    }
    if (const auto *declaration = dyn_cast<DeclStmt>(parent)) {
      for (const Decl *decl : declaration->decls())
        if (const auto *variable = dyn_cast<VarDecl>(decl))
          if (mentions(variable->getInit(), variableOf(dyn_cast<Expr>(value))) ||
              variable->getInit() == child)
            if (live_.contains(variable) || variable->getType()->isReferenceType() ||
                variable->hasAttr<CUDASharedAttr>())
              return true;
      return false;
    }
    if (const auto *call = dyn_cast<CallExpr>(parent); call && !isPureCall(call))
      return true;
    if (isa<ReturnStmt, IfStmt, SwitchStmt, CXXConstructExpr, LambdaExpr, InitListExpr>(parent))
      return true;
    if (isa<ForStmt, WhileStmt, DoStmt>(parent))
      return conditionOf(parent) == child;
    if (isa<CompoundStmt, SwitchCase, LabelStmt, AttributedStmt>(parent))
      return false;
  }
  return false;
}

llvm::StringRef KernelFacts::text(const Stmt *statement) const {
  const auto place = placeOf(statement->getSourceRange());
  return place ? view_.text().slice(place->first, place->second) : llvm::StringRef();
}

/// If either end of the range is a whole macro expansion, it counts as text; an end inside an
/// expansion does not.
std::optional<std::pair<unsigned, unsigned>> KernelFacts::placeOf(SourceRange range) const {
  const ASTContext &context = view_.context();
  const SourceManager &sources = context.getSourceManager();
  const CharSourceRange spelled = Lexer::makeFileCharRange(CharSourceRange::getTokenRange(range),
                                                           sources, context.getLangOpts());
  if (spelled.isInvalid())
    return std::nullopt;
  const auto begin = view_.offset(spelled.getBegin()), end = view_.offset(spelled.getEnd());
  if (!begin || !end || *end <= *begin)
    return std::nullopt;
  return std::pair(*begin, *end);
}

std::optional<std::vector<SliceEdit>> KernelFacts::replace(SourceRange range,
                                                           std::string text) const {
  const auto place = placeOf(range);
  if (!place)
    return std::nullopt;
  return std::vector{SliceEdit{place->first, place->second, std::move(text)}};
}

std::optional<std::vector<SliceEdit>> KernelFacts::wrap(const Stmt *inner, std::string before,
                                                        std::string after) const {
  const auto place = placeOf(inner->getSourceRange());
  if (!place)
    return std::nullopt;
  return std::vector{SliceEdit{place->first, place->first, std::move(before)},
                     SliceEdit{place->second, place->second, std::move(after)}};
}

} // namespace kopt::frontend
