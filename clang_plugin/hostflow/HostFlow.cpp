// SPDX-License-Identifier: Apache-2.0
// Determines what a function writes and calls, and when.
#include "clang_plugin/hostflow/HostFlow.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>

namespace kopt::frontend {

using clang::Expr;
using clang::FunctionDecl;
using clang::Stmt;

namespace {

/// True for methods like data(), begin() and get(), which do not change their object: those that
/// have a const overload or only return something.
bool isAccessor(const clang::CXXMethodDecl &method) {
  if (method.isConst())
    return true;
  if (method.getDeclName().isIdentifier())
    for (const clang::NamedDecl *other : method.getParent()->lookup(method.getDeclName())) {
      const auto *twin = llvm::dyn_cast<clang::CXXMethodDecl>(other);
      if (twin && twin->isConst() && twin->getNumParams() == 0 && method.getNumParams() == 0)
        return true;
    }
  const FunctionDecl *definition = nullptr;
  if (method.getReturnType()->isReferenceType() || !method.hasBody(definition))
    return false;
  const auto *body = llvm::dyn_cast_or_null<clang::CompoundStmt>(definition->getBody());
  const auto *only =
      body && body->size() == 1 ? llvm::dyn_cast<clang::ReturnStmt>(body->body_front()) : nullptr;
  return only && only->getRetValue() && !only->getRetValue()->isInstantiationDependent() &&
         !only->getRetValue()->HasSideEffects(method.getASTContext());
}

} // namespace

bool isLoop(const Stmt *statement) {
  return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(
      statement);
}

const FunctionFlow::Node &FunctionFlow::node(const Stmt *statement) const {
  static const Node kNone;
  auto found = nodes_.find(statement);
  return found == nodes_.end() ? kNone : found->second;
}

bool FunctionFlow::isInside(const Stmt *inner, const Stmt *outer) const {
  const Node &a = node(inner), &b = node(outer);
  return b.begin <= a.begin && a.end <= b.end;
}

std::vector<const Stmt *> FunctionFlow::loopsBetween(const Stmt *inner, const Stmt *outer) const {
  std::vector<const Stmt *> loops;
  for (const Stmt *at = node(inner).parent; at; at = node(at).parent)
    if (isLoop(at) && !isInside(outer, at))
      loops.push_back(at);
  return loops;
}

/// True if `event` may be evaluated between `from` and `to`, which comes later in the text.
bool FunctionFlow::happensBetween(const Stmt *event, const Stmt *from, const Stmt *to) const {
  if (isInside(to, event))
    return false;
  const Node &at = node(event);
  if (at.end > node(from).begin && at.begin < node(to).begin)
    return true;
  for (const Stmt *loop : loopsBetween(to, from))
    if (isInside(event, loop))
      return true;
  return false;
}

bool FunctionFlow::isVisible(const clang::ValueDecl *declaration, const Stmt *at) const {
  if (declaration->isImplicit() || declaration->getName().empty())
    return false;
  if (llvm::isa<clang::FieldDecl>(declaration)) {
    const auto *method = llvm::dyn_cast<clang::CXXMethodDecl>(&function_);
    return method && method->isInstance();
  }
  auto reaches = [&](const std::pair<const clang::ValueDecl *, const Stmt *> &local) {
    return (!local.second || isInside(at, local.second)) &&
           (!nodes_.count(at) || declarationOrder_.lookup(local.first) < node(at).begin);
  };
  const Stmt *scope = nullptr;
  bool local = false;
  for (const auto &known : locals_)
    if (known.first == declaration) {
      local = true;
      scope = known.second;
      if (!reaches(known))
        return false;
    }
  bool global =
      declaration->getDeclContext()->isFileContext() || declaration->getDeclContext()->isRecord();
  // A generic lambda is read as a separate function, in which its captures are visible.
  const auto *method = llvm::dyn_cast<clang::CXXMethodDecl>(&function_);
  bool captured = method && method->getParent()->isLambda();
  if (!local && !global && !captured)
    return false;
  // Another declaration with the same name in an inner scope hides it.
  for (const auto &other : locals_)
    if (other.first != declaration && other.first->getDeclName() == declaration->getDeclName() &&
        reaches(other) && (!scope || (other.second && isInside(other.second, scope))))
      return false;
  return true;
}

// ---- What the function writes and calls -------------------------------------------------------

FunctionFlow::FunctionFlow(const FunctionDecl &function)
    : function_(function), context_(function.getASTContext()) {
  for (const clang::ParmVarDecl *parameter : function.parameters())
    locals_.emplace_back(parameter, nullptr);
  if (const auto *constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(&function))
    for (const clang::CXXCtorInitializer *initial : constructor->inits())
      visit(initial->getInit(), nullptr, nullptr);
  visit(function.getBody(), nullptr, nullptr);
}

void FunctionFlow::visit(const Stmt *statement, const Stmt *parent,
                         const clang::LambdaExpr *lambda) {
  // Operands of sizeof and similar operators are not evaluated.
  if (!statement || llvm::isa<clang::UnaryExprOrTypeTraitExpr, clang::CXXNoexceptExpr>(statement))
    return;
  nodes_[statement] = {count_++, 0, parent, lambda};
  note(statement);
  const auto *inner = llvm::dyn_cast<clang::LambdaExpr>(statement);
  for (const Stmt *child : statement->children())
    visit(child, statement, inner && child == inner->getBody() ? inner : lambda);
  nodes_[statement].end = count_;
}

void FunctionFlow::write(const Expr *target, const Stmt *at) {
  if (std::optional<Place> place = placeOf(target, context_))
    writes_[place->root].push_back({*place, at});
}

void FunctionFlow::addressTaken(const Expr *target) {
  std::optional<Place> place = placeOf(target, context_);
  if (!place)
    return;
  for (const PlaceStep &step : place->steps)
    if (llvm::StringRef(step.text).starts_with("->"))
      return; // only what the pointer points to may change, not the pointer
  escaped_.insert(place->root);
}

void FunctionFlow::noteArguments(const Expr *call, const clang::FunctionProtoType *type,
                                 const FunctionDecl *callee,
                                 llvm::ArrayRef<const Expr *> arguments) {
  const FunctionDecl *pattern = callee && callee->getPrimaryTemplate()
                                    ? callee->getPrimaryTemplate()->getTemplatedDecl()
                                    : nullptr;
  bool library = callee && context_.getSourceManager().isInSystemHeader(callee->getLocation());
  for (unsigned i = 0; i < arguments.size(); ++i) {
    clang::QualType wanted =
        type && i < type->getNumParams() ? type->getParamType(i) : clang::QualType();
    const Expr *argument = arguments[i], *bare = strip(argument);
    // std::make_tuple and cudaLaunchKernelEx take T&& to pass values on, not to change them.
    bool forwards = library && pattern && pattern->getNumParams() > 0;
    if (forwards) { // a pack is the last parameter
      unsigned at = std::min(i, pattern->getNumParams() - 1);
      clang::QualType declared = pattern->getParamDecl(at)->getType();
      if (const auto *expansion = declared->getAs<clang::PackExpansionType>())
        declared = expansion->getPattern();
      forwards = declared->isRValueReferenceType();
    }
    if (!wanted.isNull() && wanted->isReferenceType()) {
      if (!forwards && !wanted.getNonReferenceType().isConstQualified())
        write(argument, call);
      continue;
    }
    bool readOnly =
        !wanted.isNull() && wanted->isPointerType() && wanted->getPointeeType().isConstQualified();
    const Expr *target = nullptr;
    if (const auto *address = llvm::dyn_cast<clang::UnaryOperator>(bare);
        address && address->getOpcode() == clang::UO_AddrOf) {
      target = address->getSubExpr();
      handled_.insert(address);
    } else if (bare->getType()->isArrayType()) {
      target = bare;
      handled_.insert(bare);
    }
    if (target && !readOnly)
      write(target, call);
  }
}

void FunctionFlow::noteCall(const clang::CallExpr *call) {
  const FunctionDecl *callee = call->getDirectCallee();
  llvm::ArrayRef<const Expr *> arguments(call->getArgs(), call->getNumArgs());
  const auto *method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  if (const auto *invocation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call)) {
    // The object is the first argument of a member operator.
    bool assigns = invocation->isAssignmentOp() ||
                   invocation->getOperator() == clang::OO_PlusPlus ||
                   invocation->getOperator() == clang::OO_MinusMinus;
    bool changes = method && method->isInstance() && !method->isConst() &&
                   invocation->getOperator() != clang::OO_Subscript &&
                   invocation->getOperator() != clang::OO_Call;
    if (!arguments.empty() && (assigns || changes))
      write(arguments[0], call);
    if (method && method->isInstance() && !arguments.empty())
      arguments = arguments.drop_front();
  } else if (const auto *invocation = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
    if (method && !method->isStatic() && !isAccessor(*method))
      write(invocation->getImplicitObjectArgument(), call);
  }
  const clang::FunctionProtoType *type = nullptr;
  if (callee) {
    type = callee->getType()->getAs<clang::FunctionProtoType>();
  } else if (clang::QualType called = call->getCallee()->getType(); !called.isNull()) {
    if (called->isPointerType() || called->isReferenceType())
      called = called->getPointeeType();
    type = called->getAs<clang::FunctionProtoType>();
  }
  noteArguments(call, type, callee, arguments);
  if (!llvm::isa<clang::CUDAKernelCallExpr>(call) && !call->isTypeDependent())
    calls_.push_back({callee, call});
}

void FunctionFlow::note(const Stmt *statement) {
  if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(statement)) {
    if (operation->isAssignmentOp())
      write(operation->getLHS(), operation);
  } else if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(statement)) {
    if (operation->isIncrementDecrementOp())
      write(operation->getSubExpr(), operation);
    else if (operation->getOpcode() == clang::UO_AddrOf && !handled_.count(operation))
      addressTaken(operation->getSubExpr());
  } else if (const auto *call = llvm::dyn_cast<clang::CallExpr>(statement)) {
    noteCall(call);
  } else if (const auto *construction = llvm::dyn_cast<clang::CXXConstructExpr>(statement)) {
    const clang::CXXConstructorDecl *constructor = construction->getConstructor();
    noteArguments(construction, constructor->getType()->getAs<clang::FunctionProtoType>(),
                  constructor, {construction->getArgs(), construction->getNumArgs()});
  } else if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(statement)) {
    // `void *args[] = {&n, &x}` passes n to a launch and does not change it.
    for (const Expr *value : list->inits())
      handled_.insert(strip(value));
  } else if (const auto *decay = llvm::dyn_cast<clang::ImplicitCastExpr>(statement)) {
    const Stmt *user = node(decay).parent;
    while (user && llvm::isa<clang::ParenExpr, clang::CastExpr>(user))
      user = node(user).parent;
    if (decay->getCastKind() == clang::CK_ArrayToPointerDecay &&
        !handled_.count(strip(decay->getSubExpr())) &&
        !(user && llvm::isa<clang::ArraySubscriptExpr>(user)))
      addressTaken(decay->getSubExpr());
  } else if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(statement)) {
    for (const clang::Decl *declaration : declarations->decls()) {
      const Stmt *scope = node(statement).parent;
      while (
          llvm::isa_and_nonnull<clang::SwitchCase, clang::LabelStmt, clang::AttributedStmt>(scope))
        scope = node(scope).parent;
      auto add = [&](const clang::ValueDecl *value) {
        locals_.emplace_back(value, scope);
        declarationOrder_[value] = node(statement).begin;
      };
      if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration))
        add(variable);
      if (const auto *several = llvm::dyn_cast<clang::DecompositionDecl>(declaration))
        for (const clang::BindingDecl *binding : several->bindings())
          add(binding);
    }
  } else if (const auto *lambda = llvm::dyn_cast<clang::LambdaExpr>(statement)) {
    for (const clang::ParmVarDecl *parameter : lambda->getCallOperator()->parameters()) {
      locals_.emplace_back(parameter, lambda);
      declarationOrder_[parameter] = node(lambda).begin;
    }
  } else if (llvm::isa<clang::GotoStmt, clang::IndirectGotoStmt, clang::LabelStmt>(statement)) {
    jumps_ = true;
  }
}

bool FunctionFlow::writes(const Place &place) const { return writesWithin(place, nullptr); }

bool FunctionFlow::writesWithin(const Place &place, const Stmt *statement) const {
  auto found = writes_.find(place.root);
  if (found == writes_.end())
    return false;
  for (const Write &write : found->second)
    if (overlaps(write.place, place) && (!statement || isInside(write.at, statement)))
      return true;
  return false;
}

bool FunctionFlow::writesGlobalOrField(const clang::ValueDecl *declaration) const {
  if (escaped_.count(declaration) || writes_.count(declaration))
    return true;
  for (const auto &[root, writes] : writes_)
    for (const Write &write : writes)
      for (const PlaceStep &step : write.place.steps)
        if (step.field == declaration)
          return true;
  return false;
}

bool FunctionFlow::isElusive(const Place &place, const Stmt *at) const {
  if (escaped_.count(place.root))
    return true;
  auto found = writes_.find(place.root);
  if (found == writes_.end())
    return false;
  for (const Write &write : found->second)
    if (const clang::LambdaExpr *lambda = node(write.at).lambda;
        lambda && overlaps(write.place, place) && !isInside(at, lambda))
      return true;
  return false;
}

bool FunctionFlow::isUnwritten(const Place &place, const Stmt *from, const Stmt *to) const {
  if (!contains(from) || !contains(to) || isElusive(place, to) || (jumps_ && writes(place)))
    return false;
  bool local = place.isLocal();
  for (const auto &[root, writes] : writes_)
    for (const Write &write : writes) {
      // Through pointers, the same field may have another path.
      bool same = overlaps(write.place, place);
      if (!same && !local && !write.place.isLocal())
        for (const PlaceStep &a : write.place.steps)
          for (const PlaceStep &b : place.steps)
            same |= a.field ? a.field == b.field : !b.field;
      if (same && happensBetween(write.at, from, to))
        return false;
    }
  return true;
}

std::vector<const FunctionDecl *> FunctionFlow::callsBetween(const Stmt *from,
                                                             const Stmt *to) const {
  std::vector<const FunctionDecl *> found;
  for (const Call &call : calls_)
    if (!isInside(call.at, from) && happensBetween(call.at, from, to))
      found.push_back(call.callee);
  return found;
}

std::vector<const FunctionDecl *> FunctionFlow::calls() const {
  std::vector<const FunctionDecl *> found;
  for (const Call &call : calls_)
    found.push_back(call.callee);
  return found;
}

} // namespace kopt::frontend
