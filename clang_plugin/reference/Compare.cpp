// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/reference/Compare.h"

#include "clang_plugin/reference/Legality.h"
#include "clang_plugin/reference/Widening.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>

namespace kopt::frontend {

using namespace clang;

namespace {

/// A block's static shared memory that nvcc takes.
constexpr std::uint64_t kMostStaticShared = 48 * 1024;

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
    if (bytes > kMostStaticShared)
      refuse("shared-memory",
             "its static shared memory would be " + std::to_string(bytes) +
                 " bytes, of which a block "
                 "has " +
                 std::to_string(kMostStaticShared),
             clone_.kernel().getLocation());
  }

  const KernelView &original_, &clone_;
  std::vector<ReferenceNote> &refusals_;
};

} // namespace

void compareToOriginal(const KernelView &original, const KernelView &clone,
                       std::vector<ReferenceNote> &refusals) {
  Comparison(original, clone, refusals).compare();
}

} // namespace kopt::frontend
