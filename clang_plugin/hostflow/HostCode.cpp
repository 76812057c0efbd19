// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/hostflow/HostCode.h"

#include "clang_plugin/hostflow/Place.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>

namespace kopt::frontend {

using clang::Expr;
using clang::FunctionDecl;

const FunctionDecl *patternOf(const FunctionDecl *function) {
  if (const FunctionDecl *pattern = function->getTemplateInstantiationPattern())
    function = pattern;
  const FunctionDecl *definition = nullptr;
  return function->isDefined(definition) ? definition : nullptr;
}

namespace {

/// True for pointers and references to functions, `void *`, and arrays of these.
bool canHoldKernel(clang::QualType type) {
  type = type.getNonReferenceType();
  while (const clang::ArrayType *array = type->getAsArrayTypeUnsafe())
    type = array->getElementType();
  while (type->isPointerType())
    type = type->getPointeeType();
  return type->isFunctionType() || type->isVoidType();
}

/// The variable or field that an assignment to `target` changes.
const clang::ValueDecl *holderOf(const Expr *target) {
  target = strip(target);
  if (const auto *subscript = llvm::dyn_cast_or_null<clang::ArraySubscriptExpr>(target))
    return holderOf(subscript->getBase());
  if (const auto *member = llvm::dyn_cast_or_null<clang::MemberExpr>(target))
    return member->getMemberDecl();
  const auto *reference = llvm::dyn_cast_or_null<clang::DeclRefExpr>(target);
  return reference ? reference->getDecl() : nullptr;
}

} // namespace

class HostCodeFinder : public clang::RecursiveASTVisitor<HostCodeFinder> {
public:
  explicit HostCodeFinder(HostCode &code) : code_(code), index_(code.index_) {}
  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(clang::Decl *declaration) {
    // System headers launch no kernels of the user.
    if (declaration && !llvm::isa<clang::TranslationUnitDecl>(declaration) &&
        declaration->getLocation().isValid() &&
        llvm::isa<clang::TranslationUnitDecl>(declaration->getLexicalDeclContext())) {
      clang::SourceLocation at = index_.sources().getExpansionLoc(declaration->getLocation());
      if (!index_.isUser(index_.sources().getFileID(at)))
        return true;
    }
    const auto *function = llvm::dyn_cast_or_null<FunctionDecl>(declaration);
    if (function)
      functions_.push_back(function);
    bool result = RecursiveASTVisitor::TraverseDecl(declaration);
    if (function)
      functions_.pop_back();
    return result;
  }

  // The instantiations of a generic lambda belong to its class, which is not visited.
  bool TraverseLambdaExpr(clang::LambdaExpr *lambda) {
    if (clang::FunctionTemplateDecl *generic =
            lambda->getLambdaClass()->getDependentLambdaCallOperator())
      for (FunctionDecl *instance : generic->specializations())
        if (instance->hasBody()) {
          std::vector<const FunctionDecl *> around = {instance};
          std::swap(functions_, around);
          TraverseStmt(instance->getBody());
          std::swap(functions_, around);
        }
    return RecursiveASTVisitor::TraverseLambdaExpr(lambda);
  }

  bool VisitFunctionDecl(FunctionDecl *function) {
    code_.hasMain_ |= function->isMain();
    if (!function->hasAttr<clang::CUDAGlobalAttr>() || function->isInvalidDecl())
      return true;
    if (const FunctionDecl *pattern = patternOf(function)) {
      if (knownKernels_.insert(pattern).second)
        code_.kernels_.push_back(pattern);
      // Add it even if no launch is seen: others may launch it through its address.
      clang::TemplateSpecializationKind kind = function->getTemplateSpecializationKind();
      if (kind == clang::TSK_ExplicitInstantiationDefinition ||
          (kind == clang::TSK_ImplicitInstantiation && function->hasBody()))
        code_.instantiations_.push_back(function);
    }
    return true;
  }

  bool VisitCallExpr(clang::CallExpr *call) {
    if (!visited_.insert(call).second) // initialiser lists are visited twice
      return true;
    if (llvm::isa<clang::CUDAKernelCallExpr>(call)) {
      addLaunch(LaunchCall::Form::Chevrons, call);
      return true;
    }
    const FunctionDecl *callee = call->getDirectCallee();
    // In a template, the function may be looked up only at instantiation.
    if (const auto *name = llvm::dyn_cast<clang::UnresolvedLookupExpr>(call->getCallee()))
      addCall(name->getName().getAsString(), call);
    if (!callee)
      return true;
    if (llvm::isa_and_nonnull<clang::DeclRefExpr>(strip(call->getCallee())))
      --loose_[callee->getCanonicalDecl()];
    code_.callers_[callee->getCanonicalDecl()].push_back(
        {call, functions_.empty() ? nullptr : functions_.front()});
    if (callee->getIdentifier())
      addCall(callee->getNameAsString(), call);
    return true;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    if (const auto *function = llvm::dyn_cast<FunctionDecl>(reference->getDecl());
        function && visited_.insert(reference).second)
      ++loose_[function->getCanonicalDecl()];
    return true;
  }

  bool VisitVarDecl(clang::VarDecl *variable) {
    if (variable->getInit() && !llvm::isa<clang::ParmVarDecl>(variable))
      give(variable, variable->getInit());
    return true;
  }
  bool VisitFieldDecl(clang::FieldDecl *field) {
    if (field->hasInClassInitializer())
      give(field, field->getInClassInitializer());
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator *operation) {
    if (operation->getOpcode() == clang::BO_Assign)
      give(holderOf(operation->getLHS()), operation->getRHS());
    return true;
  }
  bool VisitInitListExpr(clang::InitListExpr *list) {
    // The written form may omit braces and fields; the semantic form has all of them.
    if (!list->isSemanticForm() && list->getSemanticForm())
      list = list->getSemanticForm();
    const clang::RecordDecl *record = list->getType()->getAsRecordDecl();
    if (!record || record->isUnion() || !list->getNumInits())
      return true;
    const auto *type = llvm::dyn_cast<clang::CXXRecordDecl>(record);
    unsigned at = type ? type->getNumBases() : 0;
    for (const clang::FieldDecl *field : record->fields())
      if (at < list->getNumInits() && !field->isUnnamedBitField())
        give(field, list->getInit(at++));
    return true;
  }
  bool TraverseConstructorInitializer(clang::CXXCtorInitializer *initial) {
    if (initial->getMember() && initial->getInit())
      give(initial->getMember(), initial->getInit());
    return RecursiveASTVisitor::TraverseConstructorInitializer(initial);
  }

  void finish() {
    for (const auto &[function, count] : loose_)
      if (count > 0)
        code_.addressTaken_.insert(function);
  }

private:
  void give(const clang::ValueDecl *holder, const Expr *value) {
    if (holder && value && canHoldKernel(holder->getType()))
      code_.values_[holder].push_back(value);
  }

  void addCall(const std::string &name, const clang::CallExpr *call) {
    static const std::map<std::string, std::pair<LaunchCall::Form, unsigned>> kForms = {
        {"cudaLaunchKernel", {LaunchCall::Form::Runtime, 3}},
        {"cudaLaunchCooperativeKernel", {LaunchCall::Form::Runtime, 3}},
        {"cudaLaunchKernelEx", {LaunchCall::Form::RuntimeConfig, 2}},
        {"cudaLaunchKernelExC", {LaunchCall::Form::RuntimeConfig, 2}},
        {"cuLaunchKernel", {LaunchCall::Form::Driver, 8}},
        {"cuLaunchCooperativeKernel", {LaunchCall::Form::Driver, 8}},
        {"cudaGraphAddKernelNode", {LaunchCall::Form::GraphNode, 5}}};
    auto form = kForms.find(name);
    if (form != kForms.end() && call->getNumArgs() >= form->second.second)
      addLaunch(form->second.first, call);
  }

  void addLaunch(LaunchCall::Form form, const clang::CallExpr *call) {
    LaunchCall site;
    site.form = form;
    site.call = call;
    site.host = functions_.empty() ? nullptr : functions_.front();
    site.onDevice = site.host && (site.host->hasAttr<clang::CUDAGlobalAttr>() ||
                                  (site.host->hasAttr<clang::CUDADeviceAttr>() &&
                                   !site.host->hasAttr<clang::CUDAHostAttr>()));
    code_.launches_.push_back(site);
  }

  HostCode &code_;
  const SourceIndex &index_;
  std::vector<const FunctionDecl *> functions_;
  std::set<const FunctionDecl *> knownKernels_;
  llvm::DenseMap<const FunctionDecl *, int> loose_; ///< mentions that are not calls
  llvm::DenseSet<const Expr *> visited_;
};

HostCode::HostCode(const SourceIndex &index) : index_(index) {
  HostCodeFinder finder(*this);
  finder.TraverseDecl(index.unit().getASTContext().getTranslationUnitDecl());
  finder.finish();
}

const std::vector<CallSite> &HostCode::callersOf(const FunctionDecl *function) const {
  static const std::vector<CallSite> kNone;
  auto found = callers_.find(function->getCanonicalDecl());
  return found == callers_.end() ? kNone : found->second;
}

bool HostCode::knowsAllCallers(const FunctionDecl *function) const {
  const auto *method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  if (addressTaken_.count(function->getCanonicalDecl()) || (method && method->isVirtual()) ||
      callersOf(function).empty())
    return false;
  if (!function->isExternallyVisible() || (method && method->getParent()->isLambda()))
    return true;
  const FunctionDecl *pattern = function->getTemplateInstantiationPattern();
  const clang::SourceManager &sources = index_.sources();
  for (const FunctionDecl *declaration : (pattern ? pattern : function)->redecls())
    if (!sources.isInMainFile(sources.getExpansionLoc(declaration->getLocation())))
      return false;
  // Only this file can instantiate templates that are written in it.
  return hasMain_ || function->getTemplateSpecializationKind() == clang::TSK_ImplicitInstantiation;
}

std::vector<const Expr *> HostCode::valuesOf(const clang::ValueDecl *holder) const {
  auto found = values_.find(holder);
  return found == values_.end() ? std::vector<const Expr *>() : found->second;
}

} // namespace kopt::frontend
