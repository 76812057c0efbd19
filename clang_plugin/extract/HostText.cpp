// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/HostText.h"

#include "clang_plugin/analysis/RawTokens.h"
#include "clang_plugin/analysis/Types.h"
#include "clang_plugin/extract/HostFinder.h"
#include "clang_plugin/hostflow/HostCode.h"
#include "clang_plugin/hostflow/HostFlow.h"
#include "clang_plugin/hostflow/Place.h"
#include "clang_plugin/hostflow/Purity.h"
#include "clang_plugin/parse/ParseCuda.h"
#include "clang_plugin/parse/SourceIndex.h"

#include <algorithm>
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <set>

namespace kopt::frontend {
namespace {

using clang::Expr;
using clang::FunctionDecl;
using clang::SourceLocation;
using clang::Stmt;
using clang::VarDecl;

/// True if the expression has the same value wherever it stands in the function: it is made of
/// numbers, and of variables of the function that nobody changes.
bool isSteady(const Stmt *expression, const FunctionFlow &flow) {
  if (llvm::isa<clang::CallExpr, clang::MemberExpr, clang::ArraySubscriptExpr>(expression))
    return false;
  if (const auto *change = llvm::dyn_cast<clang::UnaryOperator>(expression);
      change && change->getOpcode() == clang::UO_Deref)
    return false;
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    const auto *variable = llvm::dyn_cast<VarDecl>(reference->getDecl());
    return variable && variable->isLocalVarDeclOrParm() &&
           !variable->getType()->isReferenceType() && !flow.writes(Place{variable, {}});
  }
  return std::all_of(expression->child_begin(), expression->child_end(),
                     [&](const Stmt *child) { return !child || isSteady(child, flow); });
}

/// Puts steady expressions in the places of the constants that they initialise.
void putInPlace(HostParts &found, const SourceIndex &index) {
  UnitFlow flows;
  for (const VarDecl *variable : found.feeding) {
    const clang::QualType type = variable->getType();
    const auto *function = llvm::dyn_cast<FunctionDecl>(variable->getDeclContext());
    const auto uses = found.references.find(variable);
    if (!variable->isLocalVarDecl() || !type.isConstQualified() || type->isDependentType() ||
        !type->isIntegralOrEnumerationType() || !variable->getInit() || !function ||
        uses == found.references.end())
      continue;
    const FunctionFlow *flow = flows.of(function);
    if (!flow || !isSteady(variable->getInit(), *flow))
      continue;
    const Span text = spanOf(index, variable->getInit()->getSourceRange());
    const llvm::StringRef file = index.sources().getBufferData(text.file);
    for (const Span &use : uses->second)
      found.constants[{use.file, use.begin}] = {normalizedTokens(file.slice(text.begin, text.end)),
                                                true};
    found.references.erase(uses);
  }
}

/// Finds the text to leave out: the largest set of variables such that all uses of them are left
/// out too.
class LaunchOnly {
public:
  LaunchOnly(const SourceIndex &index, const HostParts &found)
      : index_(index), found_(found), purity_(index), feeding_(found.feeding) {
    std::erase_if(feeding_, [&](const VarDecl *variable) { return !mayFeed(*variable); });
    do
      leaveOut();
    while (std::erase_if(feeding_,
                         [&](const VarDecl *variable) { return isUsedElsewhere(*variable); }) > 0);
  }

  const std::vector<Span> &left() const { return left_; }

  /// The functions that only compute launch configurations, such as one that divides and rounds up.
  std::set<const FunctionDecl *> functions() const {
    std::set<const FunctionDecl *> only;
    std::vector<Span> bodies = left_;
    const auto isWithin = [&](const Span &mention) {
      return std::ranges::any_of(bodies, [&](const Span &span) { return span.contains(mention); });
    };
    for (std::size_t before = bodies.size() + 1; before != bodies.size();) {
      before = bodies.size();
      for (const FunctionDecl *function : found_.functions) {
        const auto mentions = found_.mentions.find(function);
        if (!only.contains(function) && mentions != found_.mentions.end() &&
            std::ranges::all_of(mentions->second, isWithin) &&
            purity_.isPure(function->getBody(), true)) {
          only.insert(function);
          bodies.push_back(spanOf(index_, function->getSourceRange()));
        }
      }
    }
    return only;
  }

private:
  bool mayFeed(const VarDecl &variable) const {
    const bool isParameter = llvm::isa<clang::ParmVarDecl>(variable);
    // Arguments for an unused parameter are not left out.
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
           std::ranges::any_of(uses->second, [&](const Span &use) {
             return std::ranges::none_of(left_,
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

  /// True for a statement that opts in to large shared memory: a call alone, as an argument of a
  /// call, or in a macro that checks its result.
  bool isOptIn(const Stmt &statement) const {
    const Span span = spanOf(index_, statement.getSourceRange());
    const auto holds = [&](const Span &outer) {
      return std::ranges::any_of(found_.optIns,
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
    const Span whole = spanOf(index_, call->getSourceRange());
    return std::ranges::any_of(found_.optIns,
                               [&](const Span &optIn) { return optIn.contains(whole); }) ||
           std::any_of(call->arg_begin(), call->arg_end(), [&](const Expr *argument) {
             return holds(spanOf(index_, argument->getSourceRange()));
           });
  }

  void leaveOut() {
    left_ = found_.left;
    for (const Stmt *statement : found_.statements) {
      if (isLeft(statement))
        left_.push_back(throughSemicolon(spanOf(index_, statement->getSourceRange())));
      else if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(statement))
        leaveSome(*declarations);
    }
    for (const clang::CompoundStmt *block : found_.blocks)
      if (std::none_of(block->body_begin(), block->body_end(), [&](const Stmt *statement) {
            return llvm::isa<clang::DeclStmt>(statement) && !isLeft(statement);
          })) { // its braces limit nothing that stays
        left_.push_back(spanOf(index_, block->getLBracLoc()));
        left_.push_back(spanOf(index_, block->getRBracLoc()));
      }
    for (const KnownCall &known : found_.calls)
      for (unsigned i = 0; i < known.callee->getNumParams() && i < known.call->getNumArgs(); ++i) {
        const bool isOperator = llvm::isa<clang::CXXOperatorCallExpr>(known.call);
        const Expr *argument = known.call->getArg(i);
        if (!isOperator && feeding_.contains(known.callee->getParamDecl(i)) &&
            !llvm::isa<clang::CXXDefaultArgExpr>(argument) && purity_.isPure(argument))
          left_.push_back(spanOf(index_, argument->getSourceRange()));
      }
    for (const FunctionDecl *function : found_.functions)
      for (const clang::ParmVarDecl *parameter : function->parameters())
        if (feeding_.contains(parameter) && parameter->hasDefaultArg() &&
            !parameter->hasUnparsedDefaultArg() && !parameter->hasUninstantiatedDefaultArg())
          left_.push_back(spanOf(index_, parameter->getDefaultArgRange()));
  }

  /// Leaves out some variables of one declaration, each with a neighbouring comma.
  void leaveSome(const clang::DeclStmt &statement) {
    const std::vector<const clang::Decl *> all(statement.decl_begin(), statement.decl_end());
    for (std::size_t i = 0; i < all.size() && all.size() > 1; ++i) {
      const auto *variable = llvm::dyn_cast<VarDecl>(all[i]);
      if (!variable || !feeding_.contains(variable))
        continue;
      Span span = spanOf(index_, {variable->getLocation(), variable->getEndLoc()});
      if (i > 0)
        span.begin = spanOf(index_, {all[i - 1]->getLocation(), all[i - 1]->getEndLoc()}).end;
      else
        span.end = spanOf(index_, {all[1]->getLocation(), all[1]->getLocation()}).begin;
      left_.push_back(span);
    }
  }

  Span throughSemicolon(Span span) const {
    const llvm::StringRef text = index_.sources().getBufferData(span.file);
    unsigned at = span.end;
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
    if (at < text.size() && text[at] == ';')
      span.end = at + 1;
    return span;
  }

  const SourceIndex &index_;
  const HostParts &found_;
  const Purity purity_;
  std::set<const VarDecl *> feeding_;
  std::vector<Span> left_;
};

class Writer {
public:
  Writer(const SourceIndex &index, const HostParts &found, const LaunchOnly &only)
      : index_(index), sources_(index.sources()), found_(found), launchOnly_(only.functions()),
        left_(only.left()) {
    std::ranges::sort(left_, [](const Span &a, const Span &b) { return a.begin < b.begin; });
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
      add(HostKind::Function, name + ")", spanOf(index_, whole->getSourceRange()), reply);
    }
    for (const VarDecl *variable : found_.variables)
      add(HostKind::Variable, writtenName(*variable), spanOf(index_, variable->getSourceRange()),
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
    item.launches = std::ranges::any_of(found_.launches,
                                        [&](const Span &launch) { return span.contains(launch); });
    item.text = statementsOf(span);
    reply.items.push_back(std::move(item));
  }

  void addMacro(const Piece &piece, HostText &reply) const {
    HostItem item{HostKind::Macro, piece.name, piece.file, piece.begin, piece.end, 0, false, {}};
    HostStatement statement;
    statement.text = normalizedTokens(index_.text(piece));
    item.text.push_back(std::move(statement));
    for (auto file = sources_.fileinfo_begin(); file != sources_.fileinfo_end(); ++file)
      if (const clang::FileID id = sources_.translateFile(file->first);
          id.isValid() && index_.path(id) == piece.file) {
        item.line = sources_.getLineNumber(id, piece.begin);
        item.text.front().line = item.line;
      }
    reply.items.push_back(std::move(item));
  }

  std::vector<HostStatement> statementsOf(const Span &span) const {
    const llvm::StringRef text = sources_.getBufferData(span.file);
    std::vector<HostStatement> statements(1);
    for (const RawToken &token : rawTokens(text.slice(span.begin, span.end))) {
      const unsigned at = span.begin + token.begin;
      const Span own{span.file, at, span.begin + token.end};
      if (std::ranges::any_of(left_, [&](const Span &out) { return out.contains(own); }))
        continue;
      HostStatement &statement = statements.back();
      if (statement.text.empty())
        statement.line = sources_.getLineNumber(span.file, at);
      const auto known = found_.constants.find({span.file, at});
      const auto add = [&](std::string &to, bool byValue) {
        if (!byValue) {
          to += (to.empty() ? "" : " ") + token.text;
          return;
        }
        // An argument needs no parentheses.
        const std::string &value = known->second.value;
        const bool isWhole = value.find(' ') == value.npos ||
                             ((to.ends_with("(") || to.ends_with(",")) &&
                              text.drop_front(own.end).ltrim().find_first_of(",)") == 0);
        to += (to.empty() ? "" : " ") + (isWhole ? value : "( " + value + " )");
      };
      const bool isConstant = known != found_.constants.end();
      add(statement.text, isConstant && known->second.isLocal);
      add(statement.values, isConstant);
      if (token.is(clang::tok::semi) || token.is(clang::tok::l_brace) ||
          token.is(clang::tok::r_brace))
        statements.emplace_back();
    }
    if (statements.back().text.empty())
      statements.pop_back();
    for (HostStatement &statement : statements)
      if (statement.values == statement.text)
        statement.values.clear();
    return statements;
  }

  const SourceIndex &index_;
  const clang::SourceManager &sources_;
  const HostParts &found_;
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
  if (const Diagnostic *problem = unit.problem())
    return llvm::createStringError(problem->message);
  const SourceIndex index(*unit.ast);
  HostParts found = findHostParts(index, request.kernels);
  putInPlace(found, index);
  const LaunchOnly only(index, found);
  return Writer(index, found, only).write();
}

} // namespace kopt::frontend
