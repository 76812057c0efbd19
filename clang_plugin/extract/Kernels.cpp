// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/Kernels.h"

#include "clang_plugin/attribute/TuneAttribute.h"
#include "clang_plugin/extract/Geometry.h"
#include "clang_plugin/extract/Types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

namespace kopt::frontend {
namespace {

using clang::Expr;
using clang::FunctionDecl;

/// What a launch names, however it is spelled.
struct RawLaunch {
  const Expr *site = nullptr;
  const FunctionDecl *kernel = nullptr;
  const clang::DeclRefExpr *reference =
      nullptr; ///< of the kernel, with its explicit template arguments
  const Expr *grid = nullptr, *block = nullptr, *shared = nullptr;
  std::vector<const Expr *> args;
  const FunctionDecl *host = nullptr; ///< the outermost function around
};

const FunctionDecl *patternOf(const FunctionDecl *function) {
  if (const FunctionDecl *pattern = function->getTemplateInstantiationPattern())
    function = pattern;
  const FunctionDecl *definition = nullptr;
  return function->isDefined(definition) ? definition : nullptr;
}

class Finder : public clang::RecursiveASTVisitor<Finder> {
public:
  explicit Finder(const SourceIndex &index) : index_(index) {}
  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(clang::Decl *declaration) {
    // System headers launch nothing of the user's.
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

  bool VisitFunctionDecl(FunctionDecl *function) {
    if (!function->hasAttr<clang::CUDAGlobalAttr>() || function->isInvalidDecl())
      return true;
    if (const FunctionDecl *pattern = patternOf(function)) {
      if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end())
        patterns.push_back(pattern);
      // Also where no launch is seen: its address may be taken and launched by others.
      clang::TemplateSpecializationKind kind = function->getTemplateSpecializationKind();
      if (kind == clang::TSK_ExplicitInstantiationDefinition ||
          (kind == clang::TSK_ImplicitInstantiation && function->hasBody()))
        instantiations.push_back(function);
    }
    return true;
  }

  bool VisitCUDAKernelCallExpr(clang::CUDAKernelCallExpr *call) {
    RawLaunch launch = begin(call);
    launch.reference = referenceIn(call->getCallee());
    launch.kernel = call->getDirectCallee();
    const clang::CallExpr *config = call->getConfig();
    if (config && config->getNumArgs() > 0)
      launch.grid = config->getArg(0);
    if (config && config->getNumArgs() > 1)
      launch.block = config->getArg(1);
    if (config && config->getNumArgs() > 2)
      launch.shared = config->getArg(2);
    launch.args.assign(call->arg_begin(), call->arg_end());
    if (launch.kernel && launch.kernel->hasAttr<clang::CUDAGlobalAttr>())
      launches.push_back(launch);
    else if (!launch.host || !launch.host->isDependentContext())
      unresolved.push_back(call);
    return true;
  }

  // cudaLaunchKernel(f, grid, block, args, shared, stream) and its cooperative twin; Ex carries all
  // in a struct.
  bool VisitCallExpr(clang::CallExpr *call) {
    const FunctionDecl *callee = call->getDirectCallee();
    if (!callee || call->getNumArgs() < 2)
      return true;
    std::string name = callee->getNameAsString();
    bool plain = name == "cudaLaunchKernel" || name == "cudaLaunchCooperativeKernel";
    if (!plain && name != "cudaLaunchKernelEx")
      return true;
    RawLaunch launch = begin(call);
    launch.reference = referenceIn(call->getArg(plain ? 0 : 1));
    launch.kernel =
        launch.reference ? llvm::dyn_cast<FunctionDecl>(launch.reference->getDecl()) : nullptr;
    if (!launch.kernel || !launch.kernel->hasAttr<clang::CUDAGlobalAttr>()) {
      unresolved.push_back(call);
      return true;
    }
    if (plain && call->getNumArgs() > 3) {
      launch.grid = call->getArg(1);
      launch.block = call->getArg(2);
      launch.args = addressed(call->getArg(3));
      if (call->getNumArgs() > 4)
        launch.shared = call->getArg(4);
    } else if (!plain) {
      launch.args.assign(call->arg_begin() + 2, call->arg_end());
    }
    launches.push_back(launch);
    return true;
  }

  std::vector<const FunctionDecl *> patterns, instantiations;
  std::vector<RawLaunch> launches;
  std::vector<const Expr *> unresolved;

private:
  RawLaunch begin(const Expr *site) const {
    RawLaunch launch;
    launch.site = site;
    launch.host = functions_.empty() ? nullptr : functions_.front();
    return launch;
  }

  static const clang::DeclRefExpr *referenceIn(const Expr *expression) {
    expression = strip(expression);
    if (const auto *address = llvm::dyn_cast_or_null<clang::UnaryOperator>(expression);
        address && address->getOpcode() == clang::UO_AddrOf)
      expression = strip(address->getSubExpr());
    return llvm::dyn_cast_or_null<clang::DeclRefExpr>(expression);
  }

  /// The variables behind `void *args[] = {&a, &b}`.
  static std::vector<const Expr *> addressed(const Expr *expression) {
    std::vector<const Expr *> values;
    const auto *reference = llvm::dyn_cast_or_null<clang::DeclRefExpr>(strip(expression));
    const auto *array = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
    const auto *list = array && array->getInit()
                           ? llvm::dyn_cast<clang::InitListExpr>(strip(array->getInit()))
                           : nullptr;
    if (!list)
      return values;
    for (const Expr *item : list->inits()) {
      const auto *address = llvm::dyn_cast<clang::UnaryOperator>(strip(item));
      if (!address || address->getOpcode() != clang::UO_AddrOf)
        return {};
      values.push_back(address->getSubExpr());
    }
    return values;
  }

  const SourceIndex &index_;
  std::vector<const FunctionDecl *> functions_;
};

std::string spelling(const SourceIndex &index, const Expr *expression) {
  clang::CharSourceRange range = index.sources().getExpansionRange(
      clang::CharSourceRange::getTokenRange(expression->getSourceRange()));
  return clang::Lexer::getSourceText(range, index.sources(), index.unit().getLangOpts()).str();
}

/// Fills in a kernel's constants: one entry a name. A second constant of the same name cannot be
/// told apart by name.
std::optional<std::string> noteConstant(KernelInfo &kernel, const ConstantInfo &constant,
                                        bool byLaunch) {
  for (ConstantInfo &known : kernel.constants) {
    if (known.name != constant.name)
      continue;
    if (known.valueRange != constant.valueRange)
      return std::nullopt;
    (byLaunch ? known.usedByLaunch : known.usedByKernel) = true;
    return known.name;
  }
  kernel.constants.push_back(constant);
  (byLaunch ? kernel.constants.back().usedByLaunch : kernel.constants.back().usedByKernel) = true;
  return constant.name;
}

class LaunchReader {
public:
  LaunchReader(const SourceIndex &index, FoundKernel &kernel)
      : index_(index), kernel_(kernel), constants_(index) {}

  LaunchInfo read(const RawLaunch &raw) {
    LaunchInfo launch;
    clang::PresumedLoc at = index_.sources().getPresumedLoc(
        index_.sources().getExpansionLoc(raw.site->getBeginLoc()), /*UseLineDirectives=*/false);
    clang::FileID file =
        index_.sources().getFileID(index_.sources().getExpansionLoc(raw.site->getBeginLoc()));
    launch.file = index_.path(file);
    launch.line = at.getLine();
    launch.column = at.getColumn();
    launch.symbol = symbolOf(*raw.kernel);
    std::set<const clang::VarDecl *> keep;
    for (const Expr *argument : raw.args) {
      launch.args.push_back(spelling(index_, argument));
      if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(strip(argument)))
        if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl()))
          keep.insert(variable);
    }
    FunctionFacts facts = raw.host ? factsOf(*raw.host) : FunctionFacts();
    GeometryReader reader(index_, facts, keep, [this](const ConstantInfo &constant) {
      return noteConstant(kernel_.info, constant, /*byLaunch=*/true);
    });
    auto grid = raw.grid ? reader.extent(raw.grid) : std::nullopt;
    auto block = raw.block ? reader.extent(raw.block) : std::nullopt;
    bool noShared = !raw.shared || llvm::isa<clang::CXXDefaultArgExpr>(raw.shared);
    auto shared = noShared ? std::optional<std::string>("0") : reader.scalar(raw.shared);
    launch.grid = grid.value_or(std::array<std::string, 3>{});
    launch.block = block.value_or(std::array<std::string, 3>{});
    launch.sharedBytes = shared.value_or("");
    if (grid && block && shared)
      launch.geometry = reader.usesHostVariables() ? "symbolic" : "exact";
    launch.gridRange = raw.grid ? rangeOf(raw.grid) : std::nullopt;
    launch.blockRange = raw.block ? rangeOf(raw.block) : std::nullopt;
    launch.sharedRange = noShared ? std::nullopt : rangeOf(raw.shared);
    return launch;
  }

  /// Where the launch spells template arguments: the value of a constant if one is named, the
  /// argument otherwise.
  void placeTemplateArgs(const RawLaunch &raw, std::vector<TemplateArgInfo> &args) {
    if (!raw.reference || !raw.reference->hasExplicitTemplateArgs())
      return;
    llvm::ArrayRef<clang::TemplateArgumentLoc> spelled = raw.reference->template_arguments();
    for (std::size_t i = 0; i < spelled.size() && i < args.size(); ++i) {
      std::optional<Range> range;
      if (spelled[i].getArgument().getKind() == clang::TemplateArgument::Expression) {
        const Expr *written = spelled[i].getSourceExpression();
        // Inside a host template the argument is that template's own parameter: no text to edit
        // here.
        if (llvm::isa<clang::SubstNonTypeTemplateParmExpr>(written->IgnoreImplicit()))
          continue;
        const Expr *value = strip(written);
        std::optional<ConstantInfo> constant;
        if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(value))
          constant = constants_.find(reference->getDecl());
        else if (llvm::isa<clang::IntegerLiteral>(value))
          constant = constants_.findMacroAt(value->getBeginLoc());
        if (constant && noteConstant(kernel_.info, *constant, /*byLaunch=*/true))
          range = constant->valueRange;
        else
          range = constants_.rangeOf(written->getSourceRange());
      } else {
        range = constants_.rangeOf(spelled[i].getSourceRange());
      }
      if (!args[i].range)
        args[i].range = range;
    }
  }

private:
  std::optional<Range> rangeOf(const Expr *expression) const {
    // The text of the argument in the launch's own line, even if it is a macro's name.
    clang::CharSourceRange range = index_.sources().getExpansionRange(
        clang::CharSourceRange::getTokenRange(expression->getSourceRange()));
    return constants_.rangeOf(range.getAsRange());
  }

  const SourceIndex &index_;
  FoundKernel &kernel_;
  Constants constants_;
};

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

FoundSpecialization &specializationFor(FoundKernel &kernel, const FunctionDecl *function) {
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
  added.info.instantiation = instantiationOf(added.enclosing ? *added.enclosing : *function);
  for (const clang::ParmVarDecl *parameter : function->parameters())
    added.info.params.push_back(describeParam(*parameter));
  return added;
}

} // namespace

std::vector<FoundKernel> findKernels(const SourceIndex &host, std::vector<std::string> &notes) {
  Finder finder(host);
  finder.TraverseDecl(host.unit().getASTContext().getTranslationUnitDecl());
  std::vector<FoundKernel> kernels;
  for (const FunctionDecl *pattern : finder.patterns)
    if (host.isUser(
            host.sources().getFileID(host.sources().getExpansionLoc(pattern->getLocation()))))
      kernels.push_back(describe(host, pattern));
  auto kernelOf = [&kernels](const FunctionDecl *function) -> FoundKernel * {
    const FunctionDecl *pattern = patternOf(function);
    for (FoundKernel &kernel : kernels)
      if (pattern && kernel.pattern == pattern)
        return &kernel;
    return nullptr;
  };

  for (FoundKernel &kernel : kernels)
    if (!kernel.pattern->isTemplated())
      specializationFor(kernel, kernel.pattern);
  for (const FunctionDecl *function : finder.instantiations)
    if (FoundKernel *kernel = kernelOf(function))
      specializationFor(*kernel, function);
  std::set<std::tuple<std::string, unsigned, unsigned, std::string, std::string>> seen;
  for (const RawLaunch &raw : finder.launches) {
    FoundKernel *kernel = kernelOf(raw.kernel);
    // A host template is read where it is instantiated.
    if (!kernel || raw.kernel->isDependentContext() || (raw.host && raw.host->isDependentContext()))
      continue;
    FoundSpecialization &specialization = specializationFor(*kernel, raw.kernel);
    LaunchReader reader(host, *kernel);
    reader.placeTemplateArgs(raw, specialization.info.templateArgs);
    LaunchInfo launch = reader.read(raw);
    if (seen.insert({launch.file, launch.line, launch.column, launch.symbol,
                     launch.grid[0] + launch.block[0]})
            .second)
      kernel->info.launches.push_back(std::move(launch));
  }
  for (const Expr *site : finder.unresolved) {
    clang::SourceLocation at = host.sources().getExpansionLoc(site->getBeginLoc());
    notes.push_back(host.path(host.sources().getFileID(at)) + ":" +
                    std::to_string(host.sources().getSpellingLineNumber(at)) +
                    ": a kernel is launched through a value that cannot be followed; this launch "
                    "is not listed");
  }
  return kernels;
}

void addSliceConstants(const SourceIndex &index, const std::vector<ChunkInfo> &chunks,
                       KernelInfo &kernel) {
  auto inSlice = [&chunks](const Range &range) {
    for (const ChunkInfo &chunk : chunks)
      if (chunk.source.file == range.file && chunk.source.begin <= range.begin &&
          range.end <= chunk.source.end)
        return true;
    return false;
  };
  Constants constants(index);
  for (const Piece &piece : index.pieces())
    if (std::optional<ConstantInfo> constant = constants.find(piece);
        constant && inSlice(constant->valueRange))
      noteConstant(kernel, *constant, /*byLaunch=*/false);
  // Also those inside functions and types: a tile size is as often a local constant of the kernel.
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
    if (std::optional<ConstantInfo> constant = constants.find(declaration);
        constant && inSlice(constant->valueRange))
      noteConstant(kernel, *constant, /*byLaunch=*/false);
}

} // namespace kopt::frontend
