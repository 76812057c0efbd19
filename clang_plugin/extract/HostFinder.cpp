// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/HostFinder.h"

#include "clang_plugin/analysis/Types.h"
#include "clang_plugin/hostflow/HostCode.h"
#include "clang_plugin/hostflow/Place.h"
#include "clang_plugin/hostflow/Purity.h"

#include <algorithm>
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

namespace kopt::frontend {

using namespace clang;

namespace {

class HostFinder : public RecursiveASTVisitor<HostFinder> {
public:
  HostFinder(const SourceIndex &index, const std::vector<std::string> &kernels, HostParts &found)
      : index_(index), sources_(index.sources()), kernels_(kernels.begin(), kernels.end()),
        found_(found) {}

  bool TraverseDecl(Decl *declaration) {
    if (declaration && !llvm::isa<TranslationUnitDecl>(declaration) &&
        declaration->getLocation().isValid() &&
        llvm::isa<TranslationUnitDecl>(declaration->getLexicalDeclContext()) &&
        !index_.isUser(sources_.getFileID(sources_.getExpansionLoc(declaration->getLocation()))))
      return true;
    return RecursiveASTVisitor::TraverseDecl(declaration);
  }

  bool VisitFunctionDecl(FunctionDecl *function) {
    const bool isDevice =
        function->hasAttr<CUDAGlobalAttr>() ||
        (function->hasAttr<CUDADeviceAttr>() && !function->hasAttr<CUDAHostAttr>());
    const auto *method = llvm::dyn_cast<CXXMethodDecl>(function);
    if (isDevice || !function->doesThisDeclarationHaveABody() || function->isImplicit() ||
        function->isDefaulted() || function->getParentFunctionOrMethod() ||
        (method && method->getParent()->isLambda()))
      return true;
    found_.functions.push_back(function);
    for (const ParmVarDecl *parameter : function->parameters())
      if (!parameter->getType()->isReferenceType())
        found_.feeding.insert(parameter);
    return true;
  }

  bool VisitVarDecl(VarDecl *variable) {
    if (llvm::isa<ParmVarDecl>(variable))
      return true;
    if (variable->isLocalVarDecl()) {
      if (!variable->getType()->isReferenceType())
        found_.feeding.insert(variable);
    } else if (variable->isFileVarDecl() && !variable->hasAttr<CUDADeviceAttr>() &&
               !variable->hasAttr<CUDAConstantAttr>() && !variable->hasAttr<HIPManagedAttr>() &&
               variable->isThisDeclarationADefinition()) {
      found_.variables.push_back(variable);
    }
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr *reference) {
    if (const auto *variable = llvm::dyn_cast<VarDecl>(reference->getDecl()))
      noteVariable(*variable, *reference);
    noteFunction(reference->getDecl(), reference->getSourceRange());
    if (isWanted(reference->getDecl()) && reference->hasExplicitTemplateArgs())
      leave(reference->getLAngleLoc(), reference->getRAngleLoc());
    return true;
  }
  bool VisitUnresolvedLookupExpr(UnresolvedLookupExpr *lookup) {
    for (const NamedDecl *found : lookup->decls())
      noteFunction(found, lookup->getSourceRange());
    if (std::any_of(lookup->decls_begin(), lookup->decls_end(),
                    [&](const NamedDecl *found) { return isWanted(found); }) &&
        lookup->hasExplicitTemplateArgs())
      leave(lookup->getLAngleLoc(), lookup->getRAngleLoc());
    return true;
  }

  bool VisitCompoundStmt(CompoundStmt *compound) {
    for (const Stmt *statement : compound->body()) {
      found_.statements.push_back(statement);
      if (const auto *block = llvm::dyn_cast<CompoundStmt>(statement))
        found_.blocks.push_back(block);
    }
    return true;
  }

  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *call) {
    const CallExpr *config = call->getConfig();
    if (!config || !isWantedCallee(call->getCallee()))
      return true;
    found_.launches.push_back(spanOf(call->getSourceRange()));
    const unsigned count = config->getNumArgs();
    const Expr *stream = count > 3 ? config->getArg(3) : nullptr;
    if (stream && (llvm::isa<CXXDefaultArgExpr>(stream) || isZero(stream)))
      stream = nullptr;
    const SourceLocation begin = config->getBeginLoc(), end = config->getRParenLoc();
    if (begin.isFileID() && end.isFileID() && sources_.isWrittenInSameFile(begin, end)) {
      Span all = spanOf({begin, end});
      all.begin += 3; // <<<
      all.end = stream ? spanOf(stream->getSourceRange()).begin : all.end - 3;
      found_.left.push_back(all);
    } else {
      for (unsigned i = 0; i < std::min(count, 3u); ++i)
        leave(config->getArg(i));
    }
    return true;
  }

  bool VisitCallExpr(CallExpr *call) {
    const std::string name = calleeName(*call);
    const auto leaveArguments = [&](std::initializer_list<unsigned> which, const Expr *kernel) {
      if (!isWantedCallee(kernel))
        return;
      found_.launches.push_back(spanOf(call->getSourceRange()));
      for (const unsigned i : which)
        if (i < call->getNumArgs())
          leave(call->getArg(i));
    };
    if (name == "cudaLaunchKernel" || name == "cudaLaunchCooperativeKernel")
      leaveArguments({1, 2, 4}, call->getArg(0));
    else if (name == "cuLaunchKernel" || name == "cuLaunchCooperativeKernel")
      leaveArguments({1, 2, 3, 4, 5, 6, 7}, call->getArg(0));
    else if (name == "cudaLaunchKernelEx" || name == "cudaLaunchKernelExC")
      leaveArguments({}, call->getArg(1));
    else if (name == "cudaFuncSetAttribute" && call->getNumArgs() == 3)
      findOptIn(*call);
    if (const FunctionDecl *callee = call->getDirectCallee())
      if (const FunctionDecl *written = patternOf(callee))
        found_.calls.push_back({call, written});
    return true;
  }

  bool VisitStmt(Stmt *statement) {
    const Assignment change = assignmentIn(statement);
    const auto *member =
        llvm::dyn_cast_or_null<MemberExpr>(change.value ? strip(change.target) : nullptr);
    if (member && isLaunchConfig(member->getBase()->getType()) &&
        isConfigMember(member->getMemberDecl()->getName()))
      leave(change.value);
    return true;
  }
  bool VisitInitListExpr(InitListExpr *list) {
    if (list->isSemanticForm() && list->getSyntacticForm())
      list = list->getSyntacticForm();
    if (!list->getType().isNull() && isLaunchConfig(list->getType()))
      for (unsigned i = 0; i < std::min(list->getNumInits(), 3u); ++i)
        leave(list->getInit(i));
    return true;
  }

private:
  static std::string calleeName(const CallExpr &call) {
    if (const auto *name = llvm::dyn_cast<UnresolvedLookupExpr>(call.getCallee()))
      return name->getName().getAsString();
    const FunctionDecl *callee = call.getDirectCallee();
    return callee && callee->getIdentifier() ? callee->getNameAsString() : "";
  }
  static bool isLaunchConfig(QualType type) {
    const CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
    return record && record->getName().starts_with("cudaLaunchConfig");
  }
  static bool isConfigMember(llvm::StringRef name) {
    return name == "gridDim" || name == "blockDim" || name == "dynamicSmemBytes";
  }
  static bool isZero(const Expr *stream) {
    stream = strip(stream);
    const auto *number = llvm::dyn_cast<IntegerLiteral>(stream);
    return llvm::isa<CXXNullPtrLiteralExpr, GNUNullExpr>(stream) ||
           (number && number->getValue() == 0);
  }

  Span spanOf(clang::SourceRange range) const { return frontend::spanOf(index_, range); }

  bool isWanted(const NamedDecl *declaration) const {
    const FunctionDecl *function = declaration ? declaration->getAsFunction() : nullptr;
    if (!function || !function->hasAttr<CUDAGlobalAttr>())
      return false;
    const FunctionDecl *written = patternOf(function);
    return kernels_.contains(writtenName(written ? *written : *function));
  }
  /// Collects the kernels that an expression names.
  void namedIn(const Stmt *statement, std::vector<const NamedDecl *> &named) const {
    if (!statement)
      return;
    if (const auto *reference = llvm::dyn_cast<DeclRefExpr>(statement))
      if (llvm::isa<FunctionDecl>(reference->getDecl()))
        named.push_back(reference->getDecl());
    if (const auto *lookup = llvm::dyn_cast<OverloadExpr>(statement))
      named.insert(named.end(), lookup->decls_begin(), lookup->decls_end());
    for (const Stmt *child : statement->children())
      namedIn(child, named);
  }
  /// True for one of the request's kernels, or an unknown kernel behind a variable.
  bool isWantedCallee(const Expr *callee) const {
    std::vector<const NamedDecl *> named;
    namedIn(callee, named);
    return named.empty() || std::any_of(named.begin(), named.end(), [&](const auto *declaration) {
             return isWanted(declaration);
           });
  }

  void findOptIn(const CallExpr &call) {
    const auto *attribute = llvm::dyn_cast_or_null<DeclRefExpr>(strip(call.getArg(1)));
    std::vector<const NamedDecl *> named;
    namedIn(call.getArg(0), named);
    if (!attribute || !attribute->getDecl()->getIdentifier() ||
        attribute->getDecl()->getName() != "cudaFuncAttributeMaxDynamicSharedMemorySize")
      return;
    bool isOfWanted = false;
    for (const NamedDecl *declaration : named)
      if (isWanted(declaration)) {
        const FunctionDecl *written = patternOf(declaration->getAsFunction());
        found_.largeShared.insert(writtenName(written ? *written : *declaration->getAsFunction()));
        isOfWanted = true;
      }
    if (isOfWanted)
      found_.optIns.push_back(spanOf(call.getSourceRange()));
  }

  void noteVariable(const VarDecl &variable, const DeclRefExpr &reference) {
    const SourceLocation at = reference.getLocation();
    if (const auto value = constantOf(variable);
        value && at.isFileID() && !reference.hasQualifier())
      found_.constants[sources_.getDecomposedLoc(at)] = {*value, variable.isLocalVarDecl()};
    else if (variable.isLocalVarDeclOrParm())
      found_.references[&variable].push_back(spanOf(reference.getSourceRange()));
  }

  /// `static const int kRows = 4`
  static std::optional<std::string> constantOf(const VarDecl &variable) {
    const QualType type = variable.getType();
    const Expr *initial = variable.getInit();
    if (type->isDependentType() || !type->isIntegralOrEnumerationType() ||
        !type.isConstQualified() || type.isVolatileQualified() || !initial ||
        initial->isValueDependent() || initial->isTypeDependent())
      return std::nullopt;
    Expr::EvalResult result;
    if (!initial->EvaluateAsInt(result, variable.getASTContext()))
      return std::nullopt;
    return llvm::toString(result.Val.getInt(), 10);
  }

  void noteFunction(const NamedDecl *declaration, clang::SourceRange range) {
    const FunctionDecl *function = declaration ? declaration->getAsFunction() : nullptr;
    if (const FunctionDecl *written = function ? patternOf(function) : nullptr)
      found_.mentions[written].push_back(spanOf(range));
  }

  void leave(const Expr *expression) {
    if (!llvm::isa<CXXDefaultArgExpr>(expression))
      found_.left.push_back(spanOf(expression->getSourceRange()));
  }
  void leave(SourceLocation begin, SourceLocation end) {
    if (begin.isValid() && end.isValid())
      found_.left.push_back(spanOf({begin, end}));
  }

  const SourceIndex &index_;
  const SourceManager &sources_;
  const std::set<std::string> kernels_;
  HostParts &found_;
};

} // namespace

Span spanOf(const SourceIndex &index, clang::SourceRange range) {
  const SourceManager &sources = index.sources();
  const LangOptions &language = index.unit().getLangOpts();
  CharSourceRange text =
      Lexer::makeFileCharRange(CharSourceRange::getTokenRange(range), sources, language);
  if (text.isInvalid())
    text = Lexer::getAsCharRange(sources.getExpansionRange(range), sources, language);
  const auto [file, begin] = sources.getDecomposedLoc(text.getBegin());
  const auto [endFile, end] = sources.getDecomposedLoc(text.getEnd());
  return file == endFile ? Span{file, begin, end} : Span{file, begin, begin};
}

HostParts findHostParts(const SourceIndex &index, const std::vector<std::string> &kernels) {
  HostParts found;
  HostFinder(index, kernels, found)
      .TraverseDecl(index.unit().getASTContext().getTranslationUnitDecl());
  return found;
}

} // namespace kopt::frontend
