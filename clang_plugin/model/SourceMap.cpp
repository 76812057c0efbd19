// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/SourceMap.h"

#include "clang_plugin/model/DeviceModule.h"

#include <clang/AST/ExprCXX.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/Path.h>

namespace kopt::frontend::model {

namespace {

std::string absolute(llvm::StringRef directory, llvm::StringRef file) {
  if (llvm::sys::path::is_absolute(file))
    return file.str();
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, file);
  return std::string(path);
}

/// Whether the expression names memory.
bool isPlaceExpression(const clang::Expr *expression) {
  if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(expression))
    return unary->getOpcode() == clang::UO_Deref;
  if (const auto *call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression))
    return expression->isGLValue() &&
           (call->getOperator() == clang::OO_Subscript || call->getOperator() == clang::OO_Star);
  if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    return variable && (!variable->hasLocalStorage() || variable->getType()->isReferenceType());
  }
  return llvm::isa<clang::ArraySubscriptExpr, clang::MemberExpr>(expression);
}

/// Whether the value at the place is what the expression is for, and not a part or the address.
bool isRead(const BodyView &body, const clang::Expr *expression) {
  const clang::Stmt *parent = body.parentOf(expression);
  const clang::Stmt *part = expression;
  while (const auto *choice = llvm::dyn_cast_or_null<clang::ConditionalOperator>(parent)) {
    if (choice->getCond()->IgnoreParens() == part)
      return false;
    part = choice;
    parent = body.parentOf(choice);
  }
  while (const auto *cast = llvm::dyn_cast_or_null<clang::ImplicitCastExpr>(parent)) {
    if (cast->getCastKind() == clang::CK_LValueToRValue)
      return true;
    if (cast->getCastKind() != clang::CK_NoOp)
      return false;
    parent = body.parentOf(cast);
  }
  return llvm::isa_and_nonnull<clang::CXXConstructExpr>(parent);
}

} // namespace

SourceMap::SourceMap(const KernelView &view) : view_(view) {
  const clang::SourceManager &sources = view.context().getSourceManager();
  const clang::FileID file = sources.getMainFileID();
  const auto count = unsigned(view.text().count('\n') + 1);
  for (unsigned line = 1; line <= count; ++line) {
    const clang::PresumedLoc presumed =
        sources.getPresumedLoc(sources.translateLineCol(file, line, 1));
    if (presumed.isValid())
      lines_.try_emplace({absolute(kRelativeTo, presumed.getFilename()), presumed.getLine()}, line);
  }
  for (const BodyView &body : view.bodies())
    for (const clang::Stmt *statement : body.statements) {
      if (llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(
              statement))
        add(Role::Loop, statement->getBeginLoc(), statement);
      else if (const auto *expression = llvm::dyn_cast<clang::Expr>(statement))
        addExpression(body, expression);
      else if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(statement))
        for (const clang::Decl *declared : declarations->decls())
          if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(declared);
              variable && variable->getInit())
            add(Role::Load, variable->getLocation(), variable->getInit());
    }
}

void SourceMap::addExpression(const BodyView &body, const clang::Expr *expression) {
  if (isPlaceExpression(expression) && isRead(body, expression))
    add(Role::Load, expression->getExprLoc(), expression);
  if (const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
    if (binary->isAssignmentOp())
      add(Role::Store, binary->getOperatorLoc(), binary->getLHS());
    if (binary->isCompoundAssignmentOp())
      add(Role::Load, binary->getOperatorLoc(), binary->getLHS());
    if (binary->isComparisonOp())
      add(Role::Comparison, binary->getOperatorLoc(), binary);
  } else if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(expression);
             unary && unary->isIncrementDecrementOp()) {
    add(Role::Load, unary->getOperatorLoc(), unary->getSubExpr());
    add(Role::Store, unary->getOperatorLoc(), unary->getSubExpr());
  } else if (const auto *assignment = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression);
             assignment && assignment->getOperator() == clang::OO_Equal) {
    add(Role::Store, assignment->getOperatorLoc(), assignment->getArg(0));
    if (assignment->getNumArgs() > 1)
      add(Role::Load, assignment->getOperatorLoc(), assignment->getArg(1));
  } else if (const auto *call = llvm::dyn_cast<clang::CallExpr>(expression)) {
    add(Role::Call, call->getExprLoc(), call);
  }
}

void SourceMap::add(Role role, clang::SourceLocation location, const clang::Stmt *statement) {
  const clang::SourceManager &sources = view_.context().getSourceManager();
  const clang::SourceLocation at = sources.getExpansionLoc(location);
  if (!sources.isInMainFile(at))
    return;
  const auto [place, added] = statements_.try_emplace(
      {role, sources.getExpansionLineNumber(at), sources.getExpansionColumnNumber(at)}, statement);
  // The instances of a template have the same text.
  if (!added && place->second && place->second->getSourceRange() != statement->getSourceRange())
    place->second = nullptr;
  if (location.isMacroID())
    place->second = nullptr;
}

SourceMap::Found SourceMap::of(const llvm::Instruction &instruction) const {
  const bool isCall =
      llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::MemIntrinsic>(instruction);
  return at(instruction.getDebugLoc(), llvm::isa<llvm::StoreInst>(instruction) ? Role::Store
                                       : isCall                                ? Role::Call
                                                                               : Role::Load);
}

SourceMap::Found SourceMap::at(const llvm::DebugLoc &location, Role role) const {
  Found found;
  const llvm::DILocation *first = location.get();
  for (const llvm::DILocation *frame = first; frame; frame = frame->getInlinedAt()) {
    const auto line =
        lines_.find({absolute(frame->getDirectory(), frame->getFilename()), frame->getLine()});
    if (line == lines_.end())
      continue;
    Place place{line->second, frame->getColumn()};
    // What stands for code of a header is the call.
    const Role what = frame == first ? role : Role::Call;
    const bool isFirst = found.place.line == 0;
    const auto statement =
        statements_.find({isFirst ? what : Role::Call, place.line, place.column});
    if (statement != statements_.end() && statement->second) {
      const clang::SourceRange range = statement->second->getSourceRange();
      const auto begin = view_.offset(range.getBegin()), end = view_.endOffset(range.getEnd());
      if (begin && end && *begin < *end)
        place.range = TextRange{*begin, *end};
    }
    if (isFirst) {
      found.place = place;
      if (place.range && role != Role::Loop && (frame == first || role != Role::Comparison))
        found.text = view_.text().slice(place.range->begin, place.range->end).str();
    } else {
      found.calls.push_back(place);
    }
  }
  return found;
}

} // namespace kopt::frontend::model
