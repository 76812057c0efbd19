// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/LibraryKernels.h"

#include "clang_plugin/analysis/Types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>

namespace kopt::frontend {
namespace {

class LibraryKernelFinder {
public:
  explicit LibraryKernelFinder(const SourceIndex &index) : index_(index) {}

  // Kernels are at namespace scope, so bodies and classes are skipped.
  void visit(const clang::DeclContext *context) {
    for (const clang::Decl *declaration : context->decls()) {
      if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::ExportDecl>(declaration))
        visit(llvm::cast<clang::DeclContext>(declaration));
      else if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
        add(function);
      else if (const auto *pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration);
               pattern && pattern->isThisDeclarationADefinition())
        for (const clang::FunctionDecl *specialization : pattern->specializations())
          add(specialization);
    }
  }

  std::map<std::string, LibraryKernel> found;

private:
  void add(const clang::FunctionDecl *function) {
    if (!function->hasAttr<clang::CUDAGlobalAttr>() || function->isInvalidDecl() ||
        function->isDependentContext() || !function->isDefined())
      return;
    const clang::SourceManager &sources = index_.sources();
    clang::SourceLocation at = sources.getExpansionLoc(function->getLocation());
    clang::FileID file = sources.getFileID(at);
    if (index_.isUser(file))
      return;
    std::string symbol = symbolOf(*function);
    found[symbol] = {symbol, expressionOf(*function), index_.path(file),
                     sources.getSpellingLineNumber(at)};
  }

  const SourceIndex &index_;
};

} // namespace

std::vector<LibraryKernel> findLibraryKernels(const SourceIndex &index) {
  LibraryKernelFinder finder(index);
  finder.visit(index.unit().getASTContext().getTranslationUnitDecl());
  std::vector<LibraryKernel> kernels;
  for (auto &[symbol, kernel] : finder.found)
    kernels.push_back(std::move(kernel));
  return kernels;
}

} // namespace kopt::frontend
