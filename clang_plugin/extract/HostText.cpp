// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/HostText.h"

#include "clang_plugin/analysis/Types.h"
#include "clang_plugin/hostflow/HostCode.h"
#include "clang_plugin/hostflow/Place.h"
#include "clang_plugin/hostflow/Purity.h"
#include "clang_plugin/parse/ParseCuda.h"
#include "clang_plugin/parse/SourceIndex.h"

#include <algorithm>
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>
#include <map>
#include <set>

namespace kopt::frontend {
namespace {

using clang::Expr;
using clang::FunctionDecl;
using clang::SourceLocation;
using clang::Stmt;
using clang::VarDecl;

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
  const FunctionDecl *callee; ///< as written
};

/// One walk over the host code as it is written: what the text is made from.
class Finder : public clang::RecursiveASTVisitor<Finder> {
public:
  Finder(const SourceIndex &index, const std::vector<std::string> &kernels)
      : index_(index), sources_(index.sources()), kernels_(kernels.begin(), kernels.end()) {}

  bool TraverseDecl(clang::Decl *declaration) {
    if (declaration && !llvm::isa<clang::TranslationUnitDecl>(declaration) &&
        declaration->getLocation().isValid() &&
        llvm::isa<clang::TranslationUnitDecl>(declaration->getLexicalDeclContext()) &&
        !index_.isUser(sources_.getFileID(sources_.getExpansionLoc(declaration->getLocation()))))
      return true;
    return RecursiveASTVisitor::TraverseDecl(declaration);
  }

  bool VisitFunctionDecl(FunctionDecl *function) {
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

  bool VisitVarDecl(VarDecl *variable) {
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
    if (const auto *variable = llvm::dyn_cast<VarDecl>(reference->getDecl());
        variable && variable->isLocalVarDeclOrParm())
      references[variable].push_back(spanOf(reference->getSourceRange()));
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
    for (const Stmt *statement : compound->body())
      statements.push_back(statement);
    return true;
  }

  bool VisitCUDAKernelCallExpr(clang::CUDAKernelCallExpr *call) {
    const clang::CallExpr *config = call->getConfig();
    if (!config || !isWantedCallee(call->getCallee()))
      return true;
    launches.push_back(spanOf(call->getSourceRange()));
    const unsigned count = config->getNumArgs();
    const Expr *stream = count > 3 ? config->getArg(3) : nullptr;
    if (stream && (llvm::isa<clang::CXXDefaultArgExpr>(stream) || isZero(stream)))
      stream = nullptr;
    const SourceLocation begin = config->getBeginLoc(), end = config->getRParenLoc();
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
    const auto leaveArguments = [&](std::initializer_list<unsigned> which, const Expr *kernel) {
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
    if (const FunctionDecl *callee = call->getDirectCallee())
      if (const FunctionDecl *written = patternOf(callee))
        calls.push_back({call, written});
    return true;
  }

  bool VisitStmt(Stmt *statement) {
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

  /// The text of the file between two tokens, also where a macro's arguments or its call hold them.
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

  std::vector<const FunctionDecl *> functions;
  std::vector<const VarDecl *> variables; ///< of namespace scope
  std::vector<Span> left;                 ///< out of the text, whatever the variables are
  std::vector<Span> launches;
  std::vector<KnownCall> calls;
  std::vector<const Stmt *> statements; ///< of blocks
  std::set<const VarDecl *> feeding;    ///< locals and parameters that may only feed launches
  std::map<const VarDecl *, std::vector<Span>> references;
  std::map<const FunctionDecl *, std::vector<Span>> mentions; ///< of functions as written
  std::vector<Span> optIns;
  std::set<std::string> largeShared;

private:
  static std::string calleeName(const clang::CallExpr &call) {
    if (const auto *name = llvm::dyn_cast<clang::UnresolvedLookupExpr>(call.getCallee()))
      return name->getName().getAsString();
    const FunctionDecl *callee = call.getDirectCallee();
    return callee && callee->getIdentifier() ? callee->getNameAsString() : "";
  }
  static bool isLaunchConfig(clang::QualType type) {
    const clang::CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
    return record && record->getName().starts_with("cudaLaunchConfig");
  }
  static bool isConfigMember(llvm::StringRef name) {
    return name == "gridDim" || name == "blockDim" || name == "dynamicSmemBytes";
  }
  static bool isZero(const Expr *stream) {
    stream = strip(stream);
    const auto *number = llvm::dyn_cast<clang::IntegerLiteral>(stream);
    return llvm::isa<clang::CXXNullPtrLiteralExpr, clang::GNUNullExpr>(stream) ||
           (number && number->getValue() == 0);
  }

  bool isWanted(const clang::NamedDecl *declaration) const {
    const FunctionDecl *function = declaration ? declaration->getAsFunction() : nullptr;
    if (!function || !function->hasAttr<clang::CUDAGlobalAttr>())
      return false;
    const FunctionDecl *written = patternOf(function);
    return kernels_.contains(writtenName(written ? *written : *function));
  }
  /// The kernels that an expression names.
  void namedIn(const Stmt *statement, std::vector<const clang::NamedDecl *> &named) const {
    if (!statement)
      return;
    if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(statement))
      if (llvm::isa<FunctionDecl>(reference->getDecl()))
        named.push_back(reference->getDecl());
    if (const auto *lookup = llvm::dyn_cast<clang::OverloadExpr>(statement))
      named.insert(named.end(), lookup->decls_begin(), lookup->decls_end());
    for (const Stmt *child : statement->children())
      namedIn(child, named);
  }
  /// One of the request's kernels, or one that is behind a variable.
  bool isWantedCallee(const Expr *callee) const {
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
        const FunctionDecl *written = patternOf(declaration->getAsFunction());
        largeShared.insert(writtenName(written ? *written : *declaration->getAsFunction()));
        isOfWanted = true;
      }
    if (isOfWanted)
      optIns.push_back(spanOf(call.getSourceRange()));
  }

  void noteFunction(const clang::NamedDecl *declaration, clang::SourceRange range) {
    const FunctionDecl *function = declaration ? declaration->getAsFunction() : nullptr;
    if (const FunctionDecl *written = function ? patternOf(function) : nullptr)
      mentions[written].push_back(spanOf(range));
  }

  void leave(const Expr *expression) {
    if (!llvm::isa<clang::CXXDefaultArgExpr>(expression))
      left.push_back(spanOf(expression->getSourceRange()));
  }
  void leave(SourceLocation begin, SourceLocation end) {
    if (begin.isValid() && end.isValid())
      left.push_back(spanOf({begin, end}));
  }

  const SourceIndex &index_;
  const clang::SourceManager &sources_;
  const std::set<std::string> kernels_;
};

/// Which text is left out: the greatest set of variables all of whose uses are left out, too.
class LaunchOnly {
public:
  LaunchOnly(const SourceIndex &index, const Finder &found)
      : sources_(index.sources()), found_(found), purity_(index), feeding_(found.feeding) {
    std::erase_if(feeding_, [&](const VarDecl *variable) { return !mayFeed(*variable); });
    do
      leaveOut();
    while (std::erase_if(feeding_,
                         [&](const VarDecl *variable) { return isUsedElsewhere(*variable); }) > 0);
  }

  const std::vector<Span> &left() const { return left_; }

  /// Functions that only compute configurations of launches, such as one that divides and rounds
  /// up.
  std::set<const FunctionDecl *> functions() const {
    std::set<const FunctionDecl *> only;
    std::vector<Span> bodies = left_;
    const auto isWithin = [&](const Span &mention) {
      return std::any_of(bodies.begin(), bodies.end(),
                         [&](const Span &span) { return span.contains(mention); });
    };
    for (std::size_t before = bodies.size() + 1; before != bodies.size();) {
      before = bodies.size();
      for (const FunctionDecl *function : found_.functions) {
        const auto mentions = found_.mentions.find(function);
        if (!only.contains(function) && mentions != found_.mentions.end() &&
            std::all_of(mentions->second.begin(), mentions->second.end(), isWithin) &&
            purity_.isPure(function->getBody(), true)) {
          only.insert(function);
          bodies.push_back(found_.spanOf(function->getSourceRange()));
        }
      }
    }
    return only;
  }

private:
  bool mayFeed(const VarDecl &variable) const {
    const bool isParameter = llvm::isa<clang::ParmVarDecl>(variable);
    // A parameter that nobody uses is no reason to leave out what is passed for it.
    if (isParameter && !found_.references.contains(&variable))
      return false;
    if (variable.getType()->isDependentType() && !isParameter)
      return purity_.isPure(variable.getInit());
    const clang::CXXRecordDecl *record = variable.getType()->getAsCXXRecordDecl();
    return (!record || (record->hasDefinition() && record->hasTrivialDestructor())) &&
           (isParameter || purity_.isPure(variable.getInit()));
  }

  bool isUsedElsewhere(const VarDecl &variable) const {
    const auto uses = found_.references.find(&variable);
    return uses != found_.references.end() &&
           std::any_of(uses->second.begin(), uses->second.end(), [&](const Span &use) {
             return std::none_of(left_.begin(), left_.end(),
                                 [&](const Span &span) { return span.contains(use); });
           });
  }

  bool isLeft(const Stmt *statement) const {
    if (!statement || llvm::isa<clang::NullStmt>(statement))
      return true;
    if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(statement))
      return std::all_of(declarations->decl_begin(), declarations->decl_end(),
                         [&](const clang::Decl *declaration) {
                           const auto *variable = llvm::dyn_cast<VarDecl>(declaration);
                           return variable && feeding_.contains(variable);
                         });
    if (const auto *compound = llvm::dyn_cast<clang::CompoundStmt>(statement);
        compound && !isOptIn(*statement))
      return std::all_of(compound->body_begin(), compound->body_end(),
                         [&](const Stmt *inner) { return isLeft(inner); });
    if (const auto *choice = llvm::dyn_cast<clang::IfStmt>(statement);
        choice && !isOptIn(*statement))
      return !choice->getInit() && !choice->getConditionVariable() &&
             purity_.isPure(choice->getCond()) && isLeft(choice->getThen()) &&
             isLeft(choice->getElse());
    if (const Assignment change = assignmentIn(statement); change.target)
      return feeding_.contains(assignedVariable(change.target)) && purity_.isPure(change.value);
    return isOptIn(*statement);
  }

  /// A call that opts in to large shared memory, alone, as the argument of a call, or in a macro
  /// that looks at its result.
  bool isOptIn(const Stmt &statement) const {
    const Span span = found_.spanOf(statement.getSourceRange());
    const auto holds = [&](const Span &outer) {
      return std::any_of(found_.optIns.begin(), found_.optIns.end(),
                         [&](const Span &call) { return outer.contains(call); });
    };
    if (!holds(span))
      return false;
    if (statement.getBeginLoc().isMacroID())
      return true;
    const auto *expression = llvm::dyn_cast<Expr>(&statement);
    const auto *call =
        llvm::dyn_cast_or_null<clang::CallExpr>(expression ? strip(expression) : nullptr);
    if (!call)
      return false;
    const Span whole = found_.spanOf(call->getSourceRange());
    return std::any_of(found_.optIns.begin(), found_.optIns.end(),
                       [&](const Span &optIn) { return optIn.contains(whole); }) ||
           std::any_of(call->arg_begin(), call->arg_end(), [&](const Expr *argument) {
             return holds(found_.spanOf(argument->getSourceRange()));
           });
  }

  void leaveOut() {
    left_ = found_.left;
    for (const Stmt *statement : found_.statements) {
      if (isLeft(statement))
        left_.push_back(throughSemicolon(found_.spanOf(statement->getSourceRange())));
      else if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(statement))
        leaveSome(*declarations);
    }
    for (const KnownCall &known : found_.calls)
      for (unsigned i = 0; i < known.callee->getNumParams() && i < known.call->getNumArgs(); ++i) {
        const bool isOperator = llvm::isa<clang::CXXOperatorCallExpr>(known.call);
        const Expr *argument = known.call->getArg(i);
        if (!isOperator && feeding_.contains(known.callee->getParamDecl(i)) &&
            !llvm::isa<clang::CXXDefaultArgExpr>(argument) && purity_.isPure(argument))
          left_.push_back(found_.spanOf(argument->getSourceRange()));
      }
    for (const FunctionDecl *function : found_.functions)
      for (const clang::ParmVarDecl *parameter : function->parameters())
        if (feeding_.contains(parameter) && parameter->hasDefaultArg() &&
            !parameter->hasUnparsedDefaultArg() && !parameter->hasUninstantiatedDefaultArg())
          left_.push_back(found_.spanOf(parameter->getDefaultArgRange()));
  }

  /// Some of the variables of one declaration, each with a comma beside it.
  void leaveSome(const clang::DeclStmt &statement) {
    const std::vector<const clang::Decl *> all(statement.decl_begin(), statement.decl_end());
    for (std::size_t i = 0; i < all.size() && all.size() > 1; ++i) {
      const auto *variable = llvm::dyn_cast<VarDecl>(all[i]);
      if (!variable || !feeding_.contains(variable))
        continue;
      Span span = found_.spanOf({variable->getLocation(), variable->getEndLoc()});
      if (i > 0)
        span.begin = found_.spanOf({all[i - 1]->getLocation(), all[i - 1]->getEndLoc()}).end;
      else
        span.end = found_.spanOf({all[1]->getLocation(), all[1]->getLocation()}).begin;
      left_.push_back(span);
    }
  }

  Span throughSemicolon(Span span) const {
    const llvm::StringRef text = sources_.getBufferData(span.file);
    unsigned at = span.end;
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
    if (at < text.size() && text[at] == ';')
      span.end = at + 1;
    return span;
  }

  const clang::SourceManager &sources_;
  const Finder &found_;
  const Purity purity_;
  std::set<const VarDecl *> feeding_;
  std::vector<Span> left_;
};

class Writer {
public:
  Writer(const SourceIndex &index, const Finder &found, const LaunchOnly &only)
      : index_(index), sources_(index.sources()), found_(found), launchOnly_(only.functions()),
        left_(only.left()) {
    std::sort(left_.begin(), left_.end(),
              [](const Span &a, const Span &b) { return a.begin < b.begin; });
  }

  HostText write() const {
    HostText reply;
    for (const FunctionDecl *function : found_.functions) {
      if (launchOnly_.contains(function))
        continue;
      const clang::FunctionTemplateDecl *described = function->getDescribedFunctionTemplate();
      const clang::Decl *whole = described ? static_cast<const clang::Decl *>(described) : function;
      std::string name = writtenName(*function) + "(";
      for (const clang::ParmVarDecl *parameter : function->parameters())
        name += (name.back() == '(' ? "" : ", ") + parameter->getType().getAsString();
      add(HostKind::Function, name + ")", found_.spanOf(whole->getSourceRange()), reply);
    }
    for (const VarDecl *variable : found_.variables)
      add(HostKind::Variable, writtenName(*variable), found_.spanOf(variable->getSourceRange()),
          reply);
    for (const Piece &piece : index_.pieces())
      if (piece.kind == PieceKind::Macro)
        addMacro(piece, reply);
    reply.largeShared.assign(found_.largeShared.begin(), found_.largeShared.end());
    return reply;
  }

private:
  void add(HostKind kind, const std::string &name, const Span &span, HostText &reply) const {
    if (!index_.isUser(span.file))
      return;
    HostItem item{kind, name, index_.path(span.file), span.begin, span.end, 0, false, {}};
    item.line = sources_.getLineNumber(span.file, span.begin);
    item.launches = std::any_of(found_.launches.begin(), found_.launches.end(),
                                [&](const Span &launch) { return span.contains(launch); });
    item.text = statementsOf(span);
    reply.items.push_back(std::move(item));
  }

  void addMacro(const Piece &piece, HostText &reply) const {
    HostItem item{HostKind::Macro, piece.name, piece.file, piece.begin, piece.end, 0, false, {}};
    const std::string text = index_.text(piece);
    clang::Lexer lexer(SourceLocation(), index_.unit().getLangOpts(), text.data(), text.data(),
                       text.data() + text.size());
    HostStatement statement;
    clang::Token token;
    for (lexer.LexFromRawLexer(token); token.isNot(clang::tok::eof); lexer.LexFromRawLexer(token))
      statement.text += spelled(token, statement.text);
    item.text.push_back(std::move(statement));
    for (auto file = sources_.fileinfo_begin(); file != sources_.fileinfo_end(); ++file)
      if (const clang::FileID id = sources_.translateFile(file->first);
          id.isValid() && index_.path(id) == piece.file) {
        item.line = sources_.getLineNumber(id, piece.begin);
        item.text.front().line = item.line;
      }
    reply.items.push_back(std::move(item));
  }

  static std::string textOf(const clang::Token &token) {
    return token.is(clang::tok::raw_identifier) ? token.getRawIdentifier().str()
           : token.isLiteral() ? std::string(token.getLiteralData(), token.getLength())
                               : "";
  }
  static std::string spelled(const clang::Token &token, const std::string &before) {
    std::string text = textOf(token);
    if (text.empty())
      if (const char *spelling = clang::tok::getPunctuatorSpelling(token.getKind()))
        text = spelling;
    return text.empty() || before.empty() ? text : " " + text;
  }

  std::vector<HostStatement> statementsOf(const Span &span) const {
    const llvm::StringRef text = sources_.getBufferData(span.file);
    clang::Lexer lexer(sources_.getLocForStartOfFile(span.file), index_.unit().getLangOpts(),
                       text.begin(), text.begin() + span.begin, text.end());
    std::vector<HostStatement> statements(1);
    clang::Token token;
    for (lexer.LexFromRawLexer(token); token.isNot(clang::tok::eof); lexer.LexFromRawLexer(token)) {
      const unsigned at = sources_.getFileOffset(token.getLocation());
      if (at >= span.end)
        break;
      const Span own{span.file, at, at + token.getLength()};
      if (std::any_of(left_.begin(), left_.end(),
                      [&](const Span &out) { return out.contains(own); }))
        continue;
      HostStatement &statement = statements.back();
      if (statement.text.empty())
        statement.line = sources_.getLineNumber(span.file, at);
      statement.text += spelled(token, statement.text);
      if (token.isOneOf(clang::tok::semi, clang::tok::l_brace, clang::tok::r_brace))
        statements.emplace_back();
    }
    if (statements.back().text.empty())
      statements.pop_back();
    return statements;
  }

  const SourceIndex &index_;
  const clang::SourceManager &sources_;
  const Finder &found_;
  const std::set<const FunctionDecl *> launchOnly_;
  std::vector<Span> left_;
};

} // namespace

llvm::Expected<HostText> readHostText(const HostRequest &request) {
  ParseRequest parse;
  parse.file = request.file;
  parse.nvccFlags = request.flags;
  parse.directory = request.directory;
  parse.pass = Pass::Host;
  parse.skipLibraryBodies = true;
  const ParsedUnit unit = parseCuda(parse);
  if (!unit.ast || unit.hasErrors) {
    for (const Diagnostic &diagnostic : unit.diagnostics)
      if (diagnostic.severity == "error" || diagnostic.severity == "fatal")
        return llvm::createStringError(diagnostic.message);
    return llvm::createStringError("the file does not parse");
  }
  const SourceIndex index(*unit.ast);
  Finder finder(index, request.kernels);
  finder.TraverseDecl(unit.ast->getASTContext().getTranslationUnitDecl());
  const LaunchOnly only(index, finder);
  return Writer(index, finder, only).write();
}

} // namespace kopt::frontend
