// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/reference/Reference.h"

#include "clang_plugin/analysis/Types.h"
#include "clang_plugin/reference/Compare.h"
#include "clang_plugin/reference/Legality.h"
#include "clang_plugin/reference/Names.h"
#include "clang_plugin/reference/Rewrite.h"
#include "clang_plugin/reference/Widening.h"

#include <clang/AST/Attr.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/ASTUnit.h>
#include <clang/Lex/PreprocessingRecord.h>

namespace kopt::frontend {

using namespace clang;

namespace {

/// Collects the names from the table (newNameOf()) that the text declares itself.
struct OwnNames : RecursiveASTVisitor<OwnNames> {
  RewriteRequest &request;
  explicit OwnNames(RewriteRequest &out) : request(out) {}

  bool VisitNamedDecl(NamedDecl *decl) {
    if (!decl->getIdentifier() || !newNameOf(decl->getName()))
      return true;
    const bool isFunction =
        isa<FunctionDecl, FunctionTemplateDecl, UsingShadowDecl, UsingDecl>(decl);
    (isFunction ? request.ownFunctions : request.ownNames).insert(decl->getNameAsString());
    return true;
  }
};

void findOwnNames(ASTUnit &unit, RewriteRequest &request) {
  const ASTContext &context = unit.getASTContext();
  const SourceManager &sources = context.getSourceManager();
  OwnNames visitor(request);
  for (Decl *decl : context.getTranslationUnitDecl()->noload_decls())
    if (sources.isInMainFile(sources.getExpansionLoc(decl->getLocation())))
      visitor.TraverseDecl(decl);
  if (PreprocessingRecord *record = unit.getPreprocessor().getPreprocessingRecord())
    for (const PreprocessedEntity *entity : *record)
      if (const auto *macro = dyn_cast_or_null<MacroDefinitionRecord>(entity);
          macro && sources.isInMainFile(macro->getLocation()) &&
          newNameOf(macro->getName()->getName()))
        request.ownNames.insert(macro->getName()->getName().str());
}

/// The first error of the clone, at the line of the original.
ReferenceNote doesNotParse(const Diagnostic &problem, const std::string &before,
                           const std::string &after) {
  const auto lines = [](llvm::StringRef text) { return unsigned(text.count('\n')); };
  const unsigned added = lines(after) - lines(before);
  return {"not-expressible", "the same text with double in it is not valid: " + problem.message,
          problem.line > added ? problem.line - added : 0};
}

/// Describes the layout of the parameters and of the widened module variables.
class Interface {
public:
  Interface(const KernelView &original, const KernelView &clone, ReferenceClone &out)
      : original_(original), clone_(clone), out_(out) {}

  void describe() {
    for (unsigned i = 0; i < original_.kernel().getNumParams(); ++i)
      describeParam(*original_.kernel().getParamDecl(i), *clone_.kernel().getParamDecl(i));
    for (const auto &[name, variable] : moduleVariables(original_)) {
      const auto others = moduleVariables(clone_);
      const auto other = others.find(name);
      if (isWidened(original_.context(), variable->getType()) && other != others.end())
        describeVariable(name, *variable, *other->second);
    }
  }

private:
  void describeParam(const ParmVarDecl &before, const ParmVarDecl &after) {
    ReferenceParam param;
    param.name = before.getNameAsString();
    param.pointer = before.getType()->isPointerType();
    QualType from = before.getType(), to = after.getType();
    if (param.pointer) {
      from = from->getPointeeType();
      to = to->getPointeeType();
      if (from->isPointerType() && isWidened(original_.context(), from->getPointeeType()))
        return refuse(before, "parameter " + param.name + " points to pointers to floating point");
    } else if (holdsPointerToWidened(from)) {
      return refuse(before,
                    "parameter " + param.name + " is a struct with pointers to floating point");
    }
    std::string why;
    auto layout = layoutOf(original_.context(), from, clone_.context(), to, why);
    if (!layout)
      return refuse(before, "parameter " + param.name + " " + why);
    param.element = std::move(*layout);
    out_.params.push_back(std::move(param));
  }

  bool holdsPointerToWidened(QualType type) const {
    const auto *record = type->getAsCXXRecordDecl();
    if (!record || !record->hasDefinition())
      return false;
    for (const FieldDecl *field : record->getDefinition()->fields())
      if ((field->getType()->isPointerType() &&
           isWidened(original_.context(), field->getType()->getPointeeType())) ||
          holdsPointerToWidened(field->getType()))
        return true;
    return false;
  }

  /// `__constant__` and `__device__` variables that the kernel or its callees refer to, by name.
  static std::map<std::string, const VarDecl *> moduleVariables(const KernelView &view) {
    std::map<std::string, const VarDecl *> variables;
    for (const BodyView &body : view.bodies())
      for (const Stmt *statement : body.statements)
        if (const auto *reference = dyn_cast<DeclRefExpr>(statement))
          if (const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
              variable && variable->hasGlobalStorage() && !variable->isLocalVarDecl() &&
              !variable->isConstexpr() &&
              (variable->hasAttr<CUDAConstantAttr>() || variable->hasAttr<CUDADeviceAttr>()))
            variables[variable->getQualifiedNameAsString()] = variable;
    return variables;
  }

  void describeVariable(const std::string &name, const VarDecl &before, const VarDecl &after) {
    ReferenceVariable variable;
    variable.name = name;
    QualType from = before.getType(), to = after.getType();
    while (const auto *array = original_.context().getAsConstantArrayType(from)) {
      variable.count *= array->getSize().getZExtValue();
      from = array->getElementType();
      to = clone_.context().getAsArrayType(to)->getElementType();
    }
    std::string why;
    auto layout = layoutOf(original_.context(), from, clone_.context(), to, why);
    if (!layout)
      return refuse(before, "variable " + name + " " + why);
    variable.element = std::move(*layout);
    out_.variables.push_back(std::move(variable));
  }

  void refuse(const Decl &decl, const std::string &message) {
    out_.refusals.push_back({"layout", message, lineOf(original_, decl.getLocation())});
  }

  const KernelView &original_, &clone_;
  ReferenceClone &out_;
};

ReferenceClone refused(std::vector<ReferenceNote> refusals) {
  ReferenceClone clone;
  clone.refusals = std::move(refusals);
  return clone;
}

} // namespace

llvm::Expected<ReferenceClone> makeReferenceClone(const KernelSource &request) {
  auto slice = openSlice(request);
  if (!slice)
    return slice.takeError();
  const KernelView &original = slice->view;
  Legality legality = checkOriginal(original);
  if (!legality.refusals.empty())
    return refused(std::move(legality.refusals));

  RewriteRequest rewrite{request.slice, request.flags, {}, {}};
  findOwnNames(*slice->unit.ast, rewrite);
  ReferenceClone clone;
  clone.sliceText = rewriteToDouble(rewrite);
  const ParsedUnit cloneUnit = parseSlice(request, clone.sliceText);
  if (const Diagnostic *problem = cloneUnit.problem())
    return refused({doesNotParse(*problem, request.slice, clone.sliceText)});
  auto copy =
      KernelView::open(*cloneUnit.ast, request.kernel, rewriteExpression(request.expression));
  if (!copy)
    return refused({{"not-expressible", llvm::toString(copy.takeError()), 0}});
  compareToOriginal(original, *copy, clone.refusals);
  if (!clone.refusals.empty())
    return refused(std::move(clone.refusals));
  Interface(original, *copy, clone).describe();
  if (!clone.refusals.empty())
    return refused(std::move(clone.refusals));

  clone.expression = expressionOf(copy->kernel());
  clone.symbol = symbolOf(copy->kernel());
  clone.sharedFactor = legality.sharedFactor;
  clone.notes = std::move(legality.notes);
  return clone;
}

} // namespace kopt::frontend
