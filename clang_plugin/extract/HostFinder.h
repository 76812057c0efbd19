// SPDX-License-Identifier: Apache-2.0
// Collects what HostText is made from, in one walk over a file's host code.
#pragma once

#include "clang_plugin/analysis/Types.h"
#include "clang_plugin/hostflow/HostCode.h"
#include "clang_plugin/hostflow/Place.h"
#include "clang_plugin/hostflow/Purity.h"
#include "clang_plugin/parse/SourceIndex.h"

#include <algorithm>
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>
#include <map>
#include <set>

namespace kopt::frontend {

/// Bytes of one file, half open.
struct Span {
  clang::FileID file;
  unsigned begin = 0, end = 0;
  bool contains(const Span &other) const {
    return file == other.file && begin <= other.begin && other.end <= end;
  }
};

/// A call of a function with arguments for its parameters.
struct KnownCall {
  const clang::CallExpr *call;
  const clang::FunctionDecl *callee; ///< as written
};

/// Walks over the host code as written and collects what the text is made from.
class HostFinder : public clang::RecursiveASTVisitor<HostFinder> {
public:
  HostFinder(const SourceIndex &index, const std::vector<std::string> &kernels)
      : index_(index), sources_(index.sources()), kernels_(kernels.begin(), kernels.end()) {}

  bool TraverseDecl(clang::Decl *declaration) {
    if (declaration && !llvm::isa<clang::TranslationUnitDecl>(declaration) &&
        declaration->getLocation().isValid() &&
        llvm::isa<clang::TranslationUnitDecl>(declaration->getLexicalDeclContext()) &&
        !index_.isUser(sources_.getFileID(sources_.getExpansionLoc(declaration->getLocation()))))
      return true;
    return RecursiveASTVisitor::TraverseDecl(declaration);
  }

  bool VisitFunctionDecl(clang::FunctionDecl *function) {
    const bool isDevice =
        function->hasAttr<clang::CUDAGlobalAttr>() ||
        (function->hasAttr<clang::CUDADeviceAttr>() && !function->hasAttr<clang::CUDAHostAttr>());
    const auto *method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
    if (isDevice || !function->doesThisDeclarationHaveABody() || function->isImplicit() ||
        function->isDefaulted() || function->getParentFunctionOrMethod() ||
        (method && method->getParent()->isLambda()))
      return true;
    functions.push_back(function);
    for (const clang::ParmVarDecl *parameter : function->parameters())
      if (!parameter->getType()->isReferenceType())
        feeding.insert(parameter);
    return true;
  }

  bool VisitVarDecl(clang::VarDecl *variable) {
    if (llvm::isa<clang::ParmVarDecl>(variable))
      return true;
    if (variable->isLocalVarDecl()) {
      if (!variable->getType()->isReferenceType())
        feeding.insert(variable);
    } else if (variable->isFileVarDecl() && !variable->hasAttr<clang::CUDADeviceAttr>() &&
               !variable->hasAttr<clang::CUDAConstantAttr>() &&
               !variable->hasAttr<clang::HIPManagedAttr>() &&
               variable->isThisDeclarationADefinition()) {
      variables.push_back(variable);
    }
    return true;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl()))
      noteVariable(*variable, *reference);
    noteFunction(reference->getDecl(), reference->getSourceRange());
    if (isWanted(reference->getDecl()) && reference->hasExplicitTemplateArgs())
      leave(reference->getLAngleLoc(), reference->getRAngleLoc());
    return true;
  }
  bool VisitUnresolvedLookupExpr(clang::UnresolvedLookupExpr *lookup) {
    for (const clang::NamedDecl *found : lookup->decls())
      noteFunction(found, lookup->getSourceRange());
    if (std::any_of(lookup->decls_begin(), lookup->decls_end(),
                    [&](const clang::NamedDecl *found) { return isWanted(found); }) &&
        lookup->hasExplicitTemplateArgs())
      leave(lookup->getLAngleLoc(), lookup->getRAngleLoc());
    return true;
  }

  bool VisitCompoundStmt(clang::CompoundStmt *compound) {
    for (const clang::Stmt *statement : compound->body()) {
      statements.push_back(statement);
      if (const auto *block = llvm::dyn_cast<clang::CompoundStmt>(statement))
        blocks.push_back(block);
    }
    return true;
  }

  bool VisitCUDAKernelCallExpr(clang::CUDAKernelCallExpr *call) {
    const clang::CallExpr *config = call->getConfig();
    if (!config || !isWantedCallee(call->getCallee()))
      return true;
    launches.push_back(spanOf(call->getSourceRange()));
    const unsigned count = config->getNumArgs();
    const clang::Expr *stream = count > 3 ? config->getArg(3) : nullptr;
    if (stream && (llvm::isa<clang::CXXDefaultArgExpr>(stream) || isZero(stream)))
      stream = nullptr;
    const clang::SourceLocation begin = config->getBeginLoc(), end = config->getRParenLoc();
    if (begin.isFileID() && end.isFileID() && sources_.isWrittenInSameFile(begin, end)) {
      Span all = spanOf({begin, end});
      all.begin += 3; // <<<
      all.end = stream ? spanOf(stream->getSourceRange()).begin : all.end - 3;
      left.push_back(all);
    } else {
      for (unsigned i = 0; i < std::min(count, 3u); ++i)
        leave(config->getArg(i));
    }
    return true;
  }

  bool VisitCallExpr(clang::CallExpr *call) {
    const std::string name = calleeName(*call);
    const auto leaveArguments = [&](std::initializer_list<unsigned> which,
                                    const clang::Expr *kernel) {
      if (!isWantedCallee(kernel))
        return;
      launches.push_back(spanOf(call->getSourceRange()));
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
    if (const clang::FunctionDecl *callee = call->getDirectCallee())
      if (const clang::FunctionDecl *written = patternOf(callee))
        calls.push_back({call, written});
    return true;
  }

  bool VisitStmt(clang::Stmt *statement) {
    const Assignment change = assignmentIn(statement);
    const auto *member =
        llvm::dyn_cast_or_null<clang::MemberExpr>(change.value ? strip(change.target) : nullptr);
    if (member && isLaunchConfig(member->getBase()->getType()) &&
        isConfigMember(member->getMemberDecl()->getName()))
      leave(change.value);
    return true;
  }
  bool VisitInitListExpr(clang::InitListExpr *list) {
    if (list->isSemanticForm() && list->getSyntacticForm())
      list = list->getSyntacticForm();
    if (!list->getType().isNull() && isLaunchConfig(list->getType()))
      for (unsigned i = 0; i < std::min(list->getNumInits(), 3u); ++i)
        leave(list->getInit(i));
    return true;
  }

  /// The text of the file between two tokens, even if they are in a macro's arguments or call.
  Span spanOf(clang::SourceRange range) const {
    clang::CharSourceRange text = clang::Lexer::makeFileCharRange(
        clang::CharSourceRange::getTokenRange(range), sources_, index_.unit().getLangOpts());
    if (text.isInvalid())
      text = clang::Lexer::getAsCharRange(sources_.getExpansionRange(range), sources_,
                                          index_.unit().getLangOpts());
    const auto [file, begin] = sources_.getDecomposedLoc(text.getBegin());
    const auto [endFile, end] = sources_.getDecomposedLoc(text.getEnd());
    return file == endFile ? Span{file, begin, end} : Span{file, begin, begin};
  }

  std::vector<const clang::FunctionDecl *> functions;
  std::vector<const clang::VarDecl *> variables; ///< at namespace scope
  std::vector<Span> left;                        ///< always left out of the text
  std::vector<Span> launches;
  std::vector<KnownCall> calls;
  std::vector<const clang::Stmt *> statements;     ///< statements of blocks
  std::vector<const clang::CompoundStmt *> blocks; ///< those that are statements of other blocks
  std::set<const clang::VarDecl *> feeding; ///< locals and parameters that may serve launches only
  std::map<const clang::VarDecl *, std::vector<Span>> references;
  /// Constant integers, by each place where they are named.
  struct Constant {
    std::string value;
    bool isLocal = false;
  };
  std::map<std::pair<clang::FileID, unsigned>, Constant> constants;
  /// Of each function as written.
  std::map<const clang::FunctionDecl *, std::vector<Span>> mentions;
  std::vector<Span> optIns;
  std::set<std::string> largeShared;

private:
  static std::string calleeName(const clang::CallExpr &call) {
    if (const auto *name = llvm::dyn_cast<clang::UnresolvedLookupExpr>(call.getCallee()))
      return name->getName().getAsString();
    const clang::FunctionDecl *callee = call.getDirectCallee();
    return callee && callee->getIdentifier() ? callee->getNameAsString() : "";
  }
  static bool isLaunchConfig(clang::QualType type) {
    const clang::CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
    return record && record->getName().starts_with("cudaLaunchConfig");
  }
  static bool isConfigMember(llvm::StringRef name) {
    return name == "gridDim" || name == "blockDim" || name == "dynamicSmemBytes";
  }
  static bool isZero(const clang::Expr *stream) {
    stream = strip(stream);
    const auto *number = llvm::dyn_cast<clang::IntegerLiteral>(stream);
    return llvm::isa<clang::CXXNullPtrLiteralExpr, clang::GNUNullExpr>(stream) ||
           (number && number->getValue() == 0);
  }

  bool isWanted(const clang::NamedDecl *declaration) const {
    const clang::FunctionDecl *function = declaration ? declaration->getAsFunction() : nullptr;
    if (!function || !function->hasAttr<clang::CUDAGlobalAttr>())
      return false;
    const clang::FunctionDecl *written = patternOf(function);
    return kernels_.contains(writtenName(written ? *written : *function));
  }
  /// Collects the kernels that an expression names.
  void namedIn(const clang::Stmt *statement, std::vector<const clang::NamedDecl *> &named) const {
    if (!statement)
      return;
    if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(statement))
      if (llvm::isa<clang::FunctionDecl>(reference->getDecl()))
        named.push_back(reference->getDecl());
    if (const auto *lookup = llvm::dyn_cast<clang::OverloadExpr>(statement))
      named.insert(named.end(), lookup->decls_begin(), lookup->decls_end());
    for (const clang::Stmt *child : statement->children())
      namedIn(child, named);
  }
  /// True for one of the request's kernels, or an unknown kernel behind a variable.
  bool isWantedCallee(const clang::Expr *callee) const {
    std::vector<const clang::NamedDecl *> named;
    namedIn(callee, named);
    return named.empty() || std::any_of(named.begin(), named.end(), [&](const auto *declaration) {
             return isWanted(declaration);
           });
  }

  void findOptIn(const clang::CallExpr &call) {
    const auto *attribute = llvm::dyn_cast_or_null<clang::DeclRefExpr>(strip(call.getArg(1)));
    std::vector<const clang::NamedDecl *> named;
    namedIn(call.getArg(0), named);
    if (!attribute || !attribute->getDecl()->getIdentifier() ||
        attribute->getDecl()->getName() != "cudaFuncAttributeMaxDynamicSharedMemorySize")
      return;
    bool isOfWanted = false;
    for (const clang::NamedDecl *declaration : named)
      if (isWanted(declaration)) {
        const clang::FunctionDecl *written = patternOf(declaration->getAsFunction());
        largeShared.insert(writtenName(written ? *written : *declaration->getAsFunction()));
        isOfWanted = true;
      }
    if (isOfWanted)
      optIns.push_back(spanOf(call.getSourceRange()));
  }

  void noteVariable(const clang::VarDecl &variable, const clang::DeclRefExpr &reference) {
    const clang::SourceLocation at = reference.getLocation();
    if (const auto value = constantOf(variable);
        value && at.isFileID() && !reference.hasQualifier())
      constants[sources_.getDecomposedLoc(at)] = {*value, variable.isLocalVarDecl()};
    else if (variable.isLocalVarDeclOrParm())
      references[&variable].push_back(spanOf(reference.getSourceRange()));
  }

  /// `static const int kRows = 4`
  static std::optional<std::string> constantOf(const clang::VarDecl &variable) {
    const clang::QualType type = variable.getType();
    const clang::Expr *initial = variable.getInit();
    if (type->isDependentType() || !type->isIntegralOrEnumerationType() ||
        !type.isConstQualified() || type.isVolatileQualified() || !initial ||
        initial->isValueDependent() || initial->isTypeDependent())
      return std::nullopt;
    clang::Expr::EvalResult result;
    if (!initial->EvaluateAsInt(result, variable.getASTContext()))
      return std::nullopt;
    return llvm::toString(result.Val.getInt(), 10);
  }

  void noteFunction(const clang::NamedDecl *declaration, clang::SourceRange range) {
    const clang::FunctionDecl *function = declaration ? declaration->getAsFunction() : nullptr;
    if (const clang::FunctionDecl *written = function ? patternOf(function) : nullptr)
      mentions[written].push_back(spanOf(range));
  }

  void leave(const clang::Expr *expression) {
    if (!llvm::isa<clang::CXXDefaultArgExpr>(expression))
      left.push_back(spanOf(expression->getSourceRange()));
  }
  void leave(clang::SourceLocation begin, clang::SourceLocation end) {
    if (begin.isValid() && end.isValid())
      left.push_back(spanOf({begin, end}));
  }

  const SourceIndex &index_;
  const clang::SourceManager &sources_;
  const std::set<std::string> kernels_;
};

} // namespace kopt::frontend
