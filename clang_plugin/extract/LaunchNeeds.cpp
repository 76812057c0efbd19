// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/LaunchNeeds.h"

#include "clang_plugin/analysis/CudaFunctions.h"
#include "clang_plugin/analysis/Types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

#include <deque>
#include <set>

namespace kopt::frontend {
namespace {

using clang::FunctionDecl;
using clang::QualType;

/// Texture or Surface if values of the type are such objects, or point to or contain them. The
/// types differ from plain integers only by their names; CUDA 11 also has class templates.
std::optional<NeedKind> objectKind(QualType type, unsigned depth = 0) {
  constexpr unsigned kDeepest = 8;
  if (type.isNull() || depth > kDeepest)
    return std::nullopt;
  const clang::Type *pointer = type.getTypePtr();
  if (const auto *alias = llvm::dyn_cast<clang::TypedefType>(pointer)) {
    const llvm::StringRef name = alias->getDecl()->getName();
    if (name == "cudaTextureObject_t" || name == "CUtexObject")
      return NeedKind::Texture;
    if (name == "cudaSurfaceObject_t" || name == "CUsurfObject")
      return NeedKind::Surface;
    return objectKind(alias->getDecl()->getUnderlyingType(), depth + 1);
  }
  if (const auto *array = llvm::dyn_cast<clang::ArrayType>(pointer))
    return objectKind(array->getElementType(), depth + 1);
  if (!pointer->getPointeeType().isNull())
    return objectKind(pointer->getPointeeType(), depth + 1);
  if (const clang::CXXRecordDecl *record = pointer->getAsCXXRecordDecl()) {
    if (llvm::isa<clang::ClassTemplateSpecializationDecl>(record) &&
        record->getDeclContext()->isTranslationUnit() &&
        (record->getName() == "texture" || record->getName() == "surface"))
      return parseEnum<NeedKind>(record->getName());
    if (record->hasDefinition())
      for (const clang::FieldDecl *field : record->getDefinition()->fields())
        if (const auto kind = objectKind(field->getType(), depth + 1))
          return kind;
    return std::nullopt;
  }
  // Look through sugar, such as `const` in a template argument.
  const QualType inner = type.getLocalUnqualifiedType();
  const QualType next = inner->getLocallyUnqualifiedSingleStepDesugaredType();
  return next.getTypePtr() == pointer ? std::nullopt : objectKind(next, depth + 1);
}

/// True for isnan() and its like, and for what gives an infinity or a NaN, as the macros INFINITY
/// and NAN do.
bool isOfNonFinite(llvm::StringRef function) {
  llvm::StringRef plain = function.ltrim('_');
  plain.consume_front("builtin_");
  constexpr llvm::StringLiteral kNames[] = {"isinf", "isnan",    "isfinite", "inf",
                                            "nan",   "huge_val", "infinity", "quiet_NaN"};
  return llvm::any_of(kNames, [&](llvm::StringRef name) { return plain.starts_with(name); });
}

class NeedsFinder : public clang::RecursiveASTVisitor<NeedsFinder> {
public:
  explicit NeedsFinder(const SourceIndex &index) : index_(index) {}

  LaunchNeeds run(const FunctionDecl &kernel) {
    for (const clang::ParmVarDecl *parameter : kernel.parameters())
      if (const auto kind = objectKind(parameter->getType()))
        add(*kind, parameter->getNameAsString(), parameter->getLocation());
    follow(&kernel);
    // Those of the definition.
    parameters_ = open_.empty() ? kernel.parameters() : open_.front()->parameters();
    found_.comparedWith.resize(parameters_.size());
    while (!open_.empty()) {
      const FunctionDecl *function = open_.front();
      open_.pop_front();
      TraverseStmt(function->getBody());
    }
    return std::move(found_);
  }

  bool VisitCallExpr(clang::CallExpr *call) {
    const FunctionDecl *callee = call->getDirectCallee();
    if (!callee)
      return true;
    follow(callee);
    if (isUser(*callee))
      return true;
    findBarrier(*call, *callee);
    if (!callee->getDeclName().isIdentifier())
      return true;
    const llvm::StringRef name = callee->getName();
    found_.testsNonFinite |= isOfNonFinite(name);
    const bool isTexture = name.starts_with("tex");
    if (!isTexture && !name.starts_with("surf"))
      return true;
    const NeedKind kind = isTexture ? NeedKind::Texture : NeedKind::Surface;
    // The object is the argument for the parameter of that type; it may be a plain integer.
    for (unsigned i = 0; i < callee->getNumParams() && i < call->getNumArgs(); ++i)
      if (objectKind(callee->getParamDecl(i)->getType()) == kind)
        add(kind, textOf(*call->getArg(i)), call->getBeginLoc());
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator *comparison) {
    if (!comparison->isComparisonOp())
      return true;
    for (const auto &[value, constant] : {std::pair(comparison->getLHS(), comparison->getRHS()),
                                          std::pair(comparison->getRHS(), comparison->getLHS())})
      for (const int step : {0, -1, 1})
        if (step == 0 || comparison->isRelationalOp())
          noteCompared(value, constant, step);
    return true;
  }
  bool VisitSwitchStmt(clang::SwitchStmt *choice) {
    for (const clang::SwitchCase *label = choice->getSwitchCaseList(); label;
         label = label->getNextSwitchCase())
      if (const auto *one = llvm::dyn_cast<clang::CaseStmt>(label))
        noteCompared(choice->getCond(), one->getLHS(), 0);
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr *made) {
    follow(made->getConstructor());
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    if (!variable || !variable->hasGlobalStorage() || !isUser(*variable))
      return true;
    if (const auto kind = objectKind(variable->getType()))
      add(*kind, variable->getNameAsString(), reference->getBeginLoc());
    else if (variable->hasAttr<clang::CUDAConstantAttr>() && !hasValue(*variable))
      add(*variable);
    return true;
  }

private:
  /// Adds `constant + step` to the comparisons of the parameter that `value` is.
  void noteCompared(const clang::Expr *value, const clang::Expr *constant, int step) {
    const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(value->IgnoreParenCasts());
    const auto parameter =
        reference ? llvm::find(parameters_, reference->getDecl()) : parameters_.end();
    clang::Expr::EvalResult known;
    if (parameter == parameters_.end() || !(*parameter)->getType()->isIntegralOrEnumerationType() ||
        constant->isValueDependent() ||
        !constant->EvaluateAsInt(known, (*parameter)->getASTContext()) ||
        known.Val.getInt().getSignificantBits() > 62)
      return;
    std::vector<std::int64_t> &all =
        found_.comparedWith[std::size_t(parameter - parameters_.begin())];
    const std::int64_t number = known.Val.getInt().getExtValue() + step;
    if (!llvm::is_contained(all, number))
      all.push_back(number);
  }

  /// True if the file gives the variable a value. A trivial constructor does not.
  static bool hasValue(const clang::VarDecl &variable) {
    const clang::Expr *initializer = variable.getAnyInitializer();
    const auto *made = llvm::dyn_cast_or_null<clang::CXXConstructExpr>(initializer);
    return initializer && !(made && made->getNumArgs() == 0 && made->getConstructor()->isTrivial());
  }

  bool isUser(const clang::Decl &declaration) const {
    const clang::SourceLocation location =
        index_.sources().getExpansionLoc(declaration.getLocation());
    return location.isValid() && index_.isUser(index_.sources().getFileID(location));
  }

  /// Follows a function of the user, as instantiated if that is known.
  void follow(const FunctionDecl *function) {
    const FunctionDecl *defined = nullptr;
    if (!function || !(function->hasBody(defined) && defined))
      defined = function ? function->getTemplateInstantiationPattern() : nullptr;
    if (defined && !defined->hasBody(defined))
      defined = nullptr;
    if (defined && isUser(*defined) && followed_.insert(defined->getCanonicalDecl()).second)
      open_.push_back(defined);
  }

  /// Finds grid.sync(), sync(grid) and similar calls, which need a cooperative launch.
  void findBarrier(const clang::CallExpr &call, const FunctionDecl &callee) {
    const auto isGrid = [](QualType type) {
      const clang::CXXRecordDecl *record = type.getNonReferenceType()->getAsCXXRecordDecl();
      return record &&
             (record->getName() == "grid_group" || record->getName() == "multi_grid_group");
    };
    const std::string name = callee.getNameAsString();
    const auto *method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call);
    bool onGrid =
        method && isGrid(method->getImplicitObjectArgument()->getType()->isPointerType()
                             ? method->getImplicitObjectArgument()->getType()->getPointeeType()
                             : method->getImplicitObjectArgument()->getType());
    for (const clang::Expr *argument : call.arguments())
      onGrid |= !method && isGrid(argument->getType());
    if ((onGrid && cudaFunction(callee) == CudaFunction::Barrier) ||
        name == "cudaCGSynchronizeGrid" || name == "cudaCGSynchronizeMultiGrid")
      add(NeedKind::Cooperative, textOf(call), call.getBeginLoc());
  }

  std::string textOf(const clang::Expr &expression) const {
    const clang::SourceManager &sources = index_.sources();
    const auto range = clang::CharSourceRange::getTokenRange(
        sources.getFileLoc(expression.getBeginLoc()), sources.getFileLoc(expression.getEndLoc()));
    return clang::Lexer::getSourceText(range, sources, index_.unit().getLangOpts()).str();
  }

  void add(const clang::VarDecl &variable) {
    const std::optional<ConstantVariable> described = describeConstantVariable(variable);
    const auto isIt = [&](const ConstantVariable &known) {
      return known.symbol == described->symbol;
    };
    if (described && llvm::none_of(found_.constantVariables, isIt))
      found_.constantVariables.push_back(*described);
  }

  void add(NeedKind kind, const std::string &name, clang::SourceLocation location) {
    const clang::SourceLocation at = index_.sources().getFileLoc(location);
    for (const LaunchNeed &known : found_.needs)
      if (known.kind == kind && known.name == name)
        return;
    found_.needs.push_back({kind, name, index_.path(index_.sources().getFileID(at)),
                            index_.sources().getSpellingLineNumber(at)});
  }

  const SourceIndex &index_;
  LaunchNeeds found_;
  llvm::ArrayRef<clang::ParmVarDecl *> parameters_;
  std::deque<const FunctionDecl *> open_;
  std::set<const clang::Decl *> followed_;
};

} // namespace

LaunchNeeds launchNeeds(const SourceIndex &index, const FunctionDecl &kernel) {
  return NeedsFinder(index).run(kernel);
}

} // namespace kopt::frontend
