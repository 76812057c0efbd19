// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/reference/Reference.h"

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/analysis/Types.h"
#include "clang_plugin/reference/Legality.h"
#include "clang_plugin/reference/Names.h"
#include "clang_plugin/reference/Rewrite.h"
#include "clang_plugin/reference/Widening.h"
#include "runtime/device/GpuLimits.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
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

struct Feature {
  std::string text;
  SourceLocation at;
};

/// What a body does besides computing with numbers: control flow, integers that are written or
/// known, extents of arrays. Nothing of this may depend on the width of a float.
std::vector<Feature> featuresOf(const KernelView &view, const BodyView &body) {
  std::vector<Feature> features;
  llvm::DenseSet<const Stmt *> inside; // of what is one feature as a whole
  for (const Stmt *statement : body.statements) {
    if (inside.contains(body.parents.lookup(statement))) {
      inside.insert(statement);
      continue;
    }
    const auto add = [&](const std::string &text) {
      features.push_back({text, statement->getBeginLoc()});
    };
    if (isa<ForStmt, WhileStmt, DoStmt, IfStmt, SwitchStmt, ReturnStmt, BreakStmt, ContinueStmt,
            CaseStmt>(statement))
      add(statement->getStmtClassName());
    if (isa<UnaryExprOrTypeTraitExpr>(statement)) {
      inside.insert(statement); // Legality.cpp judges the use of a size
    } else if (const auto *literal = dyn_cast<IntegerLiteral>(statement)) {
      add(llvm::toString(literal->getValue(), 10, false));
    } else if (const auto *reference = dyn_cast<DeclRefExpr>(statement);
               reference && reference->getType()->isIntegralOrEnumerationType()) {
      const auto value = view.constant(reference);
      add(reference->getDecl()->getNameAsString() + (value ? "=" + std::to_string(*value) : ""));
    } else if (const auto *argument = dyn_cast<SubstNonTypeTemplateParmExpr>(statement)) {
      const auto value = view.constant(argument);
      if (value)
        add(std::to_string(*value));
      inside.insert(statement);
    } else if (const auto *declaration = dyn_cast<DeclStmt>(statement)) {
      for (const Decl *decl : declaration->decls())
        if (const auto *variable = dyn_cast<VarDecl>(decl)) {
          std::string extents;
          for (QualType type = variable->getType(); !type.isNull();) {
            const auto *array = view.context().getAsConstantArrayType(type);
            if (!array)
              break;
            extents += "[" + llvm::toString(array->getSize(), 10, false) + "]";
            type = array->getElementType();
          }
          add(variable->getNameAsString() + extents);
        }
    }
  }
  return features;
}

class Comparison {
public:
  Comparison(const KernelView &original, const KernelView &clone,
             std::vector<ReferenceNote> &refusals)
      : original_(original), clone_(clone), refusals_(refusals) {}

  void compare() {
    findNarrow();
    if (refusals_.empty())
      compareFeatures();
    if (refusals_.empty())
      checkSharedMemory();
  }

private:
  /// The line of the original. The clone only adds the helpers, as one block of lines.
  unsigned originalLine(SourceLocation at) const {
    const unsigned line = lineOf(clone_, at);
    const auto lines = [](llvm::StringRef text) { return unsigned(text.count('\n')); };
    const unsigned added = lines(clone_.text()) - lines(original_.text());
    return line > added ? line - added : 0;
  }

  void refuse(const char *id, const std::string &message, SourceLocation at) {
    const unsigned line = originalLine(at);
    for (const ReferenceNote &known : refusals_)
      if (known.id == id && known.line == line)
        return;
    refusals_.push_back({id, message, line});
  }

  bool isNarrow(QualType type) const {
    type = type.getNonReferenceType().getCanonicalType();
    while (type->isPointerType())
      type = type->getPointeeType().getCanonicalType();
    return isWidened(clone_.context(), type);
  }

  /// True for a float that need not be widened: a constant, or the result of a library function
  /// that takes no floats (a random number).
  bool isExact(const Expr *expression) const {
    expression = expression->IgnoreParenImpCasts();
    Expr::EvalResult value;
    if (!expression->isValueDependent() && !expression->isLValue() &&
        expression->EvaluateAsRValue(value, clone_.context()) && value.Val.isFloat())
      return true;
    const auto *call = dyn_cast<CallExpr>(expression);
    const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
    if (!callee || clone_.isInText(callee->getLocation()) ||
        narrowScalar(expression->getType()).empty())
      return false;
    return llvm::none_of(call->arguments(), [&](const Expr *argument) {
      return argument->IgnoreParenImpCasts()->getType()->isRealFloatingType() ||
             isNarrow(argument->getType());
    });
  }

  void findNarrow() {
    for (const BodyView &body : clone_.bodies()) {
      llvm::DenseSet<const Stmt *> exact; // exact numbers and their subexpressions
      for (const Stmt *statement : body.statements) {
        const Stmt *parent = body.parents.lookup(statement);
        if (parent && exact.contains(parent)) {
          exact.insert(statement);
          continue;
        }
        const auto *expression = dyn_cast<Expr>(statement);
        if (!expression || !isNarrow(expression->getType()))
          continue;
        if (isExact(expression)) {
          exact.insert(statement);
          continue;
        }
        refuse("narrow",
               "what could not be widened: " + quoted(clone_, expression->getSourceRange()) +
                   " is '" + expression->getType().getAsString() + "' still",
               expression->getBeginLoc());
      }
      for (const ParmVarDecl *parameter : body.function->parameters())
        if (isNarrow(parameter->getType()))
          refuse("narrow",
                 "parameter " + parameter->getNameAsString() + " is '" +
                     parameter->getType().getAsString() + "' still",
                 parameter->getLocation());
    }
  }

  void compareFeatures() {
    // Further functions in the clone are helpers or belong to libraries.
    for (const BodyView &before : original_.bodies()) {
      const BodyView *after = counterpart(before);
      if (before.function->isDefaulted())
        continue; // generated by the compiler: copies a struct by its size
      if (!after) // e.g. an operator of half, which the clone does not call
        continue;
      const std::vector<Feature> old = featuresOf(original_, before),
                                 now = featuresOf(clone_, *after);
      for (std::size_t i = 0; i < std::max(old.size(), now.size()); ++i)
        if (i >= old.size() || i >= now.size() || old[i].text != now[i].text) {
          const SourceLocation at = i < old.size() ? old[i].at : before.function->getLocation();
          const unsigned line = lineOf(original_, at);
          refusals_.push_back({"differs",
                               "the width of a type decides what the code does: `" +
                                   (i < old.size() ? old[i].text : "nothing") + "` became `" +
                                   (i < now.size() ? now[i].text : "nothing") + "`",
                               line});
          return;
        }
    }
  }

  /// The same function in the clone: with the same name, and the same position among the functions
  /// with that name. Null if there is none.
  const BodyView *counterpart(const BodyView &before) const {
    std::size_t position = 0;
    const std::string name = before.function->getQualifiedNameAsString();
    for (const BodyView &each : original_.bodies()) {
      if (&each == &before)
        break;
      position += each.function->getQualifiedNameAsString() == name;
    }
    for (const BodyView &each : clone_.bodies())
      if (each.function->getQualifiedNameAsString() == name && position-- == 0)
        return &each;
    return nullptr;
  }

  void checkSharedMemory() {
    std::uint64_t bytes = 0;
    llvm::DenseSet<const VarDecl *> seen;
    const auto count = [&](const VarDecl *variable) {
      if (variable && variable->hasAttr<CUDASharedAttr>() && seen.insert(variable).second &&
          !variable->getType()->isIncompleteType())
        bytes +=
            std::uint64_t(clone_.context().getTypeSizeInChars(variable->getType()).getQuantity());
    };
    for (const BodyView &body : clone_.bodies())
      for (const Stmt *statement : body.statements)
        if (const auto *reference = dyn_cast<DeclRefExpr>(statement))
          count(dyn_cast<VarDecl>(reference->getDecl()));
    if (bytes > gpu::kSharedWithoutOptIn)
      refuse("shared-memory",
             "its static shared memory would be " + std::to_string(bytes) +
                 " bytes, of which a block "
                 "has " +
                 std::to_string(gpu::kSharedWithoutOptIn),
             clone_.kernel().getLocation());
  }

  const KernelView &original_, &clone_;
  std::vector<ReferenceNote> &refusals_;
};

/// Adds a refusal for each narrow number left in the clone; for integers, branches, loops and
/// arrays that differ from the original's; and for too much static shared memory.
void compareToOriginal(const KernelView &original, const KernelView &clone,
                       std::vector<ReferenceNote> &refusals) {
  Comparison(original, clone, refusals).compare();
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
  clone.slice = rewriteToDouble(rewrite);
  const ParsedUnit cloneUnit = parseSlice(request, clone.slice);
  if (const Diagnostic *problem = cloneUnit.problem())
    return refused({doesNotParse(*problem, request.slice, clone.slice)});
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
