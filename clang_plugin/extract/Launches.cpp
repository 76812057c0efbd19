// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/Launches.h"

#include "clang_plugin/analysis/Types.h"
#include "clang_plugin/extract/Pointers.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>
#include <set>
#include <vector>

namespace kopt::frontend {
namespace {

using clang::Expr;
using Form = LaunchCall::Form;

/// The parts of a launch, for every way to launch.
struct Parts {
  const Expr *kernel = nullptr;
  std::string kernelField;
  std::optional<ConfigPart> grid, block, shared;
  std::vector<ConfigPart> gridAxes, blockAxes; ///< if each axis is an argument
  std::vector<const Expr *> args;
  bool editable = false; ///< grid and block are written in the launch itself
};

/// The variables in `void *args[] = {&a, &b}`.
std::vector<const Expr *> addressed(const Expr *expression) {
  const auto *reference = llvm::dyn_cast_or_null<clang::DeclRefExpr>(strip(expression));
  const auto *array = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  const auto *list = array && array->getInit()
                         ? llvm::dyn_cast<clang::InitListExpr>(strip(array->getInit()))
                         : nullptr;
  std::vector<const Expr *> values;
  for (const Expr *item : list ? list->inits() : llvm::ArrayRef<Expr *>()) {
    const auto *address = llvm::dyn_cast<clang::UnaryOperator>(strip(item));
    if (!address || address->getOpcode() != clang::UO_AddrOf)
      return {};
    values.push_back(address->getSubExpr());
  }
  return values;
}

std::optional<ConfigPart> given(const Expr *expression) {
  if (llvm::isa<clang::CXXDefaultArgExpr>(expression))
    return std::nullopt;
  return ConfigPart{expression, {}};
}

Parts partsOf(const LaunchCall &site) {
  Parts parts;
  const clang::CallExpr *call = site.call;
  switch (site.form) {
  case Form::Chevrons: {
    parts.kernel = call->getCallee();
    parts.args = {call->arg_begin(), call->arg_end()};
    parts.editable = true;
    const clang::CallExpr *config = llvm::cast<clang::CUDAKernelCallExpr>(call)->getConfig();
    unsigned count = config ? config->getNumArgs() : 0;
    if (count > 0)
      parts.grid = given(config->getArg(0));
    if (count > 1)
      parts.block = given(config->getArg(1));
    if (count > 2)
      parts.shared = given(config->getArg(2));
    break;
  }
  case Form::Runtime:
    parts.kernel = call->getArg(0);
    parts.grid = given(call->getArg(1));
    parts.block = given(call->getArg(2));
    parts.editable = true;
    if (call->getNumArgs() > 3)
      parts.args = addressed(call->getArg(3));
    if (call->getNumArgs() > 4)
      parts.shared = given(call->getArg(4));
    break;
  case Form::RuntimeConfig: {
    const Expr *config = call->getArg(0);
    parts.kernel = call->getArg(1);
    parts.grid = ConfigPart{config, {"gridDim"}};
    parts.block = ConfigPart{config, {"blockDim"}};
    parts.shared = ConfigPart{config, {"dynamicSmemBytes"}};
    const clang::FunctionDecl *callee = call->getDirectCallee();
    if (callee->getName() == "cudaLaunchKernelEx")
      parts.args = {call->arg_begin() + 2, call->arg_end()};
    else if (call->getNumArgs() > 2)
      parts.args = addressed(call->getArg(2));
    break;
  }
  case Form::Driver:
    parts.kernel = call->getArg(0);
    for (unsigned i = 1; i < 4; ++i) {
      parts.gridAxes.push_back({call->getArg(i), {}});
      parts.blockAxes.push_back({call->getArg(i + 3), {}});
    }
    parts.shared = given(call->getArg(7));
    if (call->getNumArgs() > 9)
      parts.args = addressed(call->getArg(9));
    break;
  case Form::GraphNode: {
    const Expr *node = call->getArg(4);
    parts.kernel = node;
    parts.kernelField = "func";
    parts.grid = ConfigPart{node, {"gridDim"}};
    parts.block = ConfigPart{node, {"blockDim"}};
    parts.shared = ConfigPart{node, {"sharedMemBytes"}};
    break;
  }
  }
  return parts;
}

/// The range as the user wrote it, also within an argument of a macro. Invalid if it comes from a
/// macro's definition.
clang::CharSourceRange writtenRange(const SourceIndex &index, clang::SourceRange range) {
  return clang::Lexer::makeFileCharRange(clang::CharSourceRange::getTokenRange(range),
                                         index.sources(), index.unit().getLangOpts());
}

/// The text there; empty if it comes from a macro's definition.
std::string writtenText(const SourceIndex &index, clang::SourceRange range) {
  return clang::Lexer::getSourceText(writtenRange(index, range), index.sources(),
                                     index.unit().getLangOpts())
      .str();
}

std::string spelling(const SourceIndex &index, const Expr *expression) {
  std::string text = writtenText(index, expression->getSourceRange());
  if (text.empty()) {
    llvm::raw_string_ostream stream(text);
    clang::PrintingPolicy policy(index.unit().getLangOpts());
    expression->IgnoreImplicit()->printPretty(stream, nullptr, policy);
  }
  return text;
}

/// Arguments as spelled. The elements of an expanded pack all have the name of the pack, so none is
/// given for them.
std::vector<std::string> spelledArguments(const SourceIndex &index,
                                          const std::vector<const Expr *> &arguments) {
  std::map<std::string, std::set<const clang::ValueDecl *>> meanings;
  auto declarationOf = [](const Expr *argument) -> const clang::ValueDecl * {
    argument = strip(argument);
    while (const auto *call = llvm::dyn_cast<clang::CallExpr>(argument)) { // std::forward
      if (call->getNumArgs() != 1 || !call->getDirectCallee() ||
          !call->getDirectCallee()->isInStdNamespace())
        break;
      argument = strip(call->getArg(0));
    }
    const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(argument);
    return reference ? reference->getDecl() : nullptr;
  };
  for (const Expr *argument : arguments)
    if (const clang::ValueDecl *declaration = declarationOf(argument))
      meanings[declaration->getNameAsString()].insert(declaration);
  std::vector<std::string> spelled;
  for (const Expr *argument : arguments) {
    const clang::ValueDecl *declaration = declarationOf(argument);
    bool isTold = !declaration || meanings[declaration->getNameAsString()].size() == 1;
    spelled.push_back(isTold ? spelling(index, argument) : "");
  }
  return spelled;
}

/// The conditions under which the launch is reached, as far as they can be told.
std::vector<std::string> guardsOf(HostCode &code, UnitFlow &flows,
                                  const GeometryReader::Site &site) {
  std::vector<std::string> texts;
  const FunctionFlow *flow = flows.of(site.function);
  for (const Guard &guard : flow ? flow->guardsOf(site.launch) : std::vector<Guard>()) {
    GeometryReader reader(code, flows, site, [](const NamedConstant &) { return false; });
    const auto text = reader.scalarBefore(guard.condition, guard.condition);
    if (text && !reader.variables().empty())
      texts.push_back(guard.holds ? *text : "(!" + *text + ")");
  }
  return texts;
}

/// The variable that an expression names, through casts.
const clang::ValueDecl *variableOf(const Expr *expression) {
  const auto *reference =
      llvm::dyn_cast_or_null<clang::DeclRefExpr>(expression->IgnoreParenCasts());
  return reference ? reference->getDecl() : nullptr;
}

class Finder : public clang::RecursiveASTVisitor<Finder> {
public:
  explicit Finder(const clang::ValueDecl *pointer) : pointer_(pointer) {}

  bool VisitCallExpr(clang::CallExpr *call) {
    static const std::set<llvm::StringRef> kAllocating = {
        "cudaMalloc", "cudaMallocManaged", "cudaMallocAsync", "cudaMallocHost", "cudaHostAlloc"};
    const clang::FunctionDecl *callee = call->getDirectCallee();
    if (!callee || !callee->getIdentifier() || !kAllocating.contains(callee->getName()) ||
        call->getNumArgs() < 2)
      return true;
    const auto *address = llvm::dyn_cast<clang::UnaryOperator>(call->getArg(0)->IgnoreParenCasts());
    if (address && address->getOpcode() == clang::UO_AddrOf &&
        variableOf(address->getSubExpr()) == pointer_)
      calls.push_back(call);
    return true;
  }

  std::vector<const clang::CallExpr *> calls;

private:
  const clang::ValueDecl *pointer_;
};

/// The bytes that `function` allocates, with cudaMalloc() or a call like it, for the pointer
/// variable that `argument` names: an expression as `numbers` reads them. Empty if there is not
/// exactly one such call, or if its size cannot be read at the launch of `numbers`.
std::string allocatedBytes(const Expr *argument, const clang::FunctionDecl *function,
                           GeometryReader &numbers) {
  const clang::ValueDecl *pointer = variableOf(argument);
  if (!pointer || !function || !function->hasBody())
    return "";
  Finder finder(pointer);
  finder.TraverseStmt(function->getBody());
  return finder.calls.size() == 1
             ? numbers.scalarBefore(finder.calls[0]->getArg(1), finder.calls[0]).value_or("")
             : "";
}

/// Reads what the launching function tells of each argument: where it points to, and its value.
void readArguments(HostCode &code, UnitFlow &flows, const GeometryReader::Site &place,
                   const std::vector<const Expr *> &args, LaunchSite &launch) {
  const clang::ASTContext &context = code.index().unit().getASTContext();
  GeometryReader numbers(code, flows, place, [](const NamedConstant &) { return false; });
  PointerReader pointers(flows, context, numbers, place.function, place.launch);
  for (const Expr *argument : args) {
    launch.pointers.push_back(pointers.read(argument));
    if (PointerOrigin &origin = launch.pointers.back(); origin.offset == "0")
      origin.bytes = allocatedBytes(argument, place.function, numbers);
  }
  const auto valueOf = [&](const Expr *argument) -> std::string {
    if (!argument->getType()->isIntegralOrEnumerationType())
      return "";
    GeometryReader::Site alone = place;
    // "rows" is "points.size()" where that is how many elements an allocation has.
    alone.passed.insert(numbers.variables().begin(), numbers.variables().end());
    if (std::optional<Place> variable = placeOf(argument, context))
      alone.passed.erase(variable->text());
    GeometryReader values(code, flows, std::move(alone),
                          [](const NamedConstant &) { return false; });
    return values.scalar({argument, {}}).value_or("");
  };
  for (const Expr *argument : args)
    launch.values.push_back(valueOf(argument));
}

/// The variable that is the whole argument, also where it is converted to a dim3; null if there is
/// none, or if a lambda captured it.
const clang::VarDecl *variableIn(const Expr *argument) {
  argument = strip(argument);
  while (const auto *converted = llvm::dyn_cast<clang::CXXConstructExpr>(argument)) {
    if (converted->getNumArgs() == 0 ||
        !std::all_of(converted->arg_begin() + 1, converted->arg_end(),
                     [](const Expr *other) { return llvm::isa<clang::CXXDefaultArgExpr>(other); }))
      return nullptr;
    argument = strip(converted->getArg(0));
  }
  const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(argument);
  return reference && !reference->refersToEnclosingVariableOrCapture()
             ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl())
             : nullptr;
}

/// The variables that the function refers to.
class VariableFinder : public clang::RecursiveASTVisitor<VariableFinder> {
public:
  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    if (llvm::isa<clang::VarDecl, clang::BindingDecl>(reference->getDecl()))
      found.emplace(reference->getDecl(), reference);
    return true;
  }

  std::map<const clang::ValueDecl *, const Expr *> found; ///< with one of the references
};

/// The variables that the function can name in the initializer of one of its own, and whose values
/// stay the same from there to the launch, of those that the launch's texts name.
std::vector<std::string> settledFrom(const clang::VarDecl &own, const FunctionFlow &flow,
                                     UnitFlow &flows, const clang::CallExpr *call,
                                     const LaunchSite &launch) {
  const clang::ASTContext &context = own.getASTContext();
  std::string texts = launch.sharedBytes;
  for (const auto &text : {launch.grid, launch.block})
    texts += " " + text[0] + " " + text[1] + " " + text[2];
  for (const std::string &text : launch.args)
    texts += " " + text;
  VariableFinder finder;
  finder.TraverseStmt(flow.function().getBody());
  std::set<std::string> names;
  for (const auto &[variable, reference] : finder.found) {
    const std::optional<Place> place = placeOf(reference, context);
    if (place && texts.find(variable->getNameAsString()) != texts.npos &&
        context.getSourceManager().isBeforeInTranslationUnit(variable->getLocation(),
                                                             own.getLocation()) &&
        flow.isVisible(variable, own.getInit()) && flow.isVisible(variable, call) &&
        (variable->getType().isConstQualified() ||
         flows.isStable(flow, *place, own.getInit(), call)))
      names.insert(variable->getNameAsString());
  }
  return {names.begin(), names.end()};
}

/// Reads the grid, the block and the dynamic shared memory.
void readGeometry(GeometryReader &reader, const Parts &parts, LaunchSite &launch) {
  auto because = [&](const char *what) {
    if (!launch.reason)
      launch.reason = std::string("the ") + what + " depends on " +
                      (reader.reason().empty() ? "what cannot be read" : reader.reason());
  };
  auto extent = [&](const std::optional<ConfigPart> &whole, const std::vector<ConfigPart> &axes,
                    const char *what) -> Extent {
    std::optional<Extent> value;
    if (whole) {
      value = reader.extent(*whole);
    } else if (axes.size() == 3) {
      value.emplace();
      for (std::size_t i = 0; value && i < 3; ++i)
        if (std::optional<std::string> axis = reader.scalar(axes[i]))
          (*value)[i] = *axis;
        else
          value.reset();
    }
    if (!value)
      because(what);
    return value.value_or(Extent());
  };
  launch.grid = extent(parts.grid, parts.gridAxes, "grid");
  launch.block = extent(parts.block, parts.blockAxes, "block");
  launch.sharedBytes = "0";
  if (parts.shared) {
    std::optional<std::string> bytes = reader.scalar(*parts.shared);
    if (!bytes)
      because("shared memory");
    launch.sharedBytes = bytes.value_or("");
  }
  if (!launch.reason)
    launch.geometry = reader.variables().empty() ? GeometryKind::Exact : GeometryKind::Symbolic;
  launch.variables.assign(reader.variables().begin(), reader.variables().end());
}

} // namespace

std::optional<SourceRange> LaunchReader::rangeOf(clang::SourceRange written) const {
  // The text of the argument at the launch, even if it is the name of a macro.
  clang::CharSourceRange range = writtenRange(code_.index(), written);
  if (range.isInvalid())
    return std::nullopt;
  const clang::SourceManager &sources = code_.index().sources();
  auto [file, begin] = sources.getDecomposedLoc(range.getBegin());
  auto [endFile, end] = sources.getDecomposedLoc(range.getEnd());
  if (file != endFile || !code_.index().isUser(file))
    return std::nullopt;
  return SourceRange{code_.index().path(file), begin, end};
}

std::optional<LaunchVariable> LaunchReader::launchVariable(const Expr *argument,
                                                           const LaunchCall &site,
                                                           const LaunchSite &launch) const {
  const clang::VarDecl *variable = variableIn(argument);
  const FunctionFlow *flow = flows_.of(site.host);
  if (!variable || !flow || !variable->getInit() || llvm::isa<clang::ParmVarDecl>(variable) ||
      writtenText(code_.index(), argument->getSourceRange()) != variable->getName())
    return std::nullopt;
  const Expr *initial = variable->getInit();
  const bool isOwn = variable->hasLocalStorage();
  // Others may be initialised at another time.
  if (isOwn ? flow->before(Place{variable, {}}, site.call).value != initial
            : !variable->getType().isConstQualified())
    return std::nullopt;
  clang::SourceRange text = initial->getSourceRange(), around;
  if (variable->getInitStyle() != clang::VarDecl::CInit) {
    if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(initial))
      around = list->getSourceRange();
    else if (const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(initial))
      around = made->getParenOrBraceRange();
  }
  std::optional<SourceRange> value = rangeOf(around.isValid() ? around : text);
  if (!value || value->file != launch.file || value->begin >= value->end)
    return std::nullopt;
  if (around.isValid()) {
    ++value->begin;
    --value->end;
  }
  LaunchVariable found{*value, {}};
  // In braces, only constants are converted to another type.
  if (isOwn && variable->getInitStyle() != clang::VarDecl::ListInit)
    found.settled = settledFrom(*variable, *flow, flows_, site.call, launch);
  return found;
}

KernelTargets LaunchReader::kernelsOf(const LaunchCall &site) const {
  Parts parts = partsOf(site);
  return followKernel(code_, flows_, site, parts.kernel, parts.kernelField);
}

std::string LaunchReader::calleeOf(const LaunchCall &site) const {
  return spelling(code_.index(), partsOf(site).kernel);
}

LaunchReader::Reading
LaunchReader::read(const LaunchCall &site, const KernelTarget &target, bool shared,
                   const std::function<bool(const NamedConstant &)> &mayName) const {
  const SourceIndex &index = code_.index();
  Parts parts = partsOf(site);
  Reading reading;
  LaunchSite &launch = reading.launch;
  clang::SourceLocation begin = index.sources().getFileLoc(site.call->getBeginLoc());
  launch.file = index.path(index.sources().getFileID(begin));
  launch.line = index.sources().getSpellingLineNumber(begin);
  launch.column = index.sources().getSpellingColumnNumber(begin);
  launch.symbol = target.kernel ? symbolOf(*target.kernel) : "";
  launch.args = spelledArguments(index, parts.args);
  if (target.reference && strip(parts.kernel) == target.reference)
    for (const clang::TemplateArgumentLoc &argument : target.reference->template_arguments())
      launch.templateArgs.push_back(writtenText(index, argument.getSourceRange()));

  GeometryReader::Site place{site.host, site.call, {}, nullptr};
  for (const Expr *argument : parts.args)
    if (std::optional<Place> variable = placeOf(argument, index.unit().getASTContext()))
      place.passed.insert(variable->text());
  if (!target.callers.empty())
    place.callers = &target.callers;
  readArguments(code_, flows_, place, parts.args, launch);
  launch.guards = guardsOf(code_, flows_, place);
  GeometryReader reader(code_, flows_, std::move(place), mayName);
  readGeometry(reader, parts, launch);
  reading.constants = reader.constants();

  if (parts.editable && !shared) {
    launch.gridRange =
        parts.grid ? rangeOf(parts.grid->expression->getSourceRange()) : std::nullopt;
    launch.blockRange =
        parts.block ? rangeOf(parts.block->expression->getSourceRange()) : std::nullopt;
    launch.sharedRange =
        parts.shared ? rangeOf(parts.shared->expression->getSourceRange()) : std::nullopt;
    // If one macro contains several of them, none can be edited separately.
    if (!launch.gridRange || !launch.blockRange || launch.gridRange == launch.blockRange) {
      launch.gridRange.reset();
      launch.blockRange.reset();
      launch.sharedRange.reset();
    } else {
      launch.gridVariable = launchVariable(parts.grid->expression, site, launch);
      launch.blockVariable = launchVariable(parts.block->expression, site, launch);
    }
  }
  return reading;
}

} // namespace kopt::frontend
