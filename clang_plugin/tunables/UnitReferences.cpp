// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/tunables/UnitReferences.h"

#include "clang_plugin/analysis/KernelView.h"

#include <clang/AST/Attr.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <llvm/Support/Path.h>

namespace kopt::frontend {

/// Walks the user's declarations as they are written.
class ReferenceFinder : public clang::RecursiveASTVisitor<ReferenceFinder> {
  using Base = clang::RecursiveASTVisitor<ReferenceFinder>;

public:
  explicit ReferenceFinder(UnitReferences &found) : found_(found) {}

  bool TraverseDecl(clang::Decl *declaration) {
    return within(declaration, [&] { return Base::TraverseDecl(declaration); });
  }
  bool TraverseStmt(clang::Stmt *statement) {
    // Of a property such as threadIdx.x, the form that corresponds to the text.
    if (auto *property = llvm::dyn_cast_or_null<clang::PseudoObjectExpr>(statement))
      return within(statement, [&] { return TraverseStmt(property->getSyntacticForm()); });
    return within(statement, [&] { return Base::TraverseStmt(statement); });
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    found_.references_[reference->getDecl()->getCanonicalDecl()].push_back(reference);
    return true;
  }
  bool VisitIntegerLiteral(clang::IntegerLiteral *number) {
    if (number->getBeginLoc().isMacroID())
      ofMacros.push_back(number);
    return true;
  }
  bool VisitCallExpr(clang::CallExpr *call) {
    if (const clang::FunctionDecl *callee = writtenDefinition(call->getDirectCallee()))
      found_.calls_[callee].push_back(call);
    return true;
  }
  bool VisitAttributedStmt(clang::AttributedStmt *statement) {
    for (const clang::Attr *attribute : statement->getAttrs())
      if (const auto *hint = llvm::dyn_cast<clang::LoopHintAttr>(attribute); hint)
        TraverseStmt(hint->getValue());
    return true;
  }
  bool VisitFunctionDecl(clang::FunctionDecl *function) {
    if (function->doesThisDeclarationHaveABody())
      found_.functions_.push_back(function);
    return true;
  }
  bool VisitVarDecl(clang::VarDecl *variable) {
    if (isDeviceFunction(found_.functionOf(variable)))
      given.emplace_back(variable, variable->getInit());
    return true;
  }
  bool VisitParmVarDecl(clang::ParmVarDecl *parameter) {
    const clang::FunctionDecl *function = found_.functionOf(parameter);
    if (isDeviceFunction(function) && !function->hasAttr<clang::CUDAGlobalAttr>())
      found_.ofThread_.insert(parameter->getCanonicalDecl());
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator *operation) {
    const auto *target =
        llvm::dyn_cast<clang::DeclRefExpr>(operation->getLHS()->IgnoreParenImpCasts());
    if (operation->isAssignmentOp() && target)
      given.emplace_back(target->getDecl(), operation->getRHS());
    return true;
  }

  std::vector<std::pair<const clang::Decl *, const clang::Expr *>> given; ///< to variables
  std::vector<const clang::Expr *> ofMacros; ///< numbers that macros spell

private:
  template <class Node, class Visit> bool within(Node *node, Visit visit) {
    if (!node)
      return true;
    found_.parents_.try_emplace(node, around_);
    const CodeNode before = std::exchange(around_, CodeNode(static_cast<const Node *>(node)));
    const bool goesOn = visit();
    around_ = before;
    return goesOn;
  }

  UnitReferences &found_;
  CodeNode around_;
};

namespace {

/// True if `test` holds for a part of the statement, itself included.
bool hasPart(const clang::Stmt *statement,
             const std::function<bool(const clang::Stmt *part)> &test) {
  return statement && (test(statement) || llvm::any_of(statement->children(), [&](auto *child) {
                         return hasPart(child, test);
                       }));
}

const clang::Decl *namedBy(const clang::Stmt *statement) {
  const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(statement);
  return reference ? reference->getDecl() : nullptr;
}

bool isCoordinate(const clang::Stmt *statement, llvm::StringRef name) {
  const auto *value = llvm::dyn_cast<clang::Expr>(statement);
  const auto place = value ? coordinate(value) : std::nullopt;
  return place && place->variable == name;
}

} // namespace

const clang::FunctionDecl *writtenDefinition(const clang::FunctionDecl *function) {
  if (!function)
    return nullptr;
  if (const clang::FunctionDecl *pattern = function->getTemplateInstantiationPattern())
    function = pattern;
  return function->getDefinition();
}

bool isDeviceFunction(const clang::FunctionDecl *function) {
  return function &&
         (function->hasAttr<clang::CUDAGlobalAttr>() || function->hasAttr<clang::CUDADeviceAttr>());
}

UnitReferences::UnitReferences(const SourceIndex &index) : index_(index) {
  ReferenceFinder finder(*this);
  for (const Piece &piece : index.pieces())
    if (piece.kind == PieceKind::Declaration)
      for (const clang::Decl *declaration : piece.decls)
        finder.TraverseDecl(const_cast<clang::Decl *>(declaration));
  const Constants constants(index);
  const auto add = [this](const clang::Expr *expression,
                          const std::optional<NamedConstant> &constant) {
    if (!constant)
      return;
    constants_.try_emplace(expression, *constant);
    byValue_[{constant->valueRange.file, constant->valueRange.begin}].push_back(expression);
  };
  for (const clang::Expr *number : finder.ofMacros)
    add(number, constants.findMacroAt(number->getBeginLoc()));
  for (const auto &[declaration, expressions] : references_)
    if (llvm::isa<clang::VarDecl, clang::EnumConstantDecl>(declaration)) {
      const auto constant = constants.find(llvm::cast<clang::ValueDecl>(declaration));
      for (const clang::Expr *expression : expressions)
        add(expression, constant);
    }
  for (bool changes = true; changes;) {
    changes = false;
    for (const auto &[variable, value] : finder.given)
      if (!ofThread_.contains(variable->getCanonicalDecl()) && isOfThread(value))
        changes = ofThread_.insert(variable->getCanonicalDecl()).second;
  }
}

CodeNode UnitReferences::parentOf(CodeNode node) const {
  const auto *statement = node.dyn_cast<const clang::Stmt *>();
  return parents_.lookup(statement ? static_cast<const void *>(statement)
                                   : node.dyn_cast<const clang::Decl *>());
}

const clang::FunctionDecl *UnitReferences::functionOf(CodeNode node) const {
  const clang::FunctionDecl *function = nullptr;
  for (; node; node = parentOf(node))
    if (const auto *declaration = node.dyn_cast<const clang::Decl *>())
      if (const auto *one = llvm::dyn_cast<clang::FunctionDecl>(declaration))
        function = one;
  return function;
}

std::string UnitReferences::placeOf(CodeNode node) const {
  const auto *statement = node.dyn_cast<const clang::Stmt *>();
  const clang::SourceLocation at = index_.sources().getExpansionLoc(
      statement ? statement->getBeginLoc() : node.get<const clang::Decl *>()->getLocation());
  return llvm::sys::path::filename(index_.path(index_.sources().getFileID(at))).str() + ":" +
         std::to_string(index_.sources().getSpellingLineNumber(at));
}

llvm::ArrayRef<const clang::Expr *> UnitReferences::of(const clang::ValueDecl *declaration) const {
  const auto found = references_.find(declaration->getCanonicalDecl());
  return found == references_.end() ? llvm::ArrayRef<const clang::Expr *>()
                                    : llvm::ArrayRef(found->second);
}

llvm::ArrayRef<const clang::Expr *> UnitReferences::of(const SourceRange &value) const {
  const auto found = byValue_.find({value.file, value.begin});
  return found == byValue_.end() ? llvm::ArrayRef<const clang::Expr *>()
                                 : llvm::ArrayRef(found->second);
}

const NamedConstant *UnitReferences::constantAt(const clang::Expr *expression) const {
  const auto found = constants_.find(expression);
  return found == constants_.end() ? nullptr : &found->second;
}

llvm::ArrayRef<const clang::CallExpr *>
UnitReferences::callsOf(const clang::FunctionDecl *function) const {
  const auto found = calls_.find(writtenDefinition(function));
  return found == calls_.end() ? llvm::ArrayRef<const clang::CallExpr *>()
                               : llvm::ArrayRef(found->second);
}

bool UnitReferences::isOfThread(const clang::Stmt *expression) const {
  return hasPart(expression, [&](const clang::Stmt *part) {
    const clang::Decl *named = namedBy(part);
    return isCoordinate(part, "threadIdx") || isCoordinate(part, "blockIdx") ||
           (named && ofThread_.contains(named->getCanonicalDecl()));
  });
}

bool UnitReferences::mentions(const clang::Stmt *expression, llvm::StringRef name) const {
  const auto isIt = [&](const clang::Stmt *part) { return isCoordinate(part, name); };
  return hasPart(expression, [&](const clang::Stmt *part) {
    const auto *variable = llvm::dyn_cast_or_null<clang::VarDecl>(namedBy(part));
    return isIt(part) ||
           (variable && variable->isLocalVarDecl() && hasPart(variable->getInit(), isIt));
  });
}

bool UnitReferences::isOfConstants(const clang::Stmt *expression) const {
  return !hasPart(expression, [&](const clang::Stmt *part) {
    if (llvm::isa<clang::CallExpr, clang::MemberExpr, clang::PseudoObjectExpr>(part))
      return true;
    const auto *variable = llvm::dyn_cast_or_null<clang::VarDecl>(namedBy(part));
    return variable && !variable->isConstexpr() &&
           !(variable->getType().isConstQualified() && variable->getInit() &&
             isOfConstants(variable->getInit()));
  });
}

} // namespace kopt::frontend
