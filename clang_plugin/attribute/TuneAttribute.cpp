// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/attribute/TuneAttribute.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <clang/Sema/ParsedAttr.h>
#include <clang/Sema/Sema.h>

namespace kopt::frontend {
namespace {

/// The annotation that carries the clauses in the AST, because Clang's AST cannot hold custom
/// attributes.
constexpr llvm::StringRef kAnnotation = "kopt.tune";

class TuneAttribute : public clang::ParsedAttrInfo {
public:
  TuneAttribute() {
    // The parser looks up the name without its scope before it reads arguments, and the full name
    // afterwards.
    static constexpr Spelling kSpellings[] = {{clang::ParsedAttr::AS_CXX11, "kopt::tune"},
                                              {clang::ParsedAttr::AS_CXX11, "tune"}};
    Spellings = kSpellings;
    OptArgs = 15; // Clang's value for "any number"
  }

  bool diagAppertainsToDecl(clang::Sema &sema, const clang::ParsedAttr &attribute,
                            const clang::Decl *declaration) const override {
    if (!attribute.hasScope()) {
      error(sema, attribute.getLoc(), "[[tune]] is not an attribute; did you mean [[kopt::tune]]?");
      return false;
    }
    // __global__ may follow later in the declaration, so checkTuneAttributes() checks complete
    // declarations.
    if (llvm::isa<clang::FunctionDecl>(declaration))
      return true;
    error(sema, attribute.getLoc(),
          "[[kopt::tune]] marks a __global__ function, not this declaration");
    return false;
  }

  AttrHandling handleDeclAttribute(clang::Sema &sema, clang::Decl *declaration,
                                   const clang::ParsedAttr &attribute) const override {
    llvm::SmallVector<clang::Expr *, 8> clauses;
    for (unsigned i = 0; i < attribute.getNumArgs(); ++i) {
      clang::Expr *argument = attribute.isArgExpr(i) ? attribute.getArgAsExpr(i) : nullptr;
      if (!argument || !llvm::isa<clang::StringLiteral>(argument->IgnoreParenImpCasts())) {
        error(sema, argument ? argument->getExprLoc() : attribute.getLoc(),
              "[[kopt::tune]] takes string literals, for example \"param TILE in {8, 16, 32}\"");
        return AttributeNotApplied;
      }
      clauses.push_back(argument->IgnoreParenImpCasts());
    }
    declaration->addAttr(clang::AnnotateAttr::Create(sema.Context, kAnnotation, clauses.data(),
                                                     clauses.size(), attribute.getRange()));
    return AttributeApplied;
  }

private:
  static void error(clang::Sema &sema, clang::SourceLocation where, const char *text) {
    clang::DiagnosticsEngine &engine = sema.getDiagnostics();
    engine.Report(where,
                  engine.getDiagnosticIDs()->getCustomDiagID(clang::DiagnosticIDs::Error, text));
  }
};

clang::ParsedAttrInfoRegistry::Add<TuneAttribute> registration("kopt-tune",
                                                               "marks a CUDA kernel for kopt");

class Checker : public clang::RecursiveASTVisitor<Checker> {
public:
  explicit Checker(clang::ASTContext &context) : context_(context) {}

  /// Skips system headers, which contain most of a program's declarations and no kernels to tune.
  bool TraverseDecl(clang::Decl *declaration) {
    if (declaration && declaration->getLocation().isValid() &&
        declaration->getLexicalDeclContext() &&
        declaration->getLexicalDeclContext()->isTranslationUnit() &&
        context_.getSourceManager().isInSystemHeader(
            context_.getSourceManager().getExpansionLoc(declaration->getLocation())))
      return true;
    return RecursiveASTVisitor::TraverseDecl(declaration);
  }

  bool VisitFunctionDecl(clang::FunctionDecl *function) {
    for (const auto *annotation : function->specific_attrs<clang::AnnotateAttr>())
      if (annotation->getAnnotation() == kAnnotation &&
          !function->hasAttr<clang::CUDAGlobalAttr>()) {
        clang::DiagnosticsEngine &engine = context_.getDiagnostics();
        unsigned id = engine.getDiagnosticIDs()->getCustomDiagID(
            clang::DiagnosticIDs::Error,
            "[[kopt::tune]] marks '%0', which is not a __global__ function");
        engine.Report(annotation->getLocation(), id) << function->getQualifiedNameAsString();
      }
    return true;
  }

private:
  clang::ASTContext &context_;
};

/// For -fplugin: runs the check in the user's Clang build, which otherwise continues as usual.
class CheckAction : public clang::PluginASTAction {
protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &,
                                                        llvm::StringRef) override {
    class Consumer : public clang::ASTConsumer {
      void HandleTranslationUnit(clang::ASTContext &context) override {
        checkTuneAttributes(context);
      }
    };
    return std::make_unique<Consumer>();
  }
  bool ParseArgs(const clang::CompilerInstance &, const std::vector<std::string> &) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

clang::FrontendPluginRegistry::Add<CheckAction> action("kopt", "checks [[kopt::tune]] annotations");

} // namespace

std::optional<std::vector<TuneClauseText>> findTuneClauses(const clang::FunctionDecl &function) {
  std::vector<TuneClauseText> clauses;
  bool found = false;
  for (const clang::FunctionDecl *declaration : function.redecls())
    for (const auto *annotation : declaration->specific_attrs<clang::AnnotateAttr>()) {
      // A later declaration inherits the attributes of an earlier one.
      if (annotation->getAnnotation() != kAnnotation || annotation->isInherited())
        continue;
      found = true;
      for (const clang::Expr *argument : annotation->args())
        if (const auto *literal =
                llvm::dyn_cast<clang::StringLiteral>(argument->IgnoreParenImpCasts()))
          clauses.push_back({literal->getString().str(), literal->getBeginLoc()});
    }
  if (!found)
    return std::nullopt;
  return clauses;
}

void checkTuneAttributes(clang::ASTContext &context) {
  // Declarations of a precompiled header were checked when it was made.
  for (clang::Decl *declaration : context.getTranslationUnitDecl()->noload_decls())
    Checker(context).TraverseDecl(declaration);
}

} // namespace kopt::frontend
