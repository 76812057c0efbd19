// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/Writes.h"

#include <clang/AST/Attr.h>

namespace kopt::frontend {

using namespace clang;

namespace {

using Functions = llvm::SmallPtrSet<const FunctionDecl *, 8>;

std::optional<std::vector<Lvalue>> writesOf(const Stmt *statement, Functions &seen);

Lvalue part(Lvalue whole) {
  whole.isWhole = false;
  return whole;
}

/// True for what a function may write to without its caller's knowledge: its own variables, its
/// object, and what it gets a pointer or a reference to.
bool isOwnOrParameter(const Lvalue &target, const FunctionDecl &function) {
  if (isa<CXXThisExpr>(target.root) || target.isTemporary())
    return true;
  const VarDecl *variable = target.variable;
  return variable && variable->getDeclContext() == &function &&
         (target.isLocal() || (isa<ParmVarDecl>(variable) &&
                               (!target.pointer || variable->getType()->isPointerType())));
}

bool writesOnlyToParameters(const FunctionDecl &function, Functions &seen) {
  if (!seen.insert(function.getCanonicalDecl()).second)
    return true;
  const CudaFunction kind = cudaFunction(function);
  if (kind == CudaFunction::Atomic || kind == CudaFunction::CacheStore)
    return false;
  const FunctionDecl *definition = function.getDefinition();
  if (!definition || !definition->hasBody())
    return true; // of the compiler or of CUDA: what it writes, it gets a pointer to
  return llvm::all_of(viewBody(definition).statements, [&](const Stmt *statement) {
    const auto written = writesOf(statement, seen);
    return written && llvm::all_of(*written, [&](const Lvalue &each) {
             return isOwnOrParameter(each, *definition);
           });
  });
}

std::optional<std::vector<Lvalue>> writesOf(const Stmt *statement, Functions &seen) {
  std::vector<Lvalue> written;
  if (const Expr *target = writtenBy(statement))
    written.push_back(readLvalue(target));
  const auto *call = dyn_cast<CallExpr>(statement);
  const auto *construct = dyn_cast<CXXConstructExpr>(statement);
  if (!call && !construct)
    return written;
  const FunctionDecl *callee = call ? call->getDirectCallee() : construct->getConstructor();
  if (!callee || !writesOnlyToParameters(*callee, seen))
    return std::nullopt;
  llvm::SmallVector<const Expr *> arguments;
  if (call)
    arguments.append(call->arg_begin(), call->arg_end());
  else
    arguments.append(construct->arg_begin(), construct->arg_end());
  const auto *method = dyn_cast<CXXMethodDecl>(callee);
  const Expr *object = nullptr;
  if (const auto *member = dyn_cast<CXXMemberCallExpr>(statement)) {
    object = member->getImplicitObjectArgument();
  } else if (isa<CXXOperatorCallExpr>(statement) && method) {
    object = arguments.front();
    arguments.erase(arguments.begin());
  }
  if (object && !method->isConst())
    written.push_back(object->getType()->isPointerType() ? pointedTo(object) : readLvalue(object));
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const QualType type =
        i < callee->getNumParams() ? callee->getParamDecl(i)->getType() : arguments[i]->getType();
    const QualType pointee = type->getPointeeType();
    if (!pointee.isNull() && !pointee.isConstQualified() && !pointee->isFunctionType())
      written.push_back(type->isPointerType() ? pointedTo(arguments[i]) : readLvalue(arguments[i]));
  }
  return written;
}

} // namespace

bool loadsMemory(const Stmt *statement) {
  const auto *load = dyn_cast<ImplicitCastExpr>(statement);
  return load && load->getCastKind() == CK_LValueToRValue && !coordinate(load) &&
         !readLvalue(load->getSubExpr()).isLocal();
}

bool Lvalue::isLocal() const {
  return variable && !pointer && variable->hasLocalStorage() &&
         !variable->getType()->isReferenceType();
}

Lvalue readLvalue(const Expr *lvalue) {
  lvalue = lvalue->IgnoreParenImpCasts();
  if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(lvalue))
    return part(pointedTo(subscript->getBase()));
  if (const auto *member = dyn_cast<MemberExpr>(lvalue))
    return part(member->isArrow() ? pointedTo(member->getBase()) : readLvalue(member->getBase()));
  if (const auto *unary = dyn_cast<UnaryOperator>(lvalue); unary && unary->getOpcode() == UO_Deref)
    return pointedTo(unary->getSubExpr());
  if (const auto *cast = dyn_cast<ExplicitCastExpr>(lvalue))
    return part(readLvalue(cast->getSubExpr()));
  return {variableOf(lvalue), lvalue};
}

Lvalue pointedTo(const Expr *pointer) {
  const Expr *bare = pointer->IgnoreParenImpCasts();
  if (bare->getType()->isArrayType())
    return part(readLvalue(bare));
  if (const auto *unary = dyn_cast<UnaryOperator>(bare); unary && unary->getOpcode() == UO_AddrOf)
    return readLvalue(unary->getSubExpr());
  if (const auto *cast = dyn_cast<ExplicitCastExpr>(bare))
    return part(pointedTo(cast->getSubExpr()));
  if (const auto *sum = dyn_cast<BinaryOperator>(bare); sum && sum->isAdditiveOp())
    return part(
        pointedTo(sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS()));
  Lvalue target = part(readLvalue(bare));
  target.pointer = pointer;
  return target;
}

const VarDecl *sourceOf(const Lvalue &lvalue) {
  llvm::SmallPtrSet<const VarDecl *, 8> seen;
  const VarDecl *variable = lvalue.variable;
  while (variable && seen.insert(variable).second && variable->isLocalVarDecl() &&
         !variable->hasAttr<CUDASharedAttr>() && variable->getInit()) {
    const QualType type = variable->getType();
    if (!type->isPointerType() && !type->isReferenceType())
      break;
    variable =
        (type->isPointerType() ? pointedTo(variable->getInit()) : readLvalue(variable->getInit()))
            .variable;
  }
  return variable;
}

MemorySpace spaceOf(const Expr *lvalue) {
  const VarDecl *variable = sourceOf(readLvalue(lvalue));
  if (variable && variable->hasAttr<CUDASharedAttr>())
    return MemorySpace::Shared;
  return variable && variable->isLocalVarDeclOrParm() && !variable->getType()->isPointerType() &&
                 !variable->getType()->isReferenceType()
             ? MemorySpace::Local
             : MemorySpace::Global;
}

const Expr *writtenBy(const Stmt *statement) {
  if (const auto *binary = dyn_cast<BinaryOperator>(statement))
    return binary->isAssignmentOp() ? binary->getLHS() : nullptr;
  const auto *unary = dyn_cast<UnaryOperator>(statement);
  return unary && unary->isIncrementDecrementOp() ? unary->getSubExpr() : nullptr;
}

std::optional<std::vector<Lvalue>> writesOf(const Stmt *statement) {
  Functions seen;
  return writesOf(statement, seen);
}

std::optional<CountedLoop> countedLoop(const KernelView &view, const BodyView &body,
                                       const ForStmt &loop) {
  CountedLoop found;
  const auto isCounter = [&](const Expr *each) { return variableOf(each) == found.counter; };
  if (const auto *declared = dyn_cast_or_null<DeclStmt>(loop.getInit());
      declared && declared->isSingleDecl()) {
    found.counter = dyn_cast<VarDecl>(declared->getSingleDecl());
    found.first = found.counter ? found.counter->getInit() : nullptr;
  } else if (const auto *set = dyn_cast_or_null<BinaryOperator>(loop.getInit());
             set && set->getOpcode() == BO_Assign) {
    found.counter = variableOf(set->getLHS());
    found.first = set->getRHS();
  }
  const auto *condition = dyn_cast_or_null<BinaryOperator>(loop.getCond());
  const Expr *changed = loop.getInc() ? writtenBy(loop.getInc()) : nullptr;
  if (!found.counter || !found.first || !changed || !isCounter(changed) || !condition ||
      !condition->isComparisonOp())
    return std::nullopt;
  if (const auto *unary = dyn_cast<UnaryOperator>(loop.getInc()))
    found.step = unary->isIncrementOp() ? 1 : -1;
  else if (const auto *set = cast<BinaryOperator>(loop.getInc());
           set->getOpcode() == BO_AddAssign || set->getOpcode() == BO_SubAssign)
    found.step =
        view.constant(set->getRHS()).value_or(0) * (set->getOpcode() == BO_AddAssign ? 1 : -1);
  const bool isLeft = isCounter(condition->getLHS());
  found.bound = isLeft ? condition->getRHS() : condition->getLHS();
  found.comparison =
      isLeft ? condition->getOpcode() : BinaryOperator::reverseComparisonOp(condition->getOpcode());
  found.isSigned = condition->getLHS()->getType()->isSignedIntegerType();
  const auto towards = found.step > 0 ? std::pair(BO_LT, BO_LE) : std::pair(BO_GT, BO_GE);
  if ((!isLeft && !isCounter(condition->getRHS())) || found.step == 0 ||
      (found.comparison != BO_NE && found.comparison != towards.first &&
       found.comparison != towards.second))
    return std::nullopt;
  for (const Stmt *statement : body.statements) {
    const auto *use = dyn_cast<DeclRefExpr>(statement);
    if (!use || use->getDecl() != found.counter || !body.isWithin(use, loop.getBody()))
      continue;
    const auto *read = dyn_cast_or_null<ImplicitCastExpr>(body.parentOf(use));
    if (!read || read->getCastKind() != CK_LValueToRValue)
      return std::nullopt;
  }
  return found;
}

} // namespace kopt::frontend
