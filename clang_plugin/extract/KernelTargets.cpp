// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/KernelTargets.h"

#include "clang_plugin/hostflow/Place.h"

#include <clang/AST/ASTContext.h>

namespace kopt::frontend {
namespace {

using clang::Expr;
using clang::FunctionDecl;

class Follower {
public:
  Follower(const HostCode &code, const LaunchCall &site) : code_(code), site_(site) {}

  void follow(const Expr *expression) {
    expression = strip(expression);
    if (!expression || expression->isTypeDependent())
      return lose("a value that depends on template parameters");
    if (const auto *substituted = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expression))
      return follow(substituted->getReplacement());
    if (const auto *temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression))
      return follow(temporary->getSubExpr());
    if (const auto *standard = llvm::dyn_cast<clang::CXXDefaultArgExpr>(expression))
      return follow(standard->getExpr());
    if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
      if (const auto *function = llvm::dyn_cast<FunctionDecl>(reference->getDecl()))
        return add(function, reference);
      return followHolder(reference->getDecl());
    }
    if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(expression)) {
      if (const auto *method = llvm::dyn_cast<FunctionDecl>(member->getMemberDecl()))
        return add(method, nullptr);
      return followHolder(member->getMemberDecl());
    }
    if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(expression);
        operation &&
        (operation->getOpcode() == clang::UO_AddrOf || operation->getOpcode() == clang::UO_Deref))
      return follow(operation->getSubExpr());
    if (const auto *subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression))
      return follow(subscript->getBase());
    if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(expression)) {
      follow(choice->getTrueExpr());
      return follow(choice->getFalseExpr());
    }
    if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(expression)) {
      for (const Expr *value : list->inits())
        follow(value);
      return;
    }
    if (const auto *call = llvm::dyn_cast<clang::CallExpr>(expression))
      return followCall(call);
    if (llvm::isa<clang::CXXNullPtrLiteralExpr, clang::GNUNullExpr, clang::IntegerLiteral,
                  clang::ImplicitValueInitExpr>(expression))
      return; // not a kernel yet
    lose("a value that cannot be followed");
  }

  /// Follows the value of a place at `point`. False if control flow does not determine it.
  bool followSettled(const FunctionFlow &flow, const Place &place, const clang::Stmt *point) {
    return followDefinition(flow, place, flow.before(place, point));
  }

  KernelTargets result;

private:
  bool followDefinition(const FunctionFlow &flow, const Place &place,
                        const Definition &definition) {
    if (definition.kind == Definition::Kind::Choice)
      return followDefinition(
                 flow, place,
                 flow.afterBranch(place, definition.choice->getThen(), definition.choice)) &&
             followDefinition(
                 flow, place,
                 flow.afterBranch(place, definition.choice->getElse(), definition.choice));
    if (definition.kind != Definition::Kind::Value || !definition.rest.empty())
      return false;
    // The variable may be a copy of another one.
    std::optional<Place> copied = placeOf(definition.value, flow.function().getASTContext());
    if (copied && copied->isLocal() && followSettled(flow, *copied, definition.value))
      return true;
    follow(definition.value);
    return true;
  }

  void lose(const std::string &what) {
    if (result.problem.empty())
      result.problem = what;
  }

  void add(const FunctionDecl *function, const clang::DeclRefExpr *reference) {
    if (!function->hasAttr<clang::CUDAGlobalAttr>())
      return lose("'" + function->getNameAsString() + "', which is not a kernel");
    for (KernelTarget &known : result.kernels)
      if (known.kernel->getCanonicalDecl() == function->getCanonicalDecl()) {
        known.callers.insert(callers_.begin(), callers_.end());
        return;
      }
    result.kernels.push_back({function, reference, {callers_.begin(), callers_.end()}});
  }

  void followHolder(const clang::ValueDecl *holder) {
    if (!visited_.insert(holder).second)
      return;
    std::size_t before = result.kernels.size();
    bool any = false;
    for (const Expr *value : code_.valuesOf(holder)) {
      any = true;
      follow(value);
    }
    const auto *parameter = llvm::dyn_cast<clang::ParmVarDecl>(holder);
    const auto *function =
        parameter ? llvm::dyn_cast<FunctionDecl>(parameter->getDeclContext()) : nullptr;
    if (function) {
      if (!code_.knowsAllCallers(function) && !code_.callersOf(function).empty() &&
          function->isExternallyVisible() && !function->isTemplateInstantiation())
        lose("the parameter '" + holder->getNameAsString() + "', which other files may give too");
      for (const CallSite &site : code_.callersOf(function)) {
        unsigned first = llvm::isa<clang::CXXOperatorCallExpr>(site.call) ? 1 : 0;
        unsigned at = parameter->getFunctionScopeIndex() + first;
        if (at >= site.call->getNumArgs())
          continue;
        any = true;
        bool isLaunching = function == site_.host;
        if (isLaunching)
          callers_.push_back(site.call);
        follow(site.call->getArg(at));
        if (isLaunching)
          callers_.pop_back();
      }
    }
    if (!any || (before == result.kernels.size() && result.problem.empty()))
      lose("'" + holder->getNameAsString() + "', which nothing in this file gives a kernel");
    visited_.erase(holder);
  }

  void followCall(const clang::CallExpr *call) {
    const FunctionDecl *callee = call->getDirectCallee(), *definition = nullptr;
    if (!callee || !callee->hasBody(definition) || !visited_.insert(callee).second)
      return lose("what a call returns");
    // Follow what the function returns. Its parameters do not matter if every return names a
    // kernel.
    std::vector<const clang::Stmt *> left = {definition->getBody()};
    bool any = false;
    while (!left.empty()) {
      const clang::Stmt *statement = left.back();
      left.pop_back();
      if (!statement || llvm::isa<clang::LambdaExpr>(statement))
        continue;
      if (const auto *result = llvm::dyn_cast<clang::ReturnStmt>(statement)) {
        any = true;
        follow(result->getRetValue());
        continue;
      }
      for (const clang::Stmt *child : statement->children())
        left.push_back(child);
    }
    if (!any)
      lose("what '" + callee->getNameAsString() + "' returns");
    visited_.erase(callee);
  }

  const HostCode &code_;
  const LaunchCall &site_;
  std::vector<const clang::CallExpr *> callers_;
  std::set<const clang::ValueDecl *> visited_;
};

} // namespace

KernelTargets followKernel(const HostCode &code, UnitFlow &flows, const LaunchCall &site,
                           const Expr *expression, const std::string &field) {
  const clang::ASTContext &context = code.index().unit().getASTContext();
  Follower follower(code, site);
  const Expr *object = strip(expression);
  // (*kernel)<<<...>>> and cudaGraphAddKernelNode(..., &node)
  if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(object);
      operation && operation->getOpcode() == (field.empty() ? clang::UO_Deref : clang::UO_AddrOf))
    object = operation->getSubExpr();
  std::optional<Place> place = placeOf(object, context);
  if (place && !field.empty()) {
    const clang::RecordDecl *record = place->type()->getAsRecordDecl();
    const clang::FieldDecl *member = nullptr;
    if (record)
      for (const clang::FieldDecl *candidate : record->fields())
        if (candidate->getName() == field)
          member = candidate;
    if (member)
      place->steps.push_back({"." + field, member, nullptr, member->getType()});
    else
      place.reset();
  }
  // The value of the variable at this point, if the function determines it; otherwise all values
  // that it is ever given.
  const FunctionFlow *flow = flows.of(site.host);
  if (place && flow && place->isLocal() && follower.followSettled(*flow, *place, site.call))
    return std::move(follower.result);
  if (field.empty())
    follower.follow(expression);
  else
    follower.result.problem = "a '" + field + "' that cannot be followed";
  return std::move(follower.result);
}

} // namespace kopt::frontend
