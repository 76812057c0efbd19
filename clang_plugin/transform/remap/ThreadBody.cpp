// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/remap/ThreadBody.h"

#include "clang_plugin/analysis/RawTokens.h"
#include "clang_plugin/analysis/Writes.h"

namespace kopt::frontend {

using namespace clang;

bool ThreadBody::read() {
  if (!areThreadsIndependent(view_, /*atomics=*/true, refusals_))
    return false;
  auto uses = coordinateUses(view_, refusals_);
  if (!uses)
    return false;
  uses_ = std::move(*uses);
  return readText() && llvm::all_of(kernel().statements, [&](const Stmt *statement) {
           return readStatement(statement);
         });
}

bool ThreadBody::readText() {
  const auto body = bodyText(view_, *kernel().function);
  if (!body || cast<CompoundStmt>(kernel().function->getBody())->body_empty())
    return refusals_.add(kernel().function->getLocation(),
                         "a macro or another file spells the body");
  static_cast<BodyText &>(*this) = *body;
  const llvm::StringRef text = view_.text().slice(begin, end);
  for (const RawToken &token : rawTokens(text))
    if (text.slice(token.begin, token.end).contains('\n'))
      return refusals_.add(kernel().function->getBeginLoc(),
                           "the body has a text of several lines");
  return true;
}

bool ThreadBody::mayChange(const DeclRefExpr *variable) const {
  const Stmt *part = variable, *parent = kernel().parentOf(part);
  const auto isPart = [&] {
    const auto *member = dyn_cast_or_null<MemberExpr>(parent);
    const auto *decay = dyn_cast_or_null<ImplicitCastExpr>(parent);
    return (member && !member->isArrow() && isa<FieldDecl>(member->getMemberDecl())) ||
           (decay && decay->getCastKind() == CK_ArrayToPointerDecay) ||
           (isa_and_nonnull<ArraySubscriptExpr>(parent) && isa<ImplicitCastExpr>(part) &&
            cast<ImplicitCastExpr>(part)->getCastKind() == CK_ArrayToPointerDecay);
  };
  for (; isPart(); parent = kernel().parentOf(part))
    part = parent;
  const auto *read = dyn_cast_or_null<ImplicitCastExpr>(parent);
  return !read || (read->getCastKind() != CK_LValueToRValue && read->getCastKind() != CK_NoOp);
}

/// A return ends the work of one of the threads; what outlives it is refused.
bool ThreadBody::readStatement(const Stmt *statement) {
  if (const auto *reference = dyn_cast<DeclRefExpr>(statement);
      reference && isa<ParmVarDecl>(reference->getDecl()) &&
      reference->getDecl()->getDeclContext() == kernel().function && mayChange(reference))
    return refusals_.add(statement->getBeginLoc(),
                         "the parameter '" + reference->getDecl()->getName() + "' may change");
  if (isa<LabelStmt>(statement) || isa<GotoStmt>(statement))
    return refusals_.add(statement->getBeginLoc(), "the kernel has a goto");
  if (const auto *declarations = dyn_cast<DeclStmt>(statement))
    for (const Decl *each : declarations->decls()) {
      const auto *variable = dyn_cast<VarDecl>(each);
      if (isa<DecompositionDecl>(each))
        return refusals_.add(statement->getBeginLoc(), "the kernel has structured bindings");
      if (variable && variable->isStaticLocal() && !variable->getType().isConstQualified())
        return refusals_.add(statement->getBeginLoc(), "the kernel has a static variable");
    }
  const auto *leave = dyn_cast<ReturnStmt>(statement);
  if (!leave || enclosing<LambdaExpr>(kernel(), leave))
    return true;
  const bool isInLoop =
      enclosing<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, SwitchStmt>(kernel(), leave);
  const auto place = view_.offset(leave->getBeginLoc());
  if (isInLoop || leave->getRetValue() || !place)
    return refusals_.add(leave->getBeginLoc(),
                         isInLoop ? "it returns from within a loop" : "a macro spells the return");
  returns_.push_back({*place, *place + 6, "continue"});
  return true;
}

std::string ThreadBody::edited(unsigned from, unsigned to, std::vector<SliceEdit> edits) const {
  llvm::erase_if(edits, [&](const SliceEdit &edit) { return edit.begin < from || edit.end > to; });
  llvm::sort(edits, [](const SliceEdit &a, const SliceEdit &b) { return a.begin < b.begin; });
  for (SliceEdit &edit : edits) {
    edit.begin -= from;
    edit.end -= from;
  }
  return applyEdits(view_.text().slice(from, to).str(), edits);
}

bool isForOneType(const KernelView &view, Refusals &refusals) {
  for (const FunctionDecl *function : {&view.kernel(), view.work().function})
    if (const FunctionTemplateDecl *generic = function->getPrimaryTemplate())
      for (const NamedDecl *parameter : *generic->getTemplateParameters())
        if (isa<TemplateTypeParmDecl>(parameter))
          return refusals.add(parameter->getLocation(), "the kernel is a template over types");
  return true;
}

std::uint64_t allThreadsOf(const LaunchShape &launch) {
  return std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2] * launch.block[0] *
         launch.block[1] * launch.block[2];
}

const Expr *otherFactor(const CoordinateUse &use) {
  const Stmt *parent = use.body->parentOf(use.expression);
  while (isa_and_nonnull<CastExpr>(parent) || isa_and_nonnull<PseudoObjectExpr>(parent))
    parent = use.body->parentOf(parent);
  const auto *product = dyn_cast_or_null<BinaryOperator>(parent);
  if (!product || product->getOpcode() != BO_Mul)
    return nullptr;
  const auto own = coordinate(product->getLHS());
  const bool isLeft =
      own && own->variable == use.coordinate.variable && own->dimension == use.coordinate.dimension;
  return (isLeft ? product->getRHS() : product->getLHS())->IgnoreParenCasts();
}

} // namespace kopt::frontend
