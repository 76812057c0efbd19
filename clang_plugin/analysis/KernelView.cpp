// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/KernelView.h"

#include <clang/AST/Attr.h>
#include <clang/Frontend/ASTUnit.h>
#include <clang/Lex/Lexer.h>

namespace kopt::frontend {

using namespace clang;

namespace {

void collectStatements(const Stmt *statement, const Stmt *parent, BodyView &view) {
  if (!statement || !view.parents.try_emplace(statement, parent).second)
    return;
  view.statements.push_back(statement);
  if (const auto *pseudo = dyn_cast<PseudoObjectExpr>(statement))
    return collectStatements(pseudo->getSyntacticForm(), statement, view);
  if (const auto *opaque = dyn_cast<OpaqueValueExpr>(statement))
    return collectStatements(opaque->getSourceExpr(), statement, view);
  for (const Stmt *child : statement->children())
    collectStatements(child, statement, view);
}

/// The name without anonymous namespaces and blanks, which have several spellings.
std::string normalizedName(llvm::StringRef name) {
  std::string result;
  while (!name.empty()) {
    if (name.consume_front("(anonymous namespace)::"))
      continue;
    if (!isspace(static_cast<unsigned char>(name.front())))
      result += name.front();
    name = name.drop_front();
  }
  return llvm::StringRef(result).starts_with("::") ? result.substr(2) : result;
}

std::string specializationName(const FunctionDecl &function, const std::string &kernelName) {
  const TemplateArgumentList *arguments = function.getTemplateSpecializationArgs();
  if (!arguments)
    return normalizedName(kernelName);
  PrintingPolicy policy(function.getASTContext().getLangOpts());
  policy.SuppressTagKeyword = true;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << kernelName << "<";
  bool first = true;
  const auto print = [&](const TemplateArgument &argument) {
    out << (first ? "" : ", ");
    argument.print(policy, out, /*IncludeType=*/false);
    first = false;
  };
  for (const TemplateArgument &argument : arguments->asArray()) {
    if (argument.getKind() == TemplateArgument::Pack)
      for (const TemplateArgument &element : argument.pack_elements())
        print(element);
    else
      print(argument);
  }
  out << ">";
  return normalizedName(text);
}

/// Collects kernels among the declarations of this file, including those inside namespaces and
/// linkage specifications. Declarations in a precompiled header are skipped and not loaded.
void collectKernels(const DeclContext &context, const SourceManager &sources,
                    const std::string &name, std::vector<const FunctionDecl *> &found) {
  for (const Decl *decl : context.noload_decls()) {
    if (!sources.isInMainFile(sources.getExpansionLoc(decl->getLocation())))
      continue;
    if (const auto *inner = dyn_cast<DeclContext>(decl);
        inner &&
        (isa<NamespaceDecl>(decl) || isa<LinkageSpecDecl>(decl) || isa<CXXRecordDecl>(decl)))
      collectKernels(*inner, sources, name, found);
    const auto consider = [&](const FunctionDecl *function) {
      const FunctionDecl *definition = function->getDefinition();
      if (definition && definition->hasAttr<CUDAGlobalAttr>() && definition->hasBody() &&
          normalizedName(function->getQualifiedNameAsString()) == name &&
          !llvm::is_contained(found, definition))
        found.push_back(definition);
    };
    if (const auto *function = dyn_cast<FunctionDecl>(decl))
      consider(function);
    if (const auto *pattern = dyn_cast<FunctionTemplateDecl>(decl))
      for (const FunctionDecl *specialization : pattern->specializations())
        consider(specialization);
  }
}

llvm::Error notFound(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

/// The destructor that runs when a local goes out of scope; null if there is none.
const CXXDestructorDecl *destructorOf(const Decl *declared) {
  const auto *variable = dyn_cast<VarDecl>(declared);
  const CXXRecordDecl *type = variable ? variable->getType()
                                             .getNonReferenceType()
                                             ->getBaseElementTypeUnsafe()
                                             ->getAsCXXRecordDecl()
                                       : nullptr;
  return type && type->hasDefinition() ? type->getDestructor() : nullptr;
}

/// True if it compares parameters and constants, and changes nothing.
bool onlyCompares(const Expr *expression) {
  expression = expression->IgnoreParenImpCasts();
  const auto *binary = dyn_cast<BinaryOperator>(expression);
  if (binary)
    return !binary->isAssignmentOp() && onlyCompares(binary->getLHS()) &&
           onlyCompares(binary->getRHS());
  if (const auto *unary = dyn_cast<UnaryOperator>(expression))
    return !unary->isIncrementDecrementOp() && unary->getOpcode() != UO_Deref &&
           onlyCompares(unary->getSubExpr());
  if (const auto *member = dyn_cast<MemberExpr>(expression))
    return !member->isArrow() && onlyCompares(member->getBase());
  if (const auto *call = dyn_cast<CallExpr>(expression)) { // signbit(x)
    const FunctionDecl *callee = call->getDirectCallee();
    return callee && callee->getIdentifier() && callee->getName().contains("signbit") &&
           llvm::all_of(call->arguments(), onlyCompares);
  }
  return isa<DeclRefExpr, IntegerLiteral, FloatingLiteral, CXXBoolLiteralExpr>(expression);
}

/// The one function that the branches of a statement call, with parameters and constants, and that
/// is all they do; null for others.
const FunctionDecl *onlyCallee(const Stmt *statement) {
  if (const auto *block = dyn_cast<CompoundStmt>(statement))
    return block->size() == 1 ? onlyCallee(block->body_front()) : nullptr;
  if (const auto *choice = dyn_cast<IfStmt>(statement)) {
    const FunctionDecl *then = onlyCallee(choice->getThen());
    const bool isPlain =
        !choice->getInit() && !choice->getConditionVariable() && onlyCompares(choice->getCond());
    return isPlain && choice->getElse() && then == onlyCallee(choice->getElse()) ? then : nullptr;
  }
  const auto *call = dyn_cast<CallExpr>(statement);
  const bool isPlain = call && llvm::all_of(call->arguments(), [&](const Expr *argument) {
                         const Expr *value = argument->IgnoreParenImpCasts();
                         const auto *sign = dyn_cast<UnaryOperator>(value);
                         value = sign && sign->getOpcode() == UO_Minus ? sign->getSubExpr() : value;
                         const auto *reference = dyn_cast<DeclRefExpr>(value);
                         return isa<IntegerLiteral, FloatingLiteral, CXXBoolLiteralExpr>(value) ||
                                (reference && isa<ParmVarDecl>(reference->getDecl()));
                       });
  const FunctionDecl *callee = isPlain ? call->getDirectCallee() : nullptr;
  return callee ? callee->getDefinition() : nullptr;
}

} // namespace

bool BodyView::isWithin(const Stmt *inner, const Stmt *outer) const {
  while (inner && inner != outer)
    inner = parents.lookup(inner);
  return inner != nullptr;
}

llvm::DenseSet<const VarDecl *> BodyView::changingVariables() const {
  llvm::DenseSet<const VarDecl *> changing;
  for (const Stmt *statement : statements) {
    const auto *reference = dyn_cast<DeclRefExpr>(statement);
    const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    const auto *use = variable ? dyn_cast_or_null<ImplicitCastExpr>(parentOf(reference)) : nullptr;
    if (variable && (!use || use->getCastKind() != CK_LValueToRValue))
      changing.insert(variable);
  }
  return changing;
}

const Stmt *BodyView::parentOf(const Stmt *statement) const {
  const Stmt *parent = parents.lookup(statement);
  while (parent && isa<ParenExpr>(parent))
    parent = parents.lookup(parent);
  return parent;
}

BodyView viewBody(const FunctionDecl *definition) {
  BodyView view;
  view.function = definition;
  if (const auto *constructor = dyn_cast<CXXConstructorDecl>(definition))
    for (const CXXCtorInitializer *initializer : constructor->inits())
      collectStatements(initializer->getInit(), nullptr, view);
  collectStatements(definition->getBody(), nullptr, view);
  return view;
}

llvm::Expected<KernelView> KernelView::open(ASTUnit &unit, const std::string &kernelName,
                                            const std::string &expression) {
  KernelView view;
  view.context_ = &unit.getASTContext();
  std::vector<const FunctionDecl *> found;
  collectKernels(*view.context_->getTranslationUnitDecl(), view.context_->getSourceManager(),
                 normalizedName(kernelName), found);
  if (found.empty())
    return notFound("the slice defines no kernel '" + kernelName + "'");
  const FunctionDecl *kernel = found.front();
  if (found.size() > 1) {
    std::vector<const FunctionDecl *> matching;
    for (const FunctionDecl *candidate : found)
      if (specializationName(*candidate, kernelName) == normalizedName(expression))
        matching.push_back(candidate);
    if (matching.size() != 1)
      return notFound("the slice has " + llvm::Twine(found.size()) + " kernels named '" +
                      kernelName + "' and " + llvm::Twine(matching.size()) + " of them are '" +
                      expression + "'");
    kernel = matching.front();
  }

  view.bodies_.push_back(viewBody(kernel));
  llvm::DenseSet<const FunctionDecl *> seen = {kernel};
  // The list grows during the loop, because the functions that callees call are callees too.
  for (std::size_t i = 0; i < view.bodies_.size(); ++i) {
    std::vector<const FunctionDecl *> callees;
    for (const Stmt *statement : view.bodies_[i].statements) {
      const Decl *referenced = nullptr;
      if (const auto *reference = dyn_cast<DeclRefExpr>(statement))
        referenced = reference->getDecl();
      else if (const auto *member = dyn_cast<MemberExpr>(statement))
        referenced = member->getMemberDecl();
      else if (const auto *construct = dyn_cast<CXXConstructExpr>(statement))
        referenced = construct->getConstructor();
      else if (const auto *temporary = dyn_cast<CXXBindTemporaryExpr>(statement))
        referenced = temporary->getTemporary()->getDestructor();
      else if (const auto *declarations = dyn_cast<DeclStmt>(statement))
        for (const Decl *declared : declarations->decls())
          if (const CXXDestructorDecl *destructor = destructorOf(declared);
              destructor && destructor->getDefinition())
            callees.push_back(destructor->getDefinition());
      if (const auto *function = dyn_cast_or_null<FunctionDecl>(referenced))
        if (const FunctionDecl *definition = function->getDefinition())
          callees.push_back(definition);
    }
    for (const FunctionDecl *callee : callees) {
      const auto *method = dyn_cast<CXXMethodDecl>(callee);
      // Already part of the enclosing body.
      const bool lambdaBody = method && method->getParent()->isLambda();
      if (callee->hasBody() && !lambdaBody && view.isInText(callee->getLocation()) &&
          seen.insert(callee).second)
        view.bodies_.push_back(viewBody(callee));
    }
  }
  return view;
}

const BodyView &KernelView::work() const {
  const FunctionDecl *callee = onlyCallee(kernel().getBody());
  const auto found =
      llvm::find_if(bodies_, [&](const BodyView &body) { return body.function == callee; });
  return found == bodies_.end() ? bodies_.front() : *found;
}

const FunctionDecl &KernelView::pattern() const {
  const FunctionDecl *pattern = kernel().getTemplateInstantiationPattern();
  return pattern ? *pattern : kernel();
}

std::optional<unsigned> KernelView::offset(SourceLocation location) const {
  const SourceManager &sources = context_->getSourceManager();
  if (location.isInvalid() || location.isMacroID() || !sources.isInMainFile(location))
    return std::nullopt;
  return sources.getFileOffset(location);
}

std::optional<unsigned> KernelView::endOffset(SourceLocation location) const {
  if (!offset(location))
    return std::nullopt;
  return offset(Lexer::getLocForEndOfToken(location, 0, context_->getSourceManager(),
                                           context_->getLangOpts()));
}

llvm::StringRef KernelView::text() const {
  const SourceManager &sources = context_->getSourceManager();
  return sources.getBufferData(sources.getMainFileID());
}

llvm::StringRef KernelView::text(SourceRange range) const {
  const auto begin = offset(range.getBegin());
  const auto end = endOffset(range.getEnd());
  return begin && end && *begin <= *end ? text().slice(*begin, *end) : llvm::StringRef();
}

std::string KernelView::indentation(unsigned offset) const {
  const llvm::StringRef before = text().take_front(offset);
  const llvm::StringRef line =
      text().drop_front(before.rfind('\n') + 1); // npos + 1 is 0: the first line
  return line.take_while([](char c) { return c == ' ' || c == '\t'; }).str();
}

bool KernelView::isInText(SourceLocation location) const {
  const SourceManager &sources = context_->getSourceManager();
  return location.isValid() && sources.isInMainFile(sources.getExpansionLoc(location));
}

std::optional<long long> KernelView::constant(const Expr *expression) const {
  Expr::EvalResult result;
  if (!expression || expression->isValueDependent() ||
      !expression->getType()->isIntegralOrEnumerationType() ||
      !expression->EvaluateAsInt(result, *context_))
    return std::nullopt;
  const llvm::APSInt value = result.Val.getInt();
  if (!value.isRepresentableByInt64())
    return std::nullopt;
  return value.getExtValue();
}

std::optional<Coordinate> coordinate(const Expr *expression) {
  expression = expression ? expression->IgnoreParenCasts() : nullptr;
  if (const auto *pseudo = dyn_cast_or_null<PseudoObjectExpr>(expression))
    expression = pseudo->getSyntacticForm()->IgnoreParenCasts();
  const Expr *base = nullptr;
  llvm::StringRef name;
  if (const auto *property = dyn_cast_or_null<MSPropertyRefExpr>(expression)) {
    base = property->getBaseExpr();
    name = property->getPropertyDecl()->getName();
  } else if (const auto *member = dyn_cast_or_null<MemberExpr>(expression)) {
    if (!member->getMemberDecl()->getIdentifier())
      return std::nullopt;
    base = member->getBase();
    name = member->getMemberDecl()->getName();
  } else {
    return std::nullopt;
  }
  // The base of a property is wrapped, because its getter uses it too.
  if (const auto *opaque = dyn_cast<OpaqueValueExpr>(base->IgnoreParenCasts()))
    base = opaque->getSourceExpr();
  const auto *variable = dyn_cast<DeclRefExpr>(base->IgnoreParenCasts());
  const IdentifierInfo *identifier = variable ? variable->getDecl()->getIdentifier() : nullptr;
  if (!identifier || name.size() != 1 || name[0] < 'x' || name[0] > 'z')
    return std::nullopt;
  for (llvm::StringRef known : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
    if (identifier->getName() == known &&
        variable->getDecl()->getDeclContext()->getRedeclContext()->isFileContext())
      return Coordinate{known.str(), static_cast<unsigned>(name[0] - 'x')};
  return std::nullopt;
}

llvm::Expected<OpenSlice> openSlice(const KernelSource &source) {
  ParsedUnit unit = parseSlice(source, source.slice);
  if (const Diagnostic *problem = unit.problem())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the slice does not parse: " + problem->file + ":" +
                                       llvm::Twine(problem->line) + ": " + problem->message);
  auto view = KernelView::open(*unit.ast, source.kernel, source.expression);
  if (!view)
    return view.takeError();
  return OpenSlice{std::move(unit), std::move(*view)};
}

} // namespace kopt::frontend
