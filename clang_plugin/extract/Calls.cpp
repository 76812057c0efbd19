// SPDX-License-Identifier: Apache-2.0
// Launch configurations across functions: a helper's call is read as the value that it returns, a
// parameter as the value that every caller passes.
#include "clang_plugin/extract/Geometry.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>

namespace kopt::frontend {

using clang::Expr;
using clang::FunctionDecl;
using clang::Stmt;

namespace {

constexpr int kDeepestCall = 12;

bool holdsReturn(const Stmt *statement) {
  if (!statement || llvm::isa<clang::LambdaExpr>(statement))
    return false;
  if (llvm::isa<clang::ReturnStmt>(statement))
    return true;
  return llvm::any_of(statement->children(), holdsReturn);
}

std::vector<const Stmt *> listOf(const Stmt *statement) {
  if (const auto *block = llvm::dyn_cast_or_null<clang::CompoundStmt>(statement))
    return {block->body_begin(), block->body_end()};
  if (statement)
    return {statement};
  return {};
}

} // namespace

/// The value that the statements of a helper return.
std::optional<GeometryReader::Term> GeometryReader::returned(std::vector<const Stmt *> statements,
                                                             const Steps &steps,
                                                             const Frame &frame) {
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Stmt *statement = statements[i];
    if (!holdsReturn(statement))
      continue;
    std::vector<const Stmt *> after(statements.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                    statements.end());
    auto then = [&](const Stmt *branch) {
      std::vector<const Stmt *> all = listOf(branch);
      all.insert(all.end(), after.begin(), after.end());
      return all;
    };
    if (const auto *result = llvm::dyn_cast<clang::ReturnStmt>(statement)) {
      const Expr *value = result->getRetValue();
      if (!value)
        return fail("a function that returns nothing");
      return steps.empty() ? scalar(value, {&frame, value})
                           : component(value, steps, {&frame, value});
    }
    if (llvm::isa<clang::CompoundStmt>(statement))
      return returned(then(statement), steps, frame);
    const auto *choice = llvm::dyn_cast<clang::IfStmt>(statement);
    if (!choice || choice->getInit() || choice->getConditionVariable())
      return fail("a function that returns from within a loop");
    std::optional<Term> condition = scalar(choice->getCond(), {&frame, choice->getCond()});
    if (!condition)
      return std::nullopt;
    if (condition->text == "0" || condition->text == "1")
      return returned(then(condition->text == "1" ? choice->getThen() : choice->getElse()), steps,
                      frame);
    std::optional<Term> yes = returned(then(choice->getThen()), steps, frame);
    std::optional<Term> no = yes ? returned(then(choice->getElse()), steps, frame) : std::nullopt;
    return no ? choose(*condition, *yes, *no) : std::nullopt;
  }
  return fail("a function without a return");
}

/// Reads functions of the language and its libraries that kopt's expressions have too.
std::optional<GeometryReader::Term> GeometryReader::knownFunction(const clang::CallExpr *call,
                                                                  Where where, bool &isKnown) {
  static const std::set<std::string> kSmaller = {"min", "fmin", "fminf", "umin", "llmin", "ullmin"},
                                     kLarger = {"max", "fmax", "fmaxf", "umax", "llmax", "ullmax"},
                                     kUp = {"ceil", "ceilf", "__builtin_ceil", "__builtin_ceilf"},
                                     kDown = {"floor", "floorf", "__builtin_floor",
                                              "__builtin_floorf"};
  const FunctionDecl *callee = call->getDirectCallee();
  clang::SourceLocation at = index_.sources().getExpansionLoc(callee->getLocation());
  if (at.isValid() && index_.isUser(index_.sources().getFileID(at)))
    return std::nullopt;
  std::string name = callee->getNameAsString();
  bool isUp = kUp.count(name), isDown = kDown.count(name);
  if ((isUp || isDown) && call->getNumArgs() == 1) {
    isKnown = true;
    std::optional<Term> value = scalar(call->getArg(0), where);
    if (!value || !value->whole.empty())
      return value;
    if (!value->real)
      return Term{"(double)" + value->text, true, value->text};
    return limited((isUp ? "ceil(" : "floor(") + value->text + ")", true);
  }
  bool isMin = kSmaller.count(name), isMax = kLarger.count(name);
  if ((isMin || isMax) && call->getNumArgs() == 2) {
    isKnown = true;
    std::optional<Term> a = scalar(call->getArg(0), where);
    std::optional<Term> b = a ? scalar(call->getArg(1), where) : std::nullopt;
    if (!b)
      return std::nullopt;
    std::optional<Term> first =
        combine(isMin ? clang::BO_LT : clang::BO_GT, *a, *b, context_.BoolTy);
    if (first && first->text.front() == '(') // remove parentheses, as in (a < b ? a : b)
      first->text = first->text.substr(1, first->text.size() - 2);
    return first ? choose(*first, *a, *b) : std::nullopt;
  }
  if ((name == "abs" || name == "labs" || name == "llabs") && call->getNumArgs() == 1) {
    isKnown = true;
    std::optional<Term> value = scalar(call->getArg(0), where);
    return value ? limited("abs(" + value->text + ")", value->real) : value;
  }
  return std::nullopt;
}

std::optional<GeometryReader::Term> GeometryReader::call(const clang::CallExpr *call,
                                                         const Steps &steps, Where where) {
  const FunctionDecl *callee = call->getDirectCallee(), *definition = nullptr;
  if (!callee)
    return fail("a call of a function that is not named");
  std::string name = callee->getNameAsString();
  if (steps.empty()) {
    bool isKnown = false;
    std::optional<Term> value = knownFunction(call, where, isKnown);
    if (isKnown)
      return value;
  }
  // make_int2(a, b) of the toolkit
  if (const clang::FieldDecl *field = steps.size() == 1 ? steps.front().field : nullptr;
      field && name.rfind("make_", 0) == 0 && field->getFieldIndex() < call->getNumArgs() &&
      callee->getReturnType()->getAsRecordDecl() &&
      name.substr(5) == callee->getReturnType()->getAsRecordDecl()->getName())
    return scalar(call->getArg(field->getFieldIndex()), where);
  Used before = used_;
  std::string reason = reason_;
  const auto *method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
  const auto *member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
  const auto *op = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call);
  bool isBound = !method || method->isStatic() || member || op;
  bool isVirtual = method && method->isVirtual();
  if (isBound && !isVirtual && !callee->isVariadic() && callee->hasBody(definition) &&
      frames_ < kDeepestCall) {
    const FunctionFlow *flow = flows_.of(definition);
    Frame frame;
    frame.flow = flow;
    frame.caller = where.frame;
    frame.call = where.point;
    unsigned first = 0;
    if (member) {
      frame.object = member->getImplicitObjectArgument();
    } else if (op && method && method->isInstance()) {
      frame.object = op->getArg(0);
      first = 1;
    }
    for (unsigned i = 0; i < definition->getNumParams() && i + first < call->getNumArgs(); ++i)
      frame.arguments[definition->getParamDecl(i)] = call->getArg(i + first);
    ++frames_;
    std::optional<Term> value =
        flow ? returned(listOf(definition->getBody()), steps, frame) : std::nullopt;
    --frames_;
    if (value)
      return value;
  }
  used_ = before;
  reason_ = reason;
  if (steps.empty())
    if (std::optional<Term> number = folded(call))
      return number;
  // `points.size()` can be used like a variable's name, as long as the object does not change.
  if (steps.empty() && where.frame->isLaunching && call->getNumArgs() == 0 &&
      call->getType()->isIntegralOrEnumerationType() &&
      (!method || (member && method->isConst()) || method->isStatic())) {
    std::string text = name + "()";
    bool atSite = where.point == site_.launch;
    if (member && !llvm::isa<clang::CXXThisExpr>(strip(member->getImplicitObjectArgument()))) {
      const Expr *object = member->getImplicitObjectArgument();
      std::optional<Place> owner = placeOf(object, context_);
      const FunctionFlow *flow = where.frame->flow;
      bool isPointer = object->getType()->isPointerType();
      if (!owner || !flow || !flow->isVisible(owner->root, site_.launch) ||
          !(atSite || (!isPointer && flows_.isStable(*flow, *owner, where.point, site_.launch))))
        return fail("a call of '" + name + "'");
      text = owner->text() + (isPointer ? "->" : ".") + text;
      atSite = true;
    }
    if (atSite) {
      used_.variables.insert(text);
      return Term{text, false, ""};
    }
  }
  return fail("a call of '" + name + "'");
}

std::optional<GeometryReader::Term>
GeometryReader::constructed(const clang::CXXConstructExpr *construction, const Steps &steps,
                            Where where) {
  const clang::CXXConstructorDecl *constructor = construction->getConstructor();
  if (constructor->isCopyOrMoveConstructor() && construction->getNumArgs() == 1)
    return component(construction->getArg(0), steps, where);
  const FunctionDecl *definition = nullptr;
  const FunctionFlow *flow = constructor->hasBody(definition) ? flows_.of(definition) : nullptr;
  if (!flow || frames_ >= kDeepestCall || !steps.front().field)
    return fail("an object of type '" + construction->getType().getAsString() + "'");
  Frame frame;
  frame.flow = flow;
  frame.caller = where.frame;
  frame.call = where.point;
  for (unsigned i = 0; i < definition->getNumParams() && i < construction->getNumArgs(); ++i)
    frame.arguments[definition->getParamDecl(i)] = construction->getArg(i);
  Place member{steps.front().field, {steps.begin() + 1, steps.end()}};
  Definition last = flow->atEnd(member);
  ++frames_;
  std::optional<Term> value;
  if (last.kind != Definition::Kind::Entry) {
    value = defined(last, member, {&frame, definition->getBody()});
  } else {
    for (const clang::CXXCtorInitializer *initial :
         llvm::cast<clang::CXXConstructorDecl>(definition)->inits())
      if (initial->getMember() == member.root)
        value = member.steps.empty()
                    ? scalar(initial->getInit(), {&frame, initial->getInit()})
                    : component(initial->getInit(), member.steps, {&frame, initial->getInit()});
  }
  --frames_;
  return value ? value : fail("a member of '" + construction->getType().getAsString() + "'");
}

/// The value that all callers pass for a parameter, if it is the same constant.
std::optional<GeometryReader::Term> GeometryReader::fromCallers(const Place &parameter) {
  const auto *function = llvm::dyn_cast<FunctionDecl>(parameter.root->getDeclContext());
  const auto *declaration = llvm::cast<clang::ParmVarDecl>(parameter.root);
  if (!function || !code_.knowsAllCallers(function) || frames_ >= kDeepestCall ||
      !askedCallers_.insert(declaration).second)
    return std::nullopt;
  std::string why = reason_;
  Used before = used_;
  std::optional<Term> agreed;
  bool differs = false;
  for (const CallSite &site : code_.callersOf(function)) {
    if (function == site_.function && site_.callers && !site_.callers->count(site.call))
      continue;
    unsigned first = llvm::isa<clang::CXXOperatorCallExpr>(site.call) ? 1 : 0;
    unsigned at = declaration->getFunctionScopeIndex() + first;
    std::optional<Term> value;
    if (at < site.call->getNumArgs() && site.caller) {
      Frame frame;
      frame.flow = flows_.of(site.caller);
      Where where{&frame, site.call};
      frame.isCaller = true;
      ++frames_;
      const Expr *argument = site.call->getArg(at);
      value = parameter.steps.empty() ? scalar(argument, where)
                                      : component(argument, parameter.steps, where);
      --frames_;
    }
    if (!value || (agreed && agreed->text != value->text)) {
      differs = true;
      break;
    }
    agreed = value;
  }
  if (differs)
    used_ = std::move(before);
  askedCallers_.erase(declaration);
  reason_ = std::move(why);
  return differs ? std::nullopt : agreed;
}

} // namespace kopt::frontend
