// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/coverage/CodeBehind.h"

#include "clang_plugin/analysis/RawTokens.h"

#include <llvm/Support/xxhash.h>

namespace kopt::frontend {

using namespace clang;

namespace {

bool isNothing(const Stmt *statement) {
  if (const auto *block = dyn_cast_or_null<CompoundStmt>(statement))
    return llvm::all_of(block->body(), isNothing);
  const auto *result = dyn_cast_or_null<ReturnStmt>(statement);
  return !statement || isa<NullStmt, BreakStmt, ContinueStmt, GotoStmt>(statement) ||
         (result && !result->getRetValue());
}

std::string digest(const std::string &text) {
  return text.empty() ? text : llvm::utohexstr(llvm::xxh3_64bits(text));
}

} // namespace

bool leaves(const Stmt *statement) {
  if (const auto *block = dyn_cast_or_null<CompoundStmt>(statement))
    return !block->body_empty() && leaves(block->body_back());
  return isa_and_nonnull<ReturnStmt, BreakStmt, ContinueStmt, GotoStmt>(statement);
}

std::string CodeBehind::of(const Stmt *statement) const {
  if (isNothing(statement))
    return {};
  std::string text;
  llvm::SmallPtrSet<const FunctionDecl *, 8> called;
  addText(statement, text, called);
  return digest(text);
}

std::string CodeBehind::of(const BodyView &body, const SwitchCase &label) const {
  const Stmt *first = &label;
  while (isa_and_nonnull<SwitchCase>(body.parentOf(first)))
    first = body.parentOf(first); // the outermost of several labels is the block's statement
  const auto *block = dyn_cast_or_null<CompoundStmt>(body.parentOf(first));
  std::string text;
  llvm::SmallPtrSet<const FunctionDecl *, 8> called;
  if (!isNothing(label.getSubStmt()))
    addText(label.getSubStmt(), text, called);
  if (block)
    for (auto next = std::next(llvm::find(block->body(), first));
         next != block->body_end() && !isa<SwitchCase>(*next); ++next)
      if (!isNothing(*next))
        addText(*next, text, called);
  return digest(text);
}

void CodeBehind::addText(const Stmt *statement, std::string &text,
                         llvm::SmallPtrSetImpl<const FunctionDecl *> &called) const {
  const auto place = facts_.placeOf(statement->getSourceRange());
  if (!place)
    return;
  text += normalizedTokens(facts_.view().text().slice(place->first, place->second)) + " ";
  llvm::SmallVector<const Stmt *> open{statement};
  while (!open.empty()) {
    const Stmt *next = open.pop_back_val();
    for (const Stmt *child : next->children())
      if (child)
        open.push_back(child);
    const auto *call = dyn_cast<CallExpr>(next);
    const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
    if (!callee || !called.insert(callee->getCanonicalDecl()).second)
      continue;
    for (const BodyView &body : facts_.bodies())
      if (body.function->getCanonicalDecl() == callee->getCanonicalDecl() &&
          body.function->getBody())
        addText(body.function->getBody(), text, called);
  }
}

} // namespace kopt::frontend
