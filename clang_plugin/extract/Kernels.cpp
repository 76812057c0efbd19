// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/Kernels.h"

#include "clang_plugin/analysis/Types.h"
#include "clang_plugin/attribute/TuneAttribute.h"
#include "clang_plugin/extract/LaunchNeeds.h"
#include "clang_plugin/extract/Launches.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <list>

namespace kopt::frontend {
namespace {

using clang::Expr;
using clang::FunctionDecl;

/// Adds a constant to a kernel, one entry for each name. False if another constant has the same
/// name.
bool noteConstant(KernelSpec &kernel, const NamedConstant &constant, bool byLaunch) {
  for (NamedConstant &known : kernel.constants) {
    if (known.name != constant.name)
      continue;
    if (known.valueRange != constant.valueRange)
      return false;
    (byLaunch ? known.usedByLaunch : known.usedByKernel) = true;
    return true;
  }
  kernel.constants.push_back(constant);
  (byLaunch ? kernel.constants.back().usedByLaunch : kernel.constants.back().usedByKernel) = true;
  return true;
}

/// Sets the ranges of template arguments at a launch: the value of a constant if one is named,
/// otherwise the argument.
void placeTemplateArgs(const Constants &constants, const clang::DeclRefExpr *reference,
                       KernelSpec &kernel, std::vector<TemplateArg> &args) {
  if (!reference || !reference->hasExplicitTemplateArgs())
    return;
  llvm::ArrayRef<clang::TemplateArgumentLoc> spelled = reference->template_arguments();
  for (std::size_t i = 0; i < spelled.size() && i < args.size(); ++i) {
    std::optional<SourceRange> range;
    if (spelled[i].getArgument().getKind() == clang::TemplateArgument::Expression) {
      const Expr *written = spelled[i].getSourceExpression();
      // Within a host template, the argument is a parameter of that template: there is no text to
      // edit.
      if (llvm::isa<clang::SubstNonTypeTemplateParmExpr>(written->IgnoreImplicit()))
        continue;
      const Expr *value = strip(written);
      std::optional<NamedConstant> constant;
      if (const auto *named = llvm::dyn_cast<clang::DeclRefExpr>(value))
        constant = constants.find(named->getDecl());
      else if (llvm::isa<clang::IntegerLiteral>(value))
        constant = constants.findMacroAt(value->getBeginLoc());
      if (constant && noteConstant(kernel, *constant, /*byLaunch=*/true))
        range = constant->valueRange;
      else
        range = constants.rangeOf(written->getSourceRange());
    } else {
      range = constants.rangeOf(spelled[i].getSourceRange());
    }
    if (!args[i].range)
      args[i].range = range;
  }
}

FoundKernel describe(const SourceIndex &index, const FunctionDecl *pattern) {
  FoundKernel kernel;
  kernel.pattern = pattern;
  clang::SourceLocation location = index.sources().getExpansionLoc(pattern->getLocation());
  kernel.info.name = writtenName(*pattern);
  kernel.info.file = index.path(index.sources().getFileID(location));
  kernel.info.line = index.sources().getSpellingLineNumber(location);
  if (auto clauses = findTuneClauses(*pattern)) {
    kernel.info.annotated = true;
    for (const TuneClauseText &clause : *clauses) {
      clang::SourceLocation at = index.sources().getFileLoc(clause.location);
      kernel.info.clauses.push_back({clause.text, index.path(index.sources().getFileID(at)),
                                     index.sources().getSpellingLineNumber(at)});
    }
  }
  return kernel;
}

FoundSpecialization &specializationFor(const SourceIndex &index, FoundKernel &kernel,
                                       const FunctionDecl *function) {
  std::string symbol = symbolOf(*function);
  for (FoundSpecialization &known : kernel.specializations)
    if (known.info.symbol == symbol)
      return known;
  FoundSpecialization &added = kernel.specializations.emplace_back();
  added.function = function;
  added.info.symbol = symbol;
  added.info.expression = expressionOf(*function);
  added.info.templateArgs = templateArgsOf(*function);
  added.enclosing = enclosingFunction(*function);
  added.info.lifted = {"", instantiationOf(added.enclosing ? *added.enclosing : *function)};
  for (const clang::ParmVarDecl *parameter : function->parameters())
    added.info.params.push_back(describeParam(*parameter));
  LaunchNeeds needs = launchNeeds(index, *function);
  added.info.needs = std::move(needs.needs);
  added.info.constantVariables = std::move(needs.constantVariables);
  added.info.testsNonFinite = needs.testsNonFinite;
  for (std::size_t i = 0; i < added.info.params.size(); ++i)
    added.info.params[i].comparedWith = std::move(needs.comparedWith[i]);
  return added;
}

std::string placeOfLaunch(const SourceIndex &index, const LaunchCall &site) {
  clang::SourceLocation at = index.sources().getFileLoc(site.call->getBeginLoc());
  return index.path(index.sources().getFileID(at)) + ":" +
         std::to_string(index.sources().getSpellingLineNumber(at));
}

/// Finds a unit's kernels, and reads their launches.
class KernelFinder {
public:
  KernelFinder(const SourceIndex &host, ExtractionResult &extraction)
      : host_(host), extraction_(extraction), code_(host), reader_(code_, flows_),
        constants_(host) {}

  std::vector<FoundKernel> run() {
    for (const FunctionDecl *pattern : code_.kernels())
      if (host_.isUser(
              host_.sources().getFileID(host_.sources().getExpansionLoc(pattern->getLocation()))))
        kernels_.push_back(describe(host_, pattern));
    for (FoundKernel &kernel : kernels_)
      if (!kernel.pattern->isTemplated())
        specializationFor(host_, kernel, kernel.pattern);
    for (const FunctionDecl *function : code_.instantiations())
      if (FoundKernel *kernel = kernelOf(function))
        specializationFor(host_, *kernel, function);
    for (const LaunchCall &site : code_.launches()) {
      // A launch in a host template is read in each instantiation.
      const bool isTemplate = site.call->isInstantiationDependent() && !site.call->containsErrors();
      if (isTemplate || (site.host && site.host->isDependentContext()))
        inTemplates_.insert(placeOfLaunch(host_, site));
      else
        read(site);
    }
    for (const std::string &place : inTemplates_)
      if (!read_.contains(place))
        extraction_.notes.push_back(
            {place + ": a launch in a template that nothing in this unit instantiates"});
    for (auto &[declaration, kernel] : declared_)
      kernels_.push_back(std::move(kernel));
    return std::move(kernels_);
  }

private:
  FoundKernel *kernelOf(const FunctionDecl *function) {
    const FunctionDecl *pattern = patternOf(function);
    const auto found = llvm::find_if(
        kernels_, [&](const FoundKernel &kernel) { return pattern && kernel.pattern == pattern; });
    return found == kernels_.end() ? nullptr : &*found;
  }

  /// A kernel of another file.
  FoundKernel &elsewhere(const FunctionDecl *function) {
    const clang::FunctionTemplateDecl *generic = function->getPrimaryTemplate();
    const FunctionDecl *declaration =
        (generic ? generic->getTemplatedDecl() : function)->getCanonicalDecl();
    for (auto &[known, kernel] : declared_)
      if (known == declaration)
        return kernel;
    FoundKernel &kernel = declared_.emplace_back(declaration, describe(host_, declaration)).second;
    kernel.pattern = nullptr;
    kernel.info.defined = false;
    return kernel;
  }

  bool isNew(const LaunchSite &launch) {
    return seen_
        .insert({launch.file, launch.line, launch.column, launch.symbol,
                 launch.grid[0] + launch.block[0]})
        .second;
  }

  void read(const LaunchCall &site) {
    read_.insert(placeOfLaunch(host_, site));
    const KernelTargets targets = reader_.kernelsOf(site);
    const bool shared = targets.kernels.size() > 1 || !targets.problem.empty();
    for (const KernelTarget &target : targets.kernels)
      read(site, target, shared);
    if (!targets.problem.empty() && targets.kernels.empty()) {
      LaunchSite launch =
          reader_.read(site, {}, shared, [](const NamedConstant &) { return false; }).launch;
      launch.callee = reader_.calleeOf(site);
      launch.reason = "the kernel is " + targets.problem;
      if (isNew(launch))
        extraction_.unresolvedLaunches.push_back(std::move(launch));
    } else if (!targets.problem.empty())
      extraction_.notes.push_back({placeOfLaunch(host_, site) +
                                   ": more kernels may be launched here: one comes from " +
                                   targets.problem});
  }

  void read(const LaunchCall &site, const KernelTarget &target, bool shared) {
    FoundKernel *kernel = kernelOf(target.kernel);
    if (target.kernel->isDependentContext() || (!kernel && patternOf(target.kernel)))
      return;
    if (!kernel)
      kernel = &elsewhere(target.kernel);
    if (kernel->pattern) {
      FoundSpecialization &specialization = specializationFor(host_, *kernel, target.kernel);
      placeTemplateArgs(constants_, target.reference, kernel->info,
                        specialization.info.templateArgs);
    }
    LaunchReader::Reading reading =
        reader_.read(site, target, shared, [&](const NamedConstant &constant) {
          const auto known = llvm::find_if(kernel->info.constants, [&](const NamedConstant &other) {
            return other.name == constant.name;
          });
          return known == kernel->info.constants.end() || known->valueRange == constant.valueRange;
        });
    for (const NamedConstant &constant : reading.constants)
      noteConstant(kernel->info, constant, /*byLaunch=*/true);
    if (isNew(reading.launch))
      kernel->info.launches.push_back(std::move(reading.launch));
  }

  const SourceIndex &host_;
  ExtractionResult &extraction_;
  HostCode code_;
  UnitFlow flows_;
  LaunchReader reader_;
  Constants constants_;
  std::vector<FoundKernel> kernels_;
  /// Kernels of other files that this file launches. Only their declarations are known.
  std::list<std::pair<const FunctionDecl *, FoundKernel>> declared_;
  std::set<std::tuple<std::string, unsigned, unsigned, std::string, std::string>> seen_;
  std::set<std::string> inTemplates_, read_; ///< places of launches
};

} // namespace

std::vector<FoundKernel> findKernels(const SourceIndex &host, ExtractionResult &extraction) {
  return KernelFinder(host, extraction).run();
}

void addSliceConstants(const SourceIndex &index, const std::vector<SliceChunk> &chunks,
                       KernelSpec &kernel) {
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> ends; // of chunks, which are apart
  for (const SliceChunk &chunk : chunks)
    ends.emplace(std::pair(chunk.source.file, chunk.source.begin), chunk.source.end);
  const auto inSlice = [&ends](const SourceRange &range) {
    const auto after = ends.upper_bound({range.file, range.begin});
    return after != ends.begin() && std::prev(after)->first.first == range.file &&
           range.end <= std::prev(after)->second;
  };
  Constants constants(index);
  for (const Piece &piece : index.pieces())
    if (piece.kind == PieceKind::Macro && inSlice({piece.file, piece.begin, piece.end}))
      if (std::optional<NamedConstant> constant = constants.find(piece))
        noteConstant(kernel, *constant, /*byLaunch=*/false);
  // Include those inside functions and types: a tile size is often a local constant of the kernel.
  class Variables : public clang::RecursiveASTVisitor<Variables> {
  public:
    bool VisitValueDecl(clang::ValueDecl *declaration) {
      if (llvm::isa<clang::VarDecl, clang::EnumConstantDecl>(declaration))
        found.push_back(declaration);
      return true;
    }
    std::vector<const clang::ValueDecl *> found;
  } variables;
  for (const Piece &piece : index.pieces())
    if (piece.kind == PieceKind::Declaration && inSlice({piece.file, piece.begin, piece.end}))
      for (const clang::Decl *declaration : piece.decls)
        variables.TraverseDecl(const_cast<clang::Decl *>(declaration));
  for (const clang::ValueDecl *declaration : variables.found)
    if (std::optional<NamedConstant> constant = constants.find(declaration);
        constant && inSlice(constant->valueRange))
      noteConstant(kernel, *constant, /*byLaunch=*/false);
}

} // namespace kopt::frontend
