// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/slice/Closure.h"

#include <clang/AST/ASTConcept.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ExprConcepts.h>
#include <clang/AST/RecursiveASTVisitor.h>

namespace kopt::frontend {
namespace {

class Collector : public clang::RecursiveASTVisitor<Collector> {
public:
  explicit Collector(const SourceIndex &index)
      : index_(index), degraded_(index.unit().getDiagnostics().hasErrorOccurred()) {}

  Closure run(const std::vector<const clang::Decl *> &roots) {
    for (const clang::Decl *root : roots)
      need(root);
    do
      drain();
    while (addUsings());
    for (std::size_t include : index_.includesFor(systemFiles_))
      closure_.pieces.insert(include);
    return std::move(closure_);
  }

  DirectUses readOnly(std::size_t piece) {
    read(index_.pieces()[piece]);
    return {std::move(closure_.pieces), std::move(calls_)};
  }

  // What a template needs is known only where it is instantiated; what code needs is partly
  // implicit (destructors, conversions).
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }

  bool VisitDeclRefExpr(clang::DeclRefExpr *expression) {
    need(expression->getDecl());
    need(expression->getFoundDecl());
    if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(expression->getDecl());
        function && !llvm::isa<clang::CXXMethodDecl>(function))
      noteCall(function->getDeclName(), expression->hasQualifier(), isUsers(function));
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr *expression) {
    need(expression->getMemberDecl());
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr *expression) {
    need(expression->getConstructor());
    return true;
  }
  bool VisitOverloadExpr(clang::OverloadExpr *expression) {
    bool users = false;
    for (const clang::NamedDecl *candidate : expression->decls()) {
      need(candidate);
      users |= isUsers(candidate);
    }
    if (llvm::isa<clang::UnresolvedLookupExpr>(expression))
      noteCall(expression->getName(), expression->getQualifier() != nullptr, users);
    return true;
  }
  // `#pragma unroll N` and similar pragmas keep N in an attribute of the loop.
  bool VisitAttributedStmt(clang::AttributedStmt *statement) {
    for (const clang::Attr *attribute : statement->getAttrs())
      if (const auto *hint = llvm::dyn_cast<clang::LoopHintAttr>(attribute);
          hint && hint->getValue())
        TraverseStmt(hint->getValue());
    return true;
  }
  bool VisitConceptSpecializationExpr(clang::ConceptSpecializationExpr *expression) {
    need(expression->getNamedConcept());
    return true;
  }
  bool VisitValueDecl(clang::ValueDecl *declaration) {
    needType(declaration->getType());
    return true;
  }
  bool VisitExpr(clang::Expr *expression) {
    if (llvm::isa<clang::CXXTemporaryObjectExpr, clang::CXXScalarValueInitExpr, clang::InitListExpr,
                  clang::UnaryExprOrTypeTraitExpr>(expression))
      needType(expression->getType());
    return true;
  }
  bool VisitTypeLoc(clang::TypeLoc location) {
    needType(location.getType());
    return true;
  }
  bool TraverseNestedNameSpecifierLoc(clang::NestedNameSpecifierLoc location) {
    if (location) {
      if (const clang::NamespaceAliasDecl *alias =
              location.getNestedNameSpecifier()->getAsNamespaceAlias())
        need(alias);
    }
    return RecursiveASTVisitor::TraverseNestedNameSpecifierLoc(location);
  }
  bool TraverseTemplateName(clang::TemplateName name) {
    if (const clang::TemplateDecl *declaration = name.getAsTemplateDecl())
      need(declaration);
    return RecursiveASTVisitor::TraverseTemplateName(name);
  }

private:
  void need(const clang::Decl *declaration) {
    if (!declaration || !seen_.insert(declaration).second)
      return;
    if (const auto *shadow = llvm::dyn_cast<clang::UsingShadowDecl>(declaration)) {
      need(shadow->getTargetDecl());
      need(shadow->getIntroducer());
      return;
    }
    for (const clang::DeclContext *context = declaration->getDeclContext(); context;
         context = context->getParent())
      if (const auto *space = llvm::dyn_cast<clang::NamespaceDecl>(context))
        spaces_.insert(space->getCanonicalDecl());
    needPattern(declaration);
    // Libraries declare each other's classes: only the definition counts.
    const clang::Decl *definition = definitionOf(declaration);
    for (const clang::Decl *other : declaration->redecls())
      if (!definition || other == definition || isUsers(other))
        needPlace(other);
  }

  /// The definition of a class, an enumeration or a class template; null if there is none.
  static const clang::Decl *definitionOf(const clang::Decl *declaration) {
    if (const auto *classes = llvm::dyn_cast<clang::ClassTemplateDecl>(declaration)) {
      const clang::CXXRecordDecl *defined = classes->getTemplatedDecl()->getDefinition();
      return defined ? defined->getDescribedClassTemplate() : nullptr;
    }
    const auto *tag = llvm::dyn_cast<clang::TagDecl>(declaration);
    return tag ? tag->getDefinition() : nullptr;
  }

  /// Instantiations stand where their template stands; specializations need the template they
  /// specialize.
  void needPattern(const clang::Decl *declaration) {
    if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      if (const clang::FunctionDecl *pattern = function->getTemplateInstantiationPattern())
        need(pattern);
      if (const clang::FunctionTemplateDecl *primary = function->getPrimaryTemplate())
        need(primary);
      if (const auto *method = llvm::dyn_cast<clang::CXXMethodDecl>(function))
        need(method->getParent());
    } else if (const auto *specialization =
                   llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(declaration)) {
      need(specialization->getSpecializedTemplate());
      auto from = specialization->getSpecializedTemplateOrPartial();
      if (auto *partial = from.dyn_cast<clang::ClassTemplatePartialSpecializationDecl *>())
        need(partial);
      for (const clang::TemplateArgument &argument : specialization->getTemplateArgs().asArray())
        if (argument.getKind() == clang::TemplateArgument::Type)
          needType(argument.getAsType());
    } else if (const auto *classes = llvm::dyn_cast<clang::ClassTemplateDecl>(declaration);
               classes && degraded_) {
      needSpecializations(*classes);
    } else if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
      if (const clang::VarDecl *pattern = variable->getTemplateInstantiationPattern())
        need(pattern);
      if (const auto *specialization =
              llvm::dyn_cast<clang::VarTemplateSpecializationDecl>(variable))
        need(specialization->getSpecializedTemplate());
    } else if (const auto *constant = llvm::dyn_cast<clang::EnumConstantDecl>(declaration)) {
      need(llvm::cast<clang::EnumDecl>(constant->getDeclContext()));
    }
  }

  /// If Clang gave up on an expression, the specialization that it uses is unknown: all are needed.
  void needSpecializations(const clang::ClassTemplateDecl &classes) {
    auto *asked = const_cast<clang::ClassTemplateDecl *>(&classes);
    for (const clang::ClassTemplateSpecializationDecl *specialization : asked->specializations())
      if (specialization->isExplicitSpecialization())
        need(specialization);
    llvm::SmallVector<clang::ClassTemplatePartialSpecializationDecl *, 8> partial;
    asked->getPartialSpecializations(partial);
    for (const clang::ClassTemplatePartialSpecializationDecl *specialization : partial)
      need(specialization);
  }

  void needPlace(const clang::Decl *declaration) {
    clang::SourceLocation location = declaration->getLocation();
    // A builtin such as __syncthreads is declared at its first use, which is not a dependency.
    if (location.isInvalid() || declaration->isImplicit())
      return;
    clang::FileID file = index_.sources().getFileID(index_.sources().getExpansionLoc(location));
    if (index_.isUser(file)) {
      if (std::optional<std::size_t> piece = index_.declarationAt(location))
        needPiece(*piece);
    } else if (auto entry = index_.sources().getFileEntryRefForID(file)) {
      systemFiles_.insert(entry->getFileEntry().getUID());
      if (llvm::StringRef(entry->getName()).contains("__clang_cuda"))
        needNamesakes(declaration);
    }
  }

  /// Clang's CUDA wrapper overloads printf, sqrtf and so on for the device. The header the user
  /// included for them declares the one for the host.
  void needNamesakes(const clang::Decl *declaration) {
    const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
    if (!function || !function->getDeclContext()->getRedeclContext()->isTranslationUnit())
      return;
    for (const clang::NamedDecl *other :
         function->getDeclContext()->getRedeclContext()->lookup(function->getDeclName())) {
      clang::FileID file =
          index_.sources().getFileID(index_.sources().getExpansionLoc(other->getLocation()));
      if (auto entry = index_.sources().getFileEntryRefForID(file);
          entry && !other->isImplicit() && !index_.isUser(file))
        systemFiles_.insert(entry->getFileEntry().getUID());
    }
  }

  void needType(clang::QualType type) {
    if (type.isNull() || !types_.insert(type.getTypePtr()).second)
      return;
    const clang::Type *pointer = type.getTypePtr();
    if (const auto *alias = llvm::dyn_cast<clang::TypedefType>(pointer))
      need(alias->getDecl());
    if (const auto *found = llvm::dyn_cast<clang::UsingType>(pointer))
      need(found->getFoundDecl());
    if (const auto *tag = llvm::dyn_cast<clang::TagType>(pointer))
      need(tag->getDecl());
    if (const auto *specialization = llvm::dyn_cast<clang::TemplateSpecializationType>(pointer)) {
      if (const clang::TemplateDecl *declaration =
              specialization->getTemplateName().getAsTemplateDecl())
        need(declaration);
      for (const clang::TemplateArgument &argument : specialization->template_arguments())
        if (argument.getKind() == clang::TemplateArgument::Type)
          needType(argument.getAsType());
    }
    if (const auto *function = llvm::dyn_cast<clang::FunctionProtoType>(pointer)) {
      needType(function->getReturnType());
      for (clang::QualType parameter : function->param_types())
        needType(parameter);
    }
    if (!pointer->getPointeeType().isNull())
      needType(pointer->getPointeeType());
    if (const clang::ArrayType *array = llvm::dyn_cast<clang::ArrayType>(pointer))
      needType(array->getElementType());
    // One layer of sugar at a time, so that every alias on the way is seen.
    clang::QualType inner = type.getSingleStepDesugaredType(index_.unit().getASTContext());
    if (inner.getTypePtr() != pointer)
      needType(inner);
  }

  bool isUsers(const clang::Decl *declaration) const {
    return index_.isUser(
        index_.sources().getFileID(index_.sources().getExpansionLoc(declaration->getLocation())));
  }

  /// Skips calls that cannot find the user's functions: qualified calls of a library's function,
  /// and a library's operators.
  void noteCall(clang::DeclarationName name, bool isQualified, bool isUsers) {
    if (isUsers || (!isQualified && name.isIdentifier()))
      calls_.insert(name.getAsString());
  }

  void needPiece(std::size_t piece) {
    if (closure_.pieces.insert(piece).second)
      open_.push_back(piece);
  }

  void drain() {
    while (!open_.empty()) {
      const Piece &piece = index_.pieces()[open_.back()];
      open_.pop_back();
      read(piece);
    }
  }

  void read(const Piece &piece) {
    if (piece.containsInclude)
      closure_.badText.insert("the text of '" + piece.name + "' has an #include inside");
    for (const clang::Decl *declaration : piece.decls) {
      need(declaration);
      TraverseDecl(const_cast<clang::Decl *>(declaration));
    }
    for (const std::string &identifier : piece.identifiers) {
      if (piece.kind == PieceKind::Macro && identifier == piece.name)
        continue;
      if (std::optional<std::size_t> macro = index_.macroAt(identifier, piece.position))
        needPiece(*macro);
      else if (std::optional<FileUid> file = index_.systemMacro(identifier))
        systemFiles_.insert(*file);
    }
  }

  /// `using namespace n;` where something of n is needed, `using n::f;` where f is. True if
  /// anything was added.
  bool addUsings() {
    bool added = false;
    for (std::size_t i = 0; i < index_.pieces().size(); ++i) {
      const Piece &piece = index_.pieces()[i];
      if (closure_.pieces.count(i) || piece.decls.empty())
        continue;
      bool wanted = false;
      if (const auto *directive = llvm::dyn_cast<clang::UsingDirectiveDecl>(piece.decls.front()))
        wanted = spaces_.count(directive->getNominatedNamespace()->getCanonicalDecl());
      if (const auto *declaration = llvm::dyn_cast<clang::UsingDecl>(piece.decls.front()))
        for (const clang::UsingShadowDecl *shadow : declaration->shadows())
          wanted |= seen_.count(shadow->getTargetDecl()) > 0;
      if (wanted) {
        needPiece(i);
        added = true;
      }
    }
    return added;
  }

  const SourceIndex &index_;
  const bool degraded_; ///< the pass has errors: parts of its AST are missing
  Closure closure_;
  std::vector<std::size_t> open_;
  std::set<std::string> calls_;
  std::set<const clang::Decl *> seen_;
  std::set<const clang::Type *> types_;
  std::set<const clang::NamespaceDecl *> spaces_;
  std::set<FileUid> systemFiles_;
};

} // namespace

Closure closureOf(const SourceIndex &index, const std::vector<const clang::Decl *> &roots) {
  return Collector(index).run(roots);
}

DirectUses usesOf(const SourceIndex &index, std::size_t piece) {
  return Collector(index).readOnly(piece);
}

} // namespace kopt::frontend
