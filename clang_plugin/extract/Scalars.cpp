// SPDX-License-Identifier: Apache-2.0
// Arithmetic of launch configurations. Real numbers keep their casts, so that ceil((float)n / 32)
// keeps its value; integers are assumed to be wide enough for their values.
#include "clang_plugin/extract/Geometry.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/Support/SaveAndRestore.h>

namespace kopt::frontend {

using clang::Expr;

namespace {

constexpr std::size_t kLongestText = 2000;

std::string spellReal(double value) {
  std::string text(32, '\0');
  text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.17g", value)));
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::optional<std::int64_t> numberIn(const std::string &text) {
  std::int64_t value = 0;
  llvm::StringRef digits = text;
  bool negative = digits.consume_front("(0 - ") && digits.consume_back(")");
  if (digits.empty() || !llvm::isDigit(digits.front()) || digits.getAsInteger(10, value))
    return std::nullopt;
  return negative ? -value : value;
}

std::string spell(std::int64_t value) {
  return value < 0 ? "(0 - " + std::to_string(-value) + ")" : std::to_string(value);
}

/// The result of an operation on two numbers, if it certainly does not overflow.
std::optional<std::int64_t> computed(clang::BinaryOperatorKind kind, std::int64_t a,
                                     std::int64_t b) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31; // products of smaller numbers fit
  if (a < 0 || b < 0 || a >= kMost || b >= kMost)
    return std::nullopt;
  switch (kind) {
  case clang::BO_Mul:
    return a * b;
  case clang::BO_Add:
    return a + b;
  case clang::BO_Sub:
    return a >= b ? std::optional(a - b) : std::nullopt;
  case clang::BO_Div:
    return b ? std::optional(a / b) : std::nullopt;
  case clang::BO_Rem:
    return b ? std::optional(a % b) : std::nullopt;
  case clang::BO_Shl:
    return b < 31 ? std::optional(a << b) : std::nullopt;
  case clang::BO_Shr:
    return b < 31 ? std::optional(a >> b) : std::nullopt;
  case clang::BO_And:
    return a & b;
  case clang::BO_Or:
    return a | b;
  case clang::BO_Xor:
    return a ^ b;
  case clang::BO_LT:
    return a < b;
  case clang::BO_GT:
    return a > b;
  case clang::BO_LE:
    return a <= b;
  case clang::BO_GE:
    return a >= b;
  case clang::BO_EQ:
    return a == b;
  case clang::BO_NE:
    return a != b;
  case clang::BO_LAnd:
    return a && b;
  case clang::BO_LOr:
    return a || b;
  default:
    return std::nullopt;
  }
}

std::string integerType(const clang::ASTContext &context, clang::QualType type) {
  bool isSigned = type->isSignedIntegerOrEnumerationType();
  switch (context.getTypeSize(type)) {
  case 8:
    return isSigned ? "signed char" : "unsigned char";
  case 16:
    return isSigned ? "short" : "unsigned short";
  case 32:
    return isSigned ? "int" : "unsigned int";
  default:
    return isSigned ? "long long" : "unsigned long long";
  }
}

} // namespace

std::optional<GeometryReader::Term> GeometryReader::fail(const std::string &why) {
  if (reason_.empty())
    reason_ = why;
  return std::nullopt;
}

std::optional<GeometryReader::Term> GeometryReader::limited(std::string text, bool real) {
  if (text.size() > kLongestText)
    return fail("an expression of more than 2000 characters");
  return Term{std::move(text), real, ""};
}

GeometryReader::Term GeometryReader::nameOf(const NamedConstant &constant) {
  bool isFree = mayName_(constant);
  for (const NamedConstant &known : used_.constants)
    isFree &= known.name != constant.name || known.valueRange == constant.valueRange;
  if (!isFree)
    return {std::to_string(constant.value), false, ""};
  used_.constants.push_back(constant);
  return {constant.name, false, ""};
}

std::optional<GeometryReader::Term> GeometryReader::folded(const Expr *expression) {
  Expr::EvalResult result;
  if (!expression->isValueDependent() && expression->getType()->isIntegralOrEnumerationType() &&
      expression->EvaluateAsInt(result, context_) && result.Val.getInt().isRepresentableByInt64())
    return Term{spell(result.Val.getInt().getExtValue()), false, ""};
  return std::nullopt;
}

std::optional<GeometryReader::Term> GeometryReader::combine(clang::BinaryOperatorKind kind,
                                                            const Term &left, const Term &right,
                                                            clang::QualType type) {
  static const std::set<clang::BinaryOperatorKind> kIntegers = {
      clang::BO_Mul, clang::BO_Div,  clang::BO_Rem, clang::BO_Add, clang::BO_Sub, clang::BO_Shl,
      clang::BO_Shr, clang::BO_LT,   clang::BO_GT,  clang::BO_LE,  clang::BO_GE,  clang::BO_EQ,
      clang::BO_NE,  clang::BO_LAnd, clang::BO_LOr, clang::BO_And, clang::BO_Or,  clang::BO_Xor};
  static const std::set<clang::BinaryOperatorKind> kReals = {
      clang::BO_Mul, clang::BO_Div, clang::BO_Add, clang::BO_Sub, clang::BO_LT,
      clang::BO_GT,  clang::BO_LE,  clang::BO_GE,  clang::BO_EQ,  clang::BO_NE};
  bool real = left.real || right.real;
  bool logical = clang::BinaryOperator::isLogicalOp(kind);
  std::string op = clang::BinaryOperator::getOpcodeStr(kind).str();
  if (!(real && !logical ? kReals : kIntegers).count(kind))
    return fail("the operator '" + op + "'");
  if (!real)
    if (std::optional<std::int64_t> a = numberIn(left.text), b = numberIn(right.text); a && b)
      if (std::optional<std::int64_t> number = computed(kind, *a, *b))
        return Term{spell(*number), false, ""};
  std::string text = "(" + left.text + " " + op + " " + right.text + ")";
  bool gives = real && !logical && !clang::BinaryOperator::isComparisonOp(kind);
  // A quotient of floats, computed in double and rounded, is the float quotient.
  if (gives && context_.getTypeSize(type) == 32)
    text = "(float)" + text;
  return limited(std::move(text), gives);
}

std::optional<GeometryReader::Term> GeometryReader::binary(const clang::BinaryOperator *operation,
                                                           Where where) {
  if (operation->getOpcode() == clang::BO_Assign || operation->getOpcode() == clang::BO_Comma)
    return scalar(operation->getRHS(), where);
  auto isNumber = [](const Expr *side) {
    return side->getType()->isIntegralOrEnumerationType() || side->getType()->isRealFloatingType();
  };
  if (operation->isAssignmentOp() || !isNumber(operation->getLHS()) ||
      !isNumber(operation->getRHS()))
    return fail("the operator '" + operation->getOpcodeStr().str() + "'");
  std::optional<Term> left = scalar(operation->getLHS(), where);
  if (!left)
    return std::nullopt;
  std::optional<Term> right = scalar(operation->getRHS(), where);
  if (!right)
    return std::nullopt;
  return combine(operation->getOpcode(), *left, *right, operation->getType());
}

std::optional<GeometryReader::Term> GeometryReader::unary(const clang::UnaryOperator *operation,
                                                          Where where) {
  switch (operation->getOpcode()) {
  case clang::UO_Plus:
  case clang::UO_Extension:
    return scalar(operation->getSubExpr(), where);
  case clang::UO_Minus:
  case clang::UO_Not:
  case clang::UO_LNot: {
    std::optional<Term> value = scalar(operation->getSubExpr(), where);
    if (!value)
      return std::nullopt;
    if (operation->getOpcode() == clang::UO_Minus)
      return limited("(0 - " + value->text + ")", value->real);
    if (std::optional<std::int64_t> number = numberIn(value->text);
        number && operation->getOpcode() == clang::UO_LNot)
      return Term{*number ? "0" : "1", false, ""};
    return limited("(" + clang::UnaryOperator::getOpcodeStr(operation->getOpcode()).str() +
                       value->text + ")",
                   false);
  }
  default:
    return fail("the operator '" +
                clang::UnaryOperator::getOpcodeStr(operation->getOpcode()).str() + "'");
  }
}

std::optional<GeometryReader::Term> GeometryReader::choose(const Term &condition, const Term &yes,
                                                           const Term &no) {
  if (yes.text == no.text)
    return yes;
  if (std::optional<std::int64_t> known = numberIn(condition.text))
    return *known ? yes : no;
  return limited("(" + condition.text + " ? " + yes.text + " : " + no.text + ")",
                 yes.real || no.real);
}

std::optional<GeometryReader::Term> GeometryReader::scalarCast(const clang::CastExpr *cast,
                                                               Where where) {
  const Expr *inner = cast->getSubExpr();
  clang::QualType to = cast->getType(), from = inner->getType();
  switch (cast->getCastKind()) {
  case clang::CK_LValueToRValue:
  case clang::CK_NoOp:
  case clang::CK_ConstructorConversion:
  case clang::CK_UserDefinedConversion:
  case clang::CK_FunctionToPointerDecay:
    return scalar(inner, where);
  case clang::CK_IntegralCast: {
    std::optional<Term> value = scalar(inner, where);
    // Narrow types truncate values; wider ones are assumed to hold them.
    if (value && context_.getTypeSize(to) < 32 &&
        context_.getTypeSize(to) < context_.getTypeSize(from) && !folded(inner))
      return limited("((" + integerType(context_, to) + ")" + value->text + ")", false);
    return value;
  }
  case clang::CK_IntegralToBoolean:
  case clang::CK_FloatingToBoolean: {
    std::optional<Term> value = scalar(inner, where);
    return value ? combine(clang::BO_NE, *value, {"0", false, ""}, to) : value;
  }
  case clang::CK_IntegralToFloating: {
    std::optional<Term> value = scalar(inner, where);
    if (!value)
      return std::nullopt;
    bool isDouble = context_.getTypeSize(to) == 64;
    if (value->text.find_first_not_of("0123456789") == std::string::npos)
      return Term{value->text + ".0", true, isDouble ? value->text : ""};
    return Term{(isDouble ? "(double)" : "(float)") + value->text, true,
                isDouble ? value->text : ""};
  }
  case clang::CK_FloatingToIntegral: {
    std::optional<Term> value = scalar(inner, where);
    if (!value)
      return std::nullopt;
    if (!value->whole.empty())
      return Term{value->whole, false, ""};
    return limited("(" + integerType(context_, to) + ")" + value->text, false);
  }
  case clang::CK_FloatingCast: {
    std::optional<Term> value = scalar(inner, where);
    if (value && context_.getTypeSize(to) < context_.getTypeSize(from))
      return limited("(float)" + value->text, true);
    return value;
  }
  default:
    return folded(cast) ? folded(cast) : fail("a conversion to '" + to.getAsString() + "'");
  }
}

/// A constant is written by its name, a variable by its value.
std::optional<GeometryReader::Term> GeometryReader::named(const clang::ValueDecl *declaration,
                                                          const Expr *expression, Where where) {
  if (std::optional<NamedConstant> constant = constants_.find(declaration))
    return nameOf(*constant);
  if (const auto *enumerator = llvm::dyn_cast<clang::EnumConstantDecl>(declaration)) {
    Frame outside;
    if (enumerator->getInitExpr())
      if (std::optional<Term> value =
              scalar(enumerator->getInitExpr(), {&outside, enumerator->getInitExpr()}))
        return value;
    return folded(expression);
  }
  if (std::optional<Place> found = placeOf(expression, context_))
    return place(*found, where);
  return fail("'" + declaration->getNameAsString() + "'");
}

/// blockDim.x and similar variables, in a kernel that launches others.
std::optional<GeometryReader::Term>
GeometryReader::builtinVariable(const clang::PseudoObjectExpr *property) {
  const auto *access =
      llvm::dyn_cast<clang::MSPropertyRefExpr>(property->getSyntacticForm()->IgnoreParens());
  const Expr *base = access ? access->getBaseExpr() : nullptr;
  if (const auto *opaque = llvm::dyn_cast_or_null<clang::OpaqueValueExpr>(base))
    base = opaque->getSourceExpr();
  const auto *variable = llvm::dyn_cast_or_null<clang::DeclRefExpr>(strip(base));
  if (!variable)
    return fail("a property");
  std::string text =
      variable->getDecl()->getNameAsString() + "." + access->getPropertyDecl()->getNameAsString();
  used_.variables.insert(text);
  return Term{text, false, ""};
}

std::optional<GeometryReader::Term> GeometryReader::scalar(const Expr *expression, Where where) {
  if (!expression || expression->isTypeDependent() || depth_ > 200)
    return fail("an expression that depends on template parameters");
  const llvm::SaveAndRestore guard(depth_, depth_ + 1);

  if (const auto *parens = llvm::dyn_cast<clang::ParenExpr>(expression))
    return scalar(parens->getSubExpr(), where);
  if (const auto *full = llvm::dyn_cast<clang::FullExpr>(expression)) // ConstantExpr too
    return scalar(full->getSubExpr(), where);
  if (const auto *temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression))
    return scalar(temporary->getSubExpr(), where);
  if (const auto *substituted = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expression))
    return scalar(substituted->getReplacement(), where);
  if (const auto *standard = llvm::dyn_cast<clang::CXXDefaultArgExpr>(expression))
    return scalar(standard->getExpr(), where);
  if (const auto *standard = llvm::dyn_cast<clang::CXXDefaultInitExpr>(expression))
    return scalar(standard->getExpr(), where);
  if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(expression);
      list && list->getNumInits() == 1)
    return scalar(list->getInit(0), where);
  if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(expression);
      list && list->getNumInits() == 0)
    return Term{"0", false, ""};
  if (llvm::isa<clang::ImplicitValueInitExpr, clang::CXXScalarValueInitExpr>(expression))
    return Term{"0", false, ""};

  if (const auto *literal = llvm::dyn_cast<clang::IntegerLiteral>(expression)) {
    if (std::optional<NamedConstant> constant = constants_.findMacroAt(literal->getLocation()))
      return nameOf(*constant);
    return Term{llvm::toString(literal->getValue(), 10, false), false, ""};
  }
  if (const auto *literal = llvm::dyn_cast<clang::FloatingLiteral>(expression))
    return Term{spellReal(literal->getValueAsApproximateDouble()), true, ""};
  if (const auto *cast = llvm::dyn_cast<clang::CastExpr>(expression))
    return scalarCast(cast, where);
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression))
    return named(reference->getDecl(), reference, where);
  if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(expression)) {
    if (placeOf(member, context_))
      return named(member->getMemberDecl(), member, where);
    if (const auto *field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl()))
      return component(member->getBase(),
                       {{"." + field->getNameAsString(), field, nullptr, field->getType()}}, where);
    return folded(member);
  }
  if (std::optional<Place> element = placeOf(expression, context_))
    return place(*element, where);
  if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(expression))
    return binary(operation, where);
  if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(expression))
    return unary(operation, where);
  if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(expression)) {
    std::optional<Term> condition = scalar(choice->getCond(), where);
    std::optional<Term> yes = condition ? scalar(choice->getTrueExpr(), where) : std::nullopt;
    std::optional<Term> no = yes ? scalar(choice->getFalseExpr(), where) : std::nullopt;
    return no ? choose(*condition, *yes, *no) : std::nullopt;
  }
  if (const auto *invocation = llvm::dyn_cast<clang::CallExpr>(expression))
    return call(invocation, {}, where);
  if (const auto *property = llvm::dyn_cast<clang::PseudoObjectExpr>(expression))
    return builtinVariable(property);
  if (std::optional<Term> number = folded(expression))
    return number;
  return fail(std::string("an expression of the kind ") + expression->getStmtClassName());
}

} // namespace kopt::frontend
