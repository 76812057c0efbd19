// SPDX-License-Identifier: Apache-2.0
// Operators on single numbers: a scalar parameter or a literal has another value.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/mutate/Mutation.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// The places that use a parameter, in order. `isReadOnly` is false if the kernel may change the
/// parameter, `isText` if a use comes from a macro.
struct ParameterUses {
  std::vector<std::pair<unsigned, unsigned>> places;
  bool isReadOnly = true, isText = true;
  bool isOnlyCompared = true; ///< each use is an operand of a relational operator
  bool isStep = false;        ///< a loop steps by it, and the step must not become zero
};

/// The outermost implicit cast around an expression.
const Stmt *withoutCasts(const BodyView &body, const Stmt *expression) {
  while (isa_and_nonnull<ImplicitCastExpr>(body.parentOf(expression)))
    expression = body.parentOf(expression);
  return expression;
}

ParameterUses usesOf(const KernelFacts &facts, const ParmVarDecl *parameter) {
  ParameterUses uses;
  const BodyView &body = facts.bodies().front();
  for (const Stmt *statement : body.statements) {
    const auto *reference = dyn_cast<DeclRefExpr>(statement);
    if (!reference || reference->getDecl() != parameter)
      continue;
    const auto *use = dyn_cast_or_null<ImplicitCastExpr>(body.parentOf(reference));
    if (!use || use->getCastKind() != CK_LValueToRValue)
      uses.isReadOnly = false; // assigned, captured or its address taken
    const auto *comparison =
        dyn_cast_or_null<BinaryOperator>(use ? body.parentOf(withoutCasts(body, use)) : nullptr);
    const auto *loop = dyn_cast_or_null<ForStmt>(loopAround(body, reference));
    uses.isStep |= loop && mentions(loop->getInc(), parameter);
    uses.isOnlyCompared &= comparison && comparison->isRelationalOp();
    const auto place = facts.placeOf(reference->getSourceRange());
    if (place)
      uses.places.push_back(*place);
    else
      uses.isText = false;
  }
  llvm::sort(uses.places);
  uses.places.erase(std::unique(uses.places.begin(), uses.places.end()), uses.places.end());
  return uses;
}

/// Adds, for each scalar parameter, mutants in which a text from `replacement` replaces every use.
template <class Replace>
void replaceParameters(const KernelFacts &facts, MutantSink &sink, const Replace &replacement) {
  for (const ParmVarDecl *parameter : facts.view().kernel().parameters()) {
    const QualType type = parameter->getType().getCanonicalType();
    if (!type->isArithmeticType() || !parameter->getIdentifier())
      continue;
    for (const auto &[what, text, isMore] : replacement(*parameter, type)) {
      const ParameterUses uses = usesOf(facts, parameter);
      if (uses.places.empty() || !uses.isReadOnly || (uses.isStep && !isMore))
        continue;
      std::optional<std::vector<SliceEdit>> edits;
      if (uses.isText) {
        edits.emplace();
        for (const auto &[begin, end] : uses.places)
          edits->push_back({begin, end, text});
      }
      sink.add(parameter->getLocation(), what, std::move(edits),
               isMore && uses.isOnlyCompared ? "the same where nothing is equal to the limit itself"
                                             : "");
    }
  }
}

struct Replacement {
  std::string what, text;
  bool isMore = false; ///< the value rises: a limit still admits all that it did before
};
using Replacements = std::vector<Replacement>;

/// A literal stands where a scalar parameter was used.
void findScalarLiteral(const KernelFacts &facts, MutantSink &sink) {
  replaceParameters(facts, sink, [](const ParmVarDecl &parameter, QualType type) -> Replacements {
    const std::string literal = type->isBooleanType()                             ? "false"
                                : !type->isRealFloatingType()                     ? "3"
                                : type->isSpecificBuiltinType(BuiltinType::Float) ? "0.8125f"
                                                                                  : "0.8125";
    return {{"parameter " + parameter.getNameAsString() + " replaced by " + literal, literal}};
  });
}

/// A scalar parameter is one more or one less; a floating one is 1% more.
void findScalarOffByOne(const KernelFacts &facts, MutantSink &sink) {
  replaceParameters(facts, sink, [](const ParmVarDecl &parameter, QualType type) -> Replacements {
    const std::string name = parameter.getNameAsString();
    if (type->isBooleanType())
      return {{"parameter " + name + " negated", "(!" + name + ")"}};
    if (type->isSpecificBuiltinType(BuiltinType::Float))
      return {{"parameter " + name + " 1% more", "(" + name + " * 1.01f)", true}};
    if (type->isRealFloatingType())
      return {{"parameter " + name + " 1% more", "(" + name + " * 1.01)", true}};
    return {{"parameter " + name + " one less", "(" + name + " - 1)"},
            {"parameter " + name + " one more", "(" + name + " + 1)", true}};
  });
}

std::string noteForLiteral(const BodyView &body, const FloatingLiteral &literal) {
  const Stmt *parent = body.parentOf(&literal);
  while (isa_and_nonnull<CastExpr>(parent) || isa_and_nonnull<UnaryOperator>(parent))
    parent = body.parentOf(parent);
  const auto *comparison = dyn_cast_or_null<BinaryOperator>(parent);
  const llvm::StringRef callee = calleeName(dyn_cast_or_null<CallExpr>(parent));
  if ((comparison && comparison->isComparisonOp()) || callee.contains("min") ||
      callee.contains("max"))
    return "the same where no value lies between the two limits";
  llvm::APFloat value = literal.getValue();
  bool losesInfo = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  // A tiny number usually keeps the argument of a division or a logarithm from zero, and is lost
  // in rounding when it is added to a larger one.
  if (std::abs(value.convertToDouble()) < 1e-3)
    return "nearly the same where what it is added to is far larger";
  if (std::abs(value.convertToDouble()) > 1e6)
    return "the same where it only stands for a number larger than any";
  return "";
}

/// A floating-point literal is 1% more, or twice as much.
void findLiteral(const KernelFacts &facts, MutantSink &sink) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      const auto *literal = dyn_cast<FloatingLiteral>(statement);
      if (!literal || literal->getValue().isZero() || !facts.reachesOutput(body, literal))
        continue;
      const bool isFloat = literal->getType()->isSpecificBuiltinType(BuiltinType::Float);
      const std::string text = facts.text(literal).str(), note = noteForLiteral(body, *literal);
      // The term with the literal may be small compared to the others: then 1% of it is less than
      // the rounding error of a sum in another order.
      sink.add(literal->getBeginLoc(), text + " 1% more",
               facts.wrap(literal, "(", isFloat ? " * 1.01f)" : " * 1.01)"),
               note.empty() ? "nearly the same where its term is small beside the others" : note);
      sink.add(literal->getBeginLoc(), text + " twice",
               facts.wrap(literal, "(", isFloat ? " * 2.0f)" : " * 2.0)"), note);
    }
}

} // namespace

void addScalarOperators(MutationOperators &catalogue) {
  catalogue.insert(catalogue.end(), {{"scalar-literal", findScalarLiteral},
                                     {"scalar-off-by-one", findScalarOffByOne},
                                     {"literal", findLiteral}});
}

} // namespace kopt::frontend
