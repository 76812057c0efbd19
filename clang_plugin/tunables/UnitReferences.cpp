// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/tunables/UnitReferences.h"

#include "clang_plugin/analysis/KernelView.h"

#include <clang/AST/Attr.h>
#include <clang/AST/RecursiveASTVisitor.h>

namespace kopt::frontend {
namespace {

class ReferenceFinder : public clang::RecursiveASTVisitor<ReferenceFinder> {
public:
  explicit ReferenceFinder(UnitReferences &found) : found_(found), constants_(found.index) {}

  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    const clang::ValueDecl *named = reference->getDecl();
    found_.references[named->getCanonicalDecl()].push_back(reference);
    if (llvm::isa<clang::VarDecl, clang::EnumConstantDecl>(named))
      note(reference, constants_.find(named));
    return true;
  }
  bool VisitIntegerLiteral(clang::IntegerLiteral *number) {
    if (number->getBeginLoc().isMacroID())
      note(number, constants_.findMacroAt(number->getBeginLoc()));
    return true;
  }
  bool VisitFunctionDecl(clang::FunctionDecl *function) {
    if (function->doesThisDeclarationHaveABody())
      found_.functions.push_back(function);
    if (isDeviceFunction(function) && !function->hasAttr<clang::CUDAGlobalAttr>())
      for (const clang::ParmVarDecl *parameter : function->parameters())
        found_.ofThread.insert(parameter);
    return true;
  }
  bool VisitVarDecl(clang::VarDecl *variable) {
    given.emplace_back(variable, variable->getInit());
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator *operation) {
    if (const clang::ValueDecl *target = namedBy(operation->getLHS());
        target && operation->isAssignmentOp())
      given.emplace_back(target, operation->getRHS());
    return true;
  }

  std::vector<std::pair<const clang::ValueDecl *, const clang::Expr *>> given; ///< to variables

private:
  void note(const clang::Expr *expression, const std::optional<NamedConstant> &constant) {
    if (constant)
      found_.constants.insert({expression, *constant});
  }

  UnitReferences &found_;
  const Constants constants_;
};

bool isCoordinate(const clang::Stmt *part, llvm::StringRef name) {
  const auto *value = llvm::dyn_cast<clang::Expr>(part);
  const auto place = value ? coordinate(value) : std::nullopt;
  return place && place->variable == name;
}

} // namespace

bool hasPart(const clang::Stmt *statement, llvm::function_ref<bool(const clang::Stmt *part)> test) {
  return statement && (test(statement) || llvm::any_of(statement->children(), [&](auto *child) {
                         return hasPart(child, test);
                       }));
}

bool mentions(const clang::Stmt *expression, llvm::StringRef name) {
  const auto isIt = [&](const clang::Stmt *part) { return isCoordinate(part, name); };
  return hasPart(expression, [&](const clang::Stmt *part) {
    const auto *variable = llvm::dyn_cast_or_null<clang::VarDecl>(namedBy(part));
    return isIt(part) ||
           (variable && variable->isLocalVarDecl() && hasPart(variable->getInit(), isIt));
  });
}

const clang::ValueDecl *namedBy(const clang::Stmt *expression) {
  const auto *value = llvm::dyn_cast_or_null<clang::Expr>(expression);
  const auto *name =
      value ? llvm::dyn_cast<clang::DeclRefExpr>(value->IgnoreParenImpCasts()) : nullptr;
  return name ? name->getDecl() : nullptr;
}

const clang::Expr *valueOf(const clang::ValueDecl *constant) {
  const auto *variable = llvm::dyn_cast_or_null<clang::VarDecl>(constant);
  const clang::Expr *value =
      variable && variable->getType().isConstQualified() ? variable->getInit() : nullptr;
  const auto isItself = [&](const clang::Stmt *part) { return namedBy(part) == constant; };
  return hasPart(value, isItself) ? nullptr : value;
}

bool isDeviceFunction(const clang::FunctionDecl *function) {
  return function &&
         (function->hasAttr<clang::CUDAGlobalAttr>() || function->hasAttr<clang::CUDADeviceAttr>());
}

UnitReferences::UnitReferences(const SourceIndex &of) : index(of) {
  std::vector<clang::Decl *> scope;
  for (const Piece &piece : index.pieces())
    if (piece.kind == PieceKind::Declaration)
      for (const clang::Decl *declaration : piece.decls)
        scope.push_back(const_cast<clang::Decl *>(declaration));
  ReferenceFinder finder(*this);
  llvm::for_each(scope, [&](clang::Decl *declaration) { finder.TraverseDecl(declaration); });
  index.unit().getASTContext().setTraversalScope(scope);
  for (std::size_t before = ~std::size_t(0); before != ofThread.size();) {
    before = ofThread.size();
    for (const auto &[variable, value] : finder.given)
      if (isOfThread(value))
        ofThread.insert(variable);
  }
}

clang::DynTypedNode UnitReferences::parentOf(const clang::DynTypedNode &node) const {
  const clang::DynTypedNodeList parents = index.unit().getASTContext().getParents(node);
  return parents.empty() ? clang::DynTypedNode() : parents[0];
}

const clang::FunctionDecl *UnitReferences::functionOf(clang::DynTypedNode node) const {
  const clang::FunctionDecl *function = nullptr;
  for (; !node.getNodeKind().isNone(); node = parentOf(node))
    if (const auto *one = node.get<clang::FunctionDecl>())
      function = one;
  return function;
}

llvm::ArrayRef<const clang::Expr *> UnitReferences::of(const clang::Decl *declaration) const {
  const auto found = references.find(declaration->getCanonicalDecl());
  return found == references.end() ? llvm::ArrayRef<const clang::Expr *>()
                                   : llvm::ArrayRef(found->second);
}

bool UnitReferences::isOfThread(const clang::Stmt *expression) const {
  return hasPart(expression, [&](const clang::Stmt *part) {
    return isCoordinate(part, "threadIdx") || isCoordinate(part, "blockIdx") ||
           ofThread.contains(namedBy(part));
  });
}

bool UnitReferences::isOfConstants(const clang::Stmt *expression) const {
  return !hasPart(expression, [&](const clang::Stmt *part) {
    const clang::ValueDecl *named = namedBy(part);
    const clang::Expr *value = valueOf(named);
    return llvm::isa<clang::CallExpr, clang::MemberExpr, clang::PseudoObjectExpr>(part) ||
           (llvm::isa_and_present<clang::VarDecl>(named) && !(value && isOfConstants(value)));
  });
}

} // namespace kopt::frontend
