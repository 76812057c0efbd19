// SPDX-License-Identifier: Apache-2.0
// arithmetic: cheaper operations of nearly the same value. Intrinsics for the functions of single
// precision, multiplications by reciprocals for divisions, products for powers with a small whole
// exponent, and float literals where a double one widens what is otherwise single precision.
// Refuses what a macro spells. How much accuracy that costs is for verification to judge.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/transform/ThreadOrder.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSwitch.h>
#include <map>
#include <set>

namespace kopt::frontend {

using namespace clang;

namespace {

/// The intrinsic for a function of floats; empty if there is none.
llvm::StringRef intrinsicFor(llvm::StringRef name) {
  name.consume_back("f");
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Case("sin", "__sinf")
      .Case("cos", "__cosf")
      .Case("sincos", "__sincosf")
      .Case("tan", "__tanf")
      .Case("exp", "__expf")
      .Case("exp10", "__exp10f")
      .Case("log", "__logf")
      .Case("log2", "__log2f")
      .Case("log10", "__log10f")
      .Case("pow", "__powf")
      .Default("");
}

/// A function whose intrinsic is accurate near 0 only, with the intrinsic behind a test. Empty for
/// other functions. ${NAME} is the name of what is written.
llvm::StringRef boundedText(llvm::StringRef intrinsic) {
  return llvm::StringSwitch<llvm::StringRef>(intrinsic)
      .Case("__sinf", "float ${NAME}(float x) {\n"
                      "  return fabsf(x) < ${BOUND}.0f ? __sinf(x) : sinf(x);\n}\n\n")
      .Case("__cosf", "float ${NAME}(float x) {\n"
                      "  return fabsf(x) < ${BOUND}.0f ? __cosf(x) : cosf(x);\n}\n\n")
      .Case("__tanf", "float ${NAME}(float x) {\n"
                      "  return fabsf(x) < ${BOUND}.0f ? __tanf(x) : tanf(x);\n}\n\n")
      .Case("__sincosf", "void ${NAME}(float x, float *sine, float *cosine) {\n"
                         "  if (fabsf(x) < ${BOUND}.0f)\n    __sincosf(x, sine, cosine);\n"
                         "  else\n    sincosf(x, sine, cosine);\n}\n\n")
      .Default("");
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
class PlacedEdits {
public:
  bool empty() const { return edits_.empty(); }
  void replace(unsigned begin, unsigned end, std::string text) {
    if (seen_.insert({begin, end}).second)
      edits_.push_back({begin, end, std::move(text)});
  }
  /// Insertions around a range. An outer range has to be wrapped before those within it.
  void wrap(unsigned begin, unsigned end, std::string before, std::string after) {
    if (!seen_.insert({begin, end}).second)
      return;
    edits_.push_back({begin, begin, std::move(before)});
    closing_.push_back({end, end, std::move(after)});
  }
  void append(const PlacedEdits &other) {
    edits_.insert(edits_.end(), other.edits_.begin(), other.edits_.end());
    closing_.insert(closing_.end(), other.closing_.begin(), other.closing_.end());
  }
  /// In order of the text; at one place, what closes a range comes before what begins one,
  /// and that before what replaces it.
  std::vector<SliceEdit> sorted() const {
    std::vector<SliceEdit> all(closing_.rbegin(), closing_.rend());
    all.insert(all.end(), edits_.begin(), edits_.end());
    llvm::stable_sort(all, [](const SliceEdit &a, const SliceEdit &b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    return all;
  }

private:
  std::vector<SliceEdit> edits_, closing_;
  std::set<std::pair<unsigned, unsigned>> seen_;
};

/// Calls that become others.
struct Calls {
  PlacedEdits edits;
  std::set<std::string> names;          ///< of the functions that were called
  std::set<const FunctionDecl *> users; ///< that call them
  std::string helpers;                  ///< functions that have to be written for it
};

class ArithmeticFinder {
public:
  ArithmeticFinder(const KernelView &view, Refusals &refusals) : view_(view), refusals_(refusals) {}

  std::vector<Offer> run() {
    for (const BodyView &body : view_.bodies()) {
      readVariables(body);
      for (const Stmt *statement : body.statements) {
        if (const auto *call = dyn_cast<CallExpr>(statement))
          readCall(body, *call);
        else if (const auto *binary = dyn_cast<BinaryOperator>(statement))
          readDivision(*binary);
        else if (const auto *literal = dyn_cast<FloatingLiteral>(statement))
          readLiteral(body, *literal);
      }
    }
    const std::string functions = llvm::join(functions_.names, ", ");
    if (hasMixedDivisions_) {
      refusals_.add("a template divides numbers of several types at one place");
      divisions_ = reciprocals_ = PlacedEdits();
    }
    PlacedEdits both = functions_.edits;
    both.append(divisions_);
    std::vector<Offer> offers;
    const auto add = [&](const std::string &title, const PlacedEdits &edits) {
      if (!edits.empty())
        offers.push_back(
            {"", title, "less accurate: verification compares the errors", edits.sorted(), {}});
    };
    if (!powers_.edits.empty()) {
      powers_.helpers = powerHelpers();
      addHelpers(powers_);
    }
    if (!bounded_.edits.empty())
      addHelpers(bounded_);
    add("multiply instead of pow() with a whole exponent", powers_.edits);
    if (!functions_.edits.empty() && !divisions_.empty())
      add("intrinsics for " + functions + " and divisions", both);
    add("intrinsics for " + functions, functions_.edits);
    add("intrinsics for " + llvm::join(bounded_.names, ", ") + " below ${BOUND}", bounded_.edits);
    if (!bounded_.edits.empty())
      offers.back().parameters = {{"BOUND", {512, 48}}};
    add("divide approximately", divisions_);
    add("multiply by reciprocals", reciprocals_);
    if (!hasDouble_)
      add("float literals in place of double ones", literals_);
    return offers;
  }

private:
  void readVariables(const BodyView &body) {
    changed_.clear();
    for (const ParmVarDecl *parameter : body.function->parameters())
      hasDouble_ |= isOfDoubles(parameter->getType());
    for (const Stmt *statement : body.statements) {
      if (const auto *unary = dyn_cast<UnaryOperator>(statement);
          unary && (unary->isIncrementDecrementOp() || unary->getOpcode() == UO_AddrOf))
        changed_.insert(variableOf(unary->getSubExpr()));
      else if (const auto *set = dyn_cast<BinaryOperator>(statement); set && set->isAssignmentOp())
        changed_.insert(variableOf(set->getLHS()));
      else if (const auto *declared = dyn_cast<DeclStmt>(statement))
        for (const Decl *each : declared->decls())
          if (const auto *variable = dyn_cast<VarDecl>(each))
            hasDouble_ |= isOfDoubles(variable->getType());
    }
  }

  /// The bytes of a range of tokens; nothing, with a refusal, if a macro spells it.
  std::optional<std::pair<unsigned, unsigned>> placeOf(SourceRange range) {
    const auto begin = view_.offset(range.getBegin()), end = view_.endOffset(range.getEnd());
    if (begin && end)
      return std::pair(*begin, *end);
    refusals_.add(range.getBegin(), "a macro spells the operation");
    return std::nullopt;
  }

  /// True for a constant, and for a parameter that the function does not change.
  bool isUniform(const Expr *expression) const {
    const VarDecl *variable = variableOf(expression);
    Expr::EvalResult result;
    return (variable && isa<ParmVarDecl>(variable) && !changed_.contains(variable)) ||
           (!expression->isValueDependent() &&
            expression->EvaluateAsRValue(result, view_.context()));
  }

  void readCall(const BodyView &body, const CallExpr &call) {
    const FunctionDecl *callee = call.getDirectCallee();
    if (!callee || !callee->getIdentifier() || callee->getNumParams() == 0 ||
        view_.isInText(callee->getLocation()))
      return;
    const llvm::StringRef name = callee->getName();
    const QualType type = callee->getParamDecl(0)->getType();
    const bool isSingle = isFloat(type);
    const bool isPower = (name == "pow" || name == "powf") && callee->getNumParams() == 2 &&
                         (isSingle || isKind(type, BuiltinType::Double)) &&
                         isUniform(call.getArg(1)->IgnoreParenImpCasts());
    if (!isPower && (!isSingle || intrinsicFor(name).empty()))
      return;
    const auto place = placeOf(call.getCallee()->getSourceRange());
    if (!place)
      return;
    if (isPower) {
      powers_.edits.replace(place->first, place->second,
                            isSingle ? powerName() : powerName() + "d");
      powerTypes_.insert(isSingle ? "float" : "double");
      powers_.users.insert(body.function);
    }
    // An approximate power of a negative number is none.
    if (isSingle && !isPower && !intrinsicFor(name).empty()) {
      functions_.edits.replace(place->first, place->second, intrinsicFor(name).str());
      functions_.names.insert(name.str());
      addBounded(body, *place, name, intrinsicFor(name));
    }
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
    Expr::EvalResult value;
    const bool isConstant = !division.isValueDependent() &&
                            divisor->EvaluateAsRValue(value, view_.context()) &&
                            value.Val.isFloat();
    Expr::EvalResult whole;
    if (isConstant && (value.Val.getFloat().getExactLog2Abs() != INT_MIN ||
                       division.EvaluateAsRValue(whole, view_.context())))
      return; // the compiler multiplies already
    const auto left = placeOf(division.getLHS()->getSourceRange()),
               right = placeOf(divisor->getSourceRange());
    const auto sign = view_.offset(division.getOperatorLoc());
    if (!left || !right || !sign)
      return;
    const bool isSingle = isFloat(division.getType());
    const bool isOfOne = division.getLHS()->EvaluateAsRValue(whole, view_.context());
    if (isUniform(divisor->IgnoreParenImpCasts()) && !isOfOne &&
        (isSingle || isKind(division.getType(), BuiltinType::Double))) {
      const auto multiply = [&](PlacedEdits &edits) {
        edits.replace(*sign, *sign + 1, "*");
        edits.wrap(right->first, right->second, isSingle ? "(1.0f / " : "(1.0 / ", ")");
      };
      multiply(reciprocals_);
      if (isSingle)
        multiply(divisions_);
    } else if (isSingle) {
      divisions_.wrap(left->first, right->second, "__fdividef(", ")");
      divisions_.replace(left->second, *sign + 1, ",");
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
    if (place && llvm::isDigit(view_.text()[place->second - 1]))
      literals_.replace(place->second, place->second, "f");
    else if (place && view_.text()[place->second - 1] == '.')
      literals_.replace(place->second, place->second, "0f");
  }

  std::string powerName() {
    if (powerName_.empty())
      powerName_ = freshName(view_, "power");
    return powerName_;
  }

  void addBounded(const BodyView &body, std::pair<unsigned, unsigned> place, llvm::StringRef name,
                  llvm::StringRef intrinsic) {
    if (boundedText(intrinsic).empty())
      return;
    const std::string own = freshName(view_, ("near" + intrinsic.drop_front(2)).str());
    bounded_.edits.replace(place.first, place.second, own);
    bounded_.users.insert(body.function);
    bounded_.names.insert(name.str());
    std::string text = "// The intrinsic, where its argument is small enough for it.\n"
                       "static __device__ __forceinline__ " +
                       boundedText(intrinsic).str();
    text.replace(text.find("${NAME}"), 7, own);
    if (bounded_.helpers.find(text) == std::string::npos)
      bounded_.helpers += text;
  }

  /// Writes functions before the first of the text's that calls them.
  void addHelpers(Calls &calls) const {
    unsigned first = unsigned(view_.text().size());
    for (const FunctionDecl *user : calls.users) {
      const FunctionDecl *pattern = user->getTemplateInstantiationPattern();
      const FunctionDecl &declared = pattern ? *pattern : *user;
      const Decl *whole = declared.getDescribedFunctionTemplate();
      if (!whole)
        whole = &declared;
      const SourceManager &sources = view_.context().getSourceManager();
      first = std::min(first, sources.getFileOffset(sources.getExpansionLoc(whole->getBeginLoc())));
    }
    calls.edits.replace(first, first, calls.helpers);
  }

  std::string powerHelpers() const {
    std::string text;
    for (const std::string &type : powerTypes_) {
      const bool isSingle = type == "float";
      text += "// pow(), without it where the exponent is a small whole number.\n"
              "static __device__ __forceinline__ " +
              type + " " + powerName_ + (isSingle ? "" : "d") + "(" + type + " x, " + type +
              " exponent) {\n"
              "  if (exponent == 1)\n"
              "    return x;\n"
              "  if (exponent == 2)\n"
              "    return x * x;\n"
              "  if (exponent == 3)\n"
              "    return x * x * x;\n"
              "  if (exponent == 4)\n"
              "    return x * x * (x * x);\n"
              "  return " +
              (isSingle ? "powf" : "pow") + "(x, exponent);\n}\n\n";
    }
    return text;
  }

  const KernelView &view_;
  Refusals &refusals_;
  Calls powers_, functions_, bounded_;
  PlacedEdits divisions_, reciprocals_, literals_;
  llvm::DenseMap<unsigned, QualType> divided_; ///< by place
  bool hasMixedDivisions_ = false;
  llvm::DenseSet<const VarDecl *> changed_; ///< variables that the body assigns to
  bool hasDouble_ = false;                  ///< some variable is a double
  std::string powerName_;
  std::set<std::string> powerTypes_;
};

} // namespace

std::vector<Offer> arithmeticOffers(const KernelView &view, Refusals &refusals) {
  return ArithmeticFinder(view, refusals).run();
}

} // namespace kopt::frontend
