// SPDX-License-Identifier: Apache-2.0
// arithmetic: cheaper operations of nearly the same value. Intrinsics for the functions of single
// precision, multiplications by reciprocals for divisions, products for powers with a small whole
// exponent, and float literals where a double one widens what is otherwise single precision.
// Refuses what a macro spells. How much accuracy that costs is for verification to judge.
#include "clang_plugin/analysis/BodyText.h"
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/transform/ThreadOrder.h"

#include <clang/AST/Attr.h>

#include <llvm/ADT/StringExtras.h>
#include <set>

namespace kopt::frontend {

using namespace clang;

namespace {

/// The intrinsic for a function of floats; empty if there is none.
std::string intrinsicFor(llvm::StringRef name) {
  name.consume_back("f");
  const bool isKnown = llvm::is_contained(
      {"sin", "cos", "sincos", "tan", "exp", "exp10", "log", "log2", "log10", "pow"}, name);
  return isKnown ? ("__" + name + "f").str() : "";
}

/// A function whose intrinsic is accurate near 0 only, with the intrinsic behind a test. Empty for
/// other functions.
std::string boundedText(const std::string &intrinsic, const std::string &name) {
  const std::string begin = "// The intrinsic, where its argument is small enough for it.\n"
                            "static __device__ __forceinline__ ",
                    function = intrinsic.substr(2);
  if (function == "sincosf")
    return begin + "void " + name +
           "(float x, float *sine, float *cosine) {\n"
           "  if (fabsf(x) < ${BOUND}.0f)\n    __sincosf(x, sine, cosine);\n"
           "  else\n    sincosf(x, sine, cosine);\n}\n\n";
  if (function != "sinf" && function != "cosf" && function != "tanf")
    return "";
  return begin + "float " + name + "(float x) {\n  return fabsf(x) < ${BOUND}.0f ? " + intrinsic +
         "(x) : " + function + "(x);\n}\n\n";
}

std::string powerText(const std::string &type, const std::string &name) {
  return "// pow(), without it where the exponent is a small whole number.\n"
         "static __device__ __forceinline__ " +
         type + " " + name + "(" + type + " x, " + type +
         " exponent) {\n"
         "  if (exponent == 1)\n    return x;\n"
         "  if (exponent == 2)\n    return x * x;\n"
         "  if (exponent == 3)\n    return x * x * x;\n"
         "  if (exponent == 4)\n    return x * x * (x * x);\n"
         "  return " +
         (type == "float" ? "powf" : "pow") + "(x, exponent);\n}\n\n";
}

bool isKind(QualType type, BuiltinType::Kind kind) {
  const auto *builtin = type.getCanonicalType()->getAs<BuiltinType>();
  return builtin && builtin->getKind() == kind;
}
bool isFloat(QualType type) { return isKind(type, BuiltinType::Float); }

/// True for a double, and for pointers to and arrays of doubles.
bool isOfDoubles(QualType type) {
  while (!type->getPointeeType().isNull())
    type = type->getPointeeType();
  return isKind(QualType(type->getBaseElementTypeUnsafe(), 0), BuiltinType::Double);
}

/// Edits for one offer. Code that is instantiated several times has each place once.
struct PlacedEdits {
  std::vector<SliceEdit> edits{};
  std::set<std::pair<unsigned, unsigned>> seen{};

  void replace(unsigned begin, unsigned end, std::string text) {
    if (seen.insert({begin, end}).second)
      edits.push_back({begin, end, std::move(text)});
  }
  /// Insertions around a range. An outer range has to be wrapped before those within it. At one
  /// place, what closes a range comes before what begins one.
  void wrap(unsigned begin, unsigned end, std::string before, std::string after) {
    if (!seen.insert({begin, end}).second)
      return;
    edits.push_back({begin, begin, std::move(before)});
    edits.insert(edits.begin(), {end, end, std::move(after)});
  }
};

/// Calls that become others.
struct Calls : PlacedEdits {
  std::set<std::string> names{}; ///< of the functions that were called
  std::string helpers{};         ///< functions that have to be written for it
  unsigned place = ~0u;          ///< where: before the first of the text's that calls them
};

class ArithmeticFinder {
public:
  ArithmeticFinder(const KernelView &view, Refusals &refusals) : view_(view), refusals_(refusals) {}

  std::vector<Offer> run() {
    for (const BodyView &body : view_.bodies()) {
      changing_ = body.changingVariables();
      isForHost_ = body.function->hasAttr<CUDAHostAttr>();
      for (const ParmVarDecl *parameter : body.function->parameters())
        hasDouble_ |= isOfDoubles(parameter->getType());
      for (const Stmt *statement : body.statements) {
        if (const auto *call = dyn_cast<CallExpr>(statement))
          readCall(body, *call);
        else if (const auto *binary = dyn_cast<BinaryOperator>(statement))
          readDivision(*binary);
        else if (const auto *literal = dyn_cast<FloatingLiteral>(statement))
          readLiteral(body, *literal);
        else if (const auto *declared = dyn_cast<DeclStmt>(statement))
          for (const Decl *each : declared->decls())
            if (const auto *variable = dyn_cast<VarDecl>(each))
              hasDouble_ |= isOfDoubles(variable->getType());
      }
    }
    if (hasMixedDivisions_) {
      refusals_.add("a template divides numbers of several types at one place");
      divisions_ = reciprocals_ = PlacedEdits();
    }
    for (Calls *calls : {&powers_, &bounded_})
      if (!calls->edits.empty())
        calls->replace(calls->place, calls->place, calls->helpers);
    PlacedEdits both = divisions_;
    both.edits.insert(both.edits.end(), functions_.edits.begin(), functions_.edits.end());
    std::vector<Offer> offers;
    const auto add = [&](const std::string &title, const PlacedEdits &placed,
                         std::vector<OfferParameter> parameters = {}) {
      if (!placed.edits.empty())
        offers.push_back({"",
                          title,
                          "less accurate: verification compares the errors",
                          placed.edits,
                          {},
                          std::move(parameters)});
    };
    const std::string functions = "intrinsics for " + llvm::join(functions_.names, ", ");
    add("multiply instead of pow() with a whole exponent", powers_);
    if (!functions_.edits.empty() && !divisions_.edits.empty())
      add(functions + " and divisions", both);
    add(functions, functions_);
    add("intrinsics for " + llvm::join(bounded_.names, ", ") + " below ${BOUND}", bounded_,
        {{"BOUND", {512, 48}}});
    add("divide approximately", divisions_);
    add("multiply by reciprocals", reciprocals_);
    if (!hasDouble_)
      add("float literals in place of double ones", literals_);
    return offers;
  }

private:
  /// The bytes of a range of tokens; nothing, with a refusal, if a macro spells it.
  std::optional<TextSpan> placeOf(SourceRange range) {
    const auto span = spanOf(view_, range);
    if (!span)
      refusals_.add(range.getBegin(), "a macro spells the operation");
    return span;
  }

  /// The value of a constant; nothing for others.
  std::optional<APValue> constant(const Expr *expression) const {
    Expr::EvalResult result;
    return !expression->isValueDependent() && expression->EvaluateAsRValue(result, view_.context())
               ? std::optional(result.Val)
               : std::nullopt;
  }

  /// True for a constant, and for a parameter that the function does not change.
  bool isUniform(const Expr *expression) const {
    const VarDecl *variable = variableOf(expression);
    return (variable && isa<ParmVarDecl>(variable) && !changing_.contains(variable)) ||
           constant(expression);
  }

  void readCall(const BodyView &body, const CallExpr &call) {
    const FunctionDecl *callee = call.getDirectCallee();
    if (!callee || !callee->getIdentifier() || callee->getNumParams() == 0 ||
        view_.isInText(callee->getLocation()))
      return;
    const llvm::StringRef name = callee->getName();
    const QualType type = callee->getParamDecl(0)->getType();
    const bool isSingle = isFloat(type);
    const std::string intrinsic = isSingle ? intrinsicFor(name) : "";
    // An approximate power of a negative number is none.
    const bool isPower = (name == "pow" || name == "powf") && callee->getNumParams() == 2 &&
                         (isSingle || isKind(type, BuiltinType::Double)) &&
                         isUniform(call.getArg(1)->IgnoreParenImpCasts());
    if (!isPower && intrinsic.empty())
      return;
    if (isForHost_)
      return void(refusals_.add(call.getBeginLoc(), "the host may run the function, too"));
    const auto place = placeOf(call.getCallee()->getSourceRange());
    if (!place)
      return;
    if (isPower) {
      const std::string own = freshName(view_, "power") + (isSingle ? "" : "d");
      addHelper(powers_, body, *place, own, powerText(isSingle ? "float" : "double", own));
      return;
    }
    functions_.replace(place->begin, place->end, intrinsic);
    functions_.names.insert(name.str());
    const std::string own = freshName(view_, "near" + intrinsic.substr(2));
    if (const std::string text = boundedText(intrinsic, own); !text.empty()) {
      addHelper(bounded_, body, *place, own, text);
      bounded_.names.insert(name.str());
    }
  }

  /// Calls a function that is written before the first of the text's that calls such ones.
  void addHelper(Calls &calls, const BodyView &body, const TextSpan &callee,
                 const std::string &name, const std::string &text) const {
    calls.replace(callee.begin, callee.end, name);
    if (calls.helpers.find(text) == std::string::npos)
      calls.helpers += text;
    const FunctionDecl *pattern = body.function->getTemplateInstantiationPattern();
    const Decl *whole = pattern ? pattern : body.function;
    if (const Decl *generic = whole->getAsFunction()->getDescribedFunctionTemplate())
      whole = generic;
    const SourceManager &sources = view_.context().getSourceManager();
    calls.place =
        std::min(calls.place, sources.getFileOffset(sources.getExpansionLoc(whole->getBeginLoc())));
  }

  void readDivision(const BinaryOperator &division) {
    if (division.getOpcode() != BO_Div)
      return;
    // A template divides numbers of several types at one place.
    const QualType type = division.getType().getCanonicalType();
    const auto [known, isNew] =
        divided_.try_emplace(division.getOperatorLoc().getRawEncoding(), type);
    hasMixedDivisions_ |= !isNew && known->second != type;
    if (!type->isRealFloatingType())
      return;
    const Expr *divisor = division.getRHS();
    const auto value = constant(divisor);
    if (value && value->isFloat() &&
        (value->getFloat().getExactLog2Abs() != INT_MIN || constant(&division)))
      return; // the compiler multiplies already
    const auto left = placeOf(division.getLHS()->getSourceRange()),
               right = placeOf(divisor->getSourceRange());
    const auto sign = view_.offset(division.getOperatorLoc());
    if (!left || !right || !sign)
      return;
    const bool isSingle = isFloat(type);
    if (isUniform(divisor->IgnoreParenImpCasts()) && !constant(division.getLHS()) &&
        (isSingle || isKind(type, BuiltinType::Double))) {
      for (PlacedEdits *placed : {&reciprocals_, &divisions_}) {
        if (placed == &divisions_ && !isSingle)
          continue;
        placed->replace(*sign, *sign + 1, "*");
        placed->wrap(right->begin, right->end, isSingle ? "(1.0f / " : "(1.0 / ", ")");
      }
    } else if (isSingle && !isForHost_) {
      divisions_.wrap(left->begin, right->end, "__fdividef(", ")");
      divisions_.replace(left->end, *sign + 1, ",");
    }
  }

  /// A double literal beside a float: `x * 0.5`.
  void readLiteral(const BodyView &body, const FloatingLiteral &literal) {
    if (!isKind(literal.getType(), BuiltinType::Double))
      return;
    const Stmt *parent = body.parentOf(&literal);
    while (isa_and_nonnull<UnaryOperator>(parent))
      parent = body.parentOf(parent);
    const auto *binary = dyn_cast_or_null<BinaryOperator>(parent);
    const auto isWidened = [](const Expr *operand) {
      return isFloat(operand->IgnoreParenImpCasts()->getType());
    };
    if (!binary || (!isWidened(binary->getLHS()) && !isWidened(binary->getRHS())))
      return;
    llvm::APFloat value = literal.getValue();
    bool isInexact = false;
    const auto status =
        value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &isInexact);
    if ((status & ~llvm::APFloat::opInexact) != llvm::APFloat::opOK)
      return; // beyond what a float can hold
    const auto place = placeOf(literal.getSourceRange());
    if (place && llvm::isDigit(view_.text()[place->end - 1]))
      literals_.replace(place->end, place->end, "f");
    else if (place && view_.text()[place->end - 1] == '.')
      literals_.replace(place->end, place->end, "0f");
  }

  const KernelView &view_;
  Refusals &refusals_;
  Calls powers_, functions_, bounded_;
  PlacedEdits divisions_, reciprocals_, literals_;
  llvm::DenseMap<unsigned, QualType> divided_; ///< by place
  bool hasMixedDivisions_ = false;
  bool isForHost_ = false; ///< the function may run on the host, too: it has no intrinsics
  llvm::DenseSet<const VarDecl *> changing_; ///< in the body that is read
  bool hasDouble_ = false;                   ///< some variable is a double
};

} // namespace

std::vector<Offer> arithmeticOffers(const KernelView &view, Refusals &refusals) {
  return ArithmeticFinder(view, refusals).run();
}

} // namespace kopt::frontend
