// SPDX-License-Identifier: Apache-2.0
// Determines which definition of a variable reaches a point.
#include "clang_plugin/hostflow/HostFlow.h"

#include <clang/AST/ASTContext.h>

namespace kopt::frontend {

using clang::Expr;
using clang::Stmt;

namespace {

using Kind = Definition::Kind;

bool contains(const Stmt *statement, llvm::function_ref<bool(const Stmt *)> is) {
  if (!statement || llvm::isa<clang::LambdaExpr>(statement))
    return false;
  if (is(statement))
    return true;
  for (const Stmt *child : statement->children())
    if (contains(child, is))
      return true;
  return false;
}

/// The body of `do { ... } while (0)`, as in macros, which runs once; null for other statements.
const Stmt *bodyRunOnce(const Stmt *statement, const clang::ASTContext &context) {
  const auto *loop = llvm::dyn_cast<clang::DoStmt>(statement);
  Expr::EvalResult result;
  if (!loop || loop->getCond()->isValueDependent() ||
      !loop->getCond()->EvaluateAsInt(result, context) || result.Val.getInt().getBoolValue())
    return nullptr;
  return contains(loop->getBody(),
                  [](const Stmt *inner) {
                    return llvm::isa<clang::BreakStmt, clang::ContinueStmt>(inner);
                  })
             ? nullptr
             : loop->getBody();
}

bool leavesBlock(const Stmt *statement) {
  while (const auto *label = llvm::dyn_cast<clang::SwitchCase>(statement))
    statement = label->getSubStmt();
  if (const auto *block = llvm::dyn_cast<clang::CompoundStmt>(statement))
    return !block->body_empty() && leavesBlock(block->body_back());
  return llvm::isa<clang::BreakStmt, clang::ReturnStmt, clang::ContinueStmt>(statement);
}

} // namespace

std::optional<Definition> FunctionFlow::ofDeclarations(const Place &place,
                                                       const clang::DeclStmt *statement,
                                                       const Stmt *upTo) const {
  std::optional<Definition> last;
  for (const clang::Decl *declaration : statement->decls()) {
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration);
    if (!variable)
      continue;
    const Expr *initial = variable->getInit();
    if (upTo && initial && isInside(upTo, initial))
      break;
    if (variable == place.root) {
      last = Definition();
      if (initial && !variable->isStaticLocal())
        last = Definition{Kind::Value, initial, place.steps, nullptr};
    } else if (initial && writesWithin(place, initial)) {
      last = Definition();
    }
  }
  return last;
}

std::optional<Definition> FunctionFlow::ofExpression(const Place &place,
                                                     const Expr *expression) const {
  expression = strip(expression);
  if (!expression || !writesWithin(place, expression))
    return std::nullopt;
  const Expr *target = nullptr, *value = nullptr;
  bool plain = false;
  if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
    if (operation->getOpcode() == clang::BO_Comma) {
      std::optional<Definition> last = ofExpression(place, operation->getRHS());
      return last ? last : ofExpression(place, operation->getLHS());
    }
    if (!operation->isAssignmentOp())
      return Definition();
    target = operation->getLHS();
    value = operation->getRHS();
    plain = operation->getOpcode() == clang::BO_Assign;
  } else if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(expression);
             operation && operation->isIncrementDecrementOp()) {
    target = operation->getSubExpr();
  } else if (const auto *call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression);
             call && call->getOperator() == clang::OO_Equal && call->getNumArgs() == 2) {
    target = call->getArg(0);
    value = call->getArg(1);
    plain = true;
  } else {
    return Definition();
  }
  std::optional<Place> written = placeOf(target, context_);
  if (!written || !overlaps(*written, place)) // `a = b = 1`
    return value ? ofExpression(place, value) : Definition();
  if (value && writesWithin(place, value))
    return Definition();
  std::optional<std::vector<PlaceStep>> rest = partOf(*written, place);
  if (!rest || (!plain && !rest->empty()))
    return Definition();
  if (plain)
    return Definition{Kind::Value, value, *rest, nullptr};
  return Definition{Kind::Update, expression, {}, nullptr};
}

std::optional<Definition> FunctionFlow::ofStatement(const Place &place,
                                                    const Stmt *statement) const {
  if (!statement)
    return std::nullopt;
  while (true) {
    if (const auto *label = llvm::dyn_cast<clang::SwitchCase>(statement))
      statement = label->getSubStmt();
    else if (const auto *attributed = llvm::dyn_cast<clang::AttributedStmt>(statement))
      statement = attributed->getSubStmt();
    else
      break;
  }
  if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(statement))
    return ofDeclarations(place, declarations, nullptr);
  if (!writesWithin(place, statement))
    return std::nullopt;
  if (const auto *expression = llvm::dyn_cast<Expr>(statement))
    return ofExpression(place, expression);
  if (const Stmt *body = bodyRunOnce(statement, context_))
    return ofStatement(place, body);
  if (const auto *block = llvm::dyn_cast<clang::CompoundStmt>(statement)) {
    for (const Stmt *child : llvm::reverse(block->body()))
      if (std::optional<Definition> found = ofStatement(place, child))
        return found;
    return Definition();
  }
  if (const auto *choice = llvm::dyn_cast<clang::IfStmt>(statement);
      choice && !choice->getInit() && !choice->getConditionVariable() &&
      !writesWithin(place, choice->getCond()))
    return Definition{Kind::Choice, nullptr, {}, choice};
  return Definition();
}

Definition FunctionFlow::before(const Place &place, const Stmt *point) const {
  if (!contains(point) || isElusive(place, point) || (jumps_ && writes(place)))
    return {};
  const Stmt *at = point;
  while (const Stmt *parent = node(at).parent) {
    const clang::SwitchCase *label = llvm::dyn_cast<clang::SwitchCase>(parent);
    if (const auto *block = llvm::dyn_cast<clang::CompoundStmt>(parent)) {
      auto self = std::find(block->body_begin(), block->body_end(), at);
      while (self != block->body_begin() && !label) {
        --self;
        if (std::optional<Definition> found = ofStatement(place, *self))
          return *found;
        label = llvm::dyn_cast<clang::SwitchCase>(*self);
      }
    } else if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(parent)) {
      if (std::optional<Definition> found = ofDeclarations(place, declarations, at))
        return *found;
    } else if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(parent);
               operation && operation->getOpcode() == clang::BO_Comma &&
               operation->getRHS() == at) {
      if (std::optional<Definition> found = ofExpression(place, operation->getLHS()))
        return *found;
    } else if (const auto *choice = llvm::dyn_cast<clang::IfStmt>(parent)) {
      if (at != choice->getCond() && (choice->getInit() || choice->getConditionVariable() ||
                                      writesWithin(place, choice->getCond())))
        return {};
    } else if (const auto *lambda = llvm::dyn_cast<clang::LambdaExpr>(parent)) {
      if (llvm::is_contained(lambda->getCallOperator()->parameters(), place.root))
        return {Kind::Entry, nullptr, {}, nullptr};
      // A lambda may run later than where it is written, and more than once.
      if (auto found = writes_.find(place.root); found != writes_.end())
        for (const Write &write : found->second)
          if (overlaps(write.place, place) &&
              (node(write.at).end > node(lambda).begin || happensBetween(write.at, lambda, lambda)))
            return {};
      if (llvm::any_of(loopsBetween(lambda, function_.getBody()),
                       [&](const Stmt *loop) { return writesWithin(place, loop); }))
        return {};
    } else if (!bodyRunOnce(parent, context_) &&
               (isLoop(parent) || llvm::isa<clang::CXXCatchStmt>(parent)) &&
               writesWithin(place, parent)) {
      return {};
    }
    at = parent;
    if (!label)
      continue;
    // A case label is reached from the head of the switch, and also from the previous case if that
    // falls through.
    const Stmt *outermost = label;
    while (const Stmt *around = llvm::dyn_cast_or_null<clang::SwitchCase>(node(outermost).parent))
      outermost = around;
    const auto *body = llvm::dyn_cast_or_null<clang::CompoundStmt>(node(outermost).parent);
    const auto *head =
        body ? llvm::dyn_cast_or_null<clang::SwitchStmt>(node(body).parent) : nullptr;
    if (!head)
      return {};
    if (writesWithin(place, head)) {
      auto self = std::find(body->body_begin(), body->body_end(), outermost);
      if (writesWithin(place, head->getCond()) ||
          (self != body->body_begin() && !leavesBlock(*std::prev(self))))
        return {};
    }
    at = head;
  }
  return {Kind::Entry, nullptr, {}, nullptr};
}

Definition FunctionFlow::atEnd(const Place &place) const {
  if (isElusive(place, function_.getBody()) || (jumps_ && writes(place)))
    return {};
  std::optional<Definition> found = ofStatement(place, function_.getBody());
  return found ? *found : Definition{Kind::Entry, nullptr, {}, nullptr};
}

Definition FunctionFlow::afterBranch(const Place &place, const Stmt *branch,
                                     const clang::IfStmt *choice) const {
  if (std::optional<Definition> found = ofStatement(place, branch))
    return *found;
  return before(place, choice);
}

} // namespace kopt::frontend
