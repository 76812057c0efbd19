// SPDX-License-Identifier: Apache-2.0
// Where a parse may leave out the bodies of library functions (ParseRequest::skipLibraryBodies),
// this decides which: those that nothing kopt asks of the pass can depend on.
#include "clang_plugin/parse/LibraryBodies.h"

#include "clang_plugin/parse/Toolkit.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

namespace kopt::frontend {
namespace {

class Skipper : public clang::ASTConsumer {
public:
  explicit Skipper(clang::CompilerInstance &instance)
      : instance_(instance), folders_(libraryFolders()) {}

  /// Asked for each function body that is neither constexpr nor decides a return type; all
  /// consumers must agree. The host pass finds kernels, by whatever instantiates them: it keeps all
  /// templates, and all of CUB and Thrust, where plain functions and kernels instantiate others.
  /// The device pass is asked what the user's kernels need: it keeps templates that run there.
  bool shouldSkipFunctionBody(clang::Decl *declaration) override {
    const clang::FunctionDecl *function = declaration->getAsFunction();
    Library library = function ? libraryOf(function->getLocation()) : Library::None;
    if (library == Library::None)
      return false;
    if (!instance_.getLangOpts().CUDAIsDevice)
      return library == Library::WithoutKernels && !function->isTemplated();
    return !function->isTemplated() || (!function->hasAttr<clang::CUDADeviceAttr>() &&
                                        !function->hasAttr<clang::CUDAGlobalAttr>());
  }

private:
  enum class Library { None, WithKernels, WithoutKernels };

  Library libraryOf(clang::SourceLocation location) {
    const clang::SourceManager &sources = instance_.getSourceManager();
    clang::FileID file = sources.getFileID(sources.getExpansionLoc(location));
    auto [known, added] = libraries_.try_emplace(file, Library::None);
    if (!added)
      return known->second;
    auto entry = sources.getFileEntryRefForID(file);
    if (!entry || !sources.isInSystemHeader(sources.getLocForStartOfFile(file)))
      return Library::None;
    // Folders that contain symbolic links to the toolkit's headers are common.
    llvm::SmallString<256> name;
    if (llvm::sys::fs::real_path(entry->getName(), name))
      return Library::None;
    for (const std::string &folder : folders_.system)
      if (name.starts_with(folder))
        known->second = Library::WithoutKernels;
    if (!folders_.toolkit.empty() && name.starts_with(folders_.toolkit)) {
      llvm::StringRef parent = llvm::sys::path::filename(llvm::sys::path::parent_path(name));
      bool own =
          parent == llvm::sys::path::filename(llvm::StringRef(folders_.toolkit).drop_back()) ||
          parent == "crt";
      known->second = own ? Library::WithoutKernels : Library::WithKernels;
    }
    return known->second;
  }

  clang::CompilerInstance &instance_;
  LibraryFolders folders_;
  llvm::DenseMap<clang::FileID, Library> libraries_;
};

/// Takes part only in parses that were started with SkipFunctionBodies.
class SkipAction : public clang::PluginASTAction {
protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &instance,
                                                        llvm::StringRef) override {
    return std::make_unique<Skipper>(instance);
  }
  bool ParseArgs(const clang::CompilerInstance &instance,
                 const std::vector<std::string> &) override {
    return instance.getFrontendOpts().SkipFunctionBodies;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

clang::FrontendPluginRegistry::Add<SkipAction> action("kopt-library-bodies",
                                                      "leaves out bodies of library functions");

} // namespace

void leaveOutLibraryBodies(clang::CompilerInvocation &invocation) {
  invocation.getFrontendOpts().SkipFunctionBodies = true;
}

LibraryFolders libraryFolders() {
  LibraryFolders folders;
  for (const std::string &folder :
       {std::string("/usr/include"), std::string("/usr/lib"), clangResourceDirectory()})
    if (llvm::SmallString<128> real; !llvm::sys::fs::real_path(folder, real))
      folders.system.push_back(std::string(real) + "/");
  llvm::SmallString<128> real;
  if (std::optional<std::string> toolkit = findCudaToolkit();
      toolkit && !llvm::sys::fs::real_path(*toolkit + "/include", real))
    folders.toolkit = std::string(real) + "/";
  return folders;
}

} // namespace kopt::frontend
