// SPDX-License-Identifier: Apache-2.0
#include "driver/source/Expression.h"

#include "driver/source/ExpressionTree.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace kopt {
namespace {

using expression::Code;
using expression::Node;
using expression::Parsed;
using expression::Type;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

/// An integer or a floating-point number: C code computes grid sizes with ceil(n / 32.0f), so
/// intermediate values may be floating-point.
struct Value {
  bool real = false;
  union {
    std::int64_t integer;
    double number;
  };

  double asReal() const { return real ? number : double(integer); }
  bool truth() const { return real ? number != 0 : integer != 0; }
};

Value realValue(double value) { return {.real = true, .number = value}; }

tl::unexpected<Error> failAt(const Parsed &parsed, const Node &node, const std::string &what) {
  return makeError(ErrorCode::Usage,
                   what + " in '" + parsed.text + "' at column " + std::to_string(node.column));
}

/// `Number` is of names and of the whole: integers, with values between them as in C;
/// floating-point ones all; or each of its own kind, as in C.
template <class Number> class Evaluation {
public:
  static constexpr bool kReal = std::is_same_v<Number, double>;

  Evaluation(const Parsed &parsed, std::span<const Number> values)
      : parsed_(parsed), values_(values) {
    assert(values.size() == parsed.names.size() && "one value for each name");
  }

  Result<Number> run() {
    const Value value = valueOf(parsed_.tree);
    const Number result = finish(value);
    if (!fault_.empty())
      return failAt(parsed_, faulty_ ? *faulty_ : parsed_.tree, fault_);
    return result;
  }

private:
  /// Once an operation has failed, all others are skipped.
  Value valueOf(const Node &node) {
    const auto part = [&](std::size_t i) { return faulty_ ? whole(0) : valueOf(node.parts[i]); };
    switch (node.code) {
    case Code::Integer:
      return whole(node.integer);
    case Code::Real:
      return realValue(node.real);
    case Code::Name:
      return valueOf(values_[node.index]);
    case Code::AndThen:
    case Code::OrElse: {
      const bool decides = node.code == Code::OrElse;
      return whole(part(0).truth() == decides ? decides : part(1).truth());
    }
    case Code::Conditional:
      return part(part(0).truth() ? 1 : 2);
    default:
      break;
    }
    const Value first = part(0), second = node.parts.size() > 1 ? part(1) : whole(0);
    if (faulty_)
      return first;
    const Value result = node.code == Code::Cast  ? cast(node.type, first)
                         : node.parts.size() == 1 ? unary(node.code, first)
                                                  : binary(node.code, first, second);
    if (!fault_.empty())
      faulty_ = &node;
    return result;
  }

  static Value valueOf(std::int64_t value) { return whole(value); }
  static Value valueOf(double value) { return realValue(value); }
  static Value valueOf(const MixedNumber &value) {
    return std::visit([](auto number) { return valueOf(number); }, value);
  }

  static Value whole(std::int64_t value) {
    if constexpr (kReal)
      return realValue(double(value));
    else
      return {.real = false, .integer = value};
  }

  Value fail(std::string what) {
    fault_ = std::move(what);
    return whole(0);
  }
  Value notOfReals(Code code) {
    return fail("'" + std::string(expression::spelling(code)) + "' of a floating-point value");
  }

  Number finish(const Value &value) {
    if constexpr (std::is_same_v<Number, std::int64_t>) {
      return toInteger(value);
    } else {
      if (value.real && !std::isfinite(value.number))
        fault_ = "a result that is not a finite number";
      if constexpr (kReal)
        return value.number;
      else
        return value.real ? MixedNumber(value.number) : MixedNumber(value.integer);
    }
  }

  std::int64_t toInteger(const Value &value) {
    if (!value.real)
      return value.integer;
    const double truncated = std::trunc(value.number);
    if (std::fabs(truncated) < 9.2e18)
      return std::int64_t(truncated);
    fault_ = "a value that is not a 64-bit integer";
    return 0;
  }

  Value cast(const Type &type, const Value &value) {
    if (type.real)
      return realValue(type.bytes == 4 ? double(float(value.asReal())) : value.asReal());
    if (type.boolean)
      return whole(value.truth());
    const std::int64_t integer = toInteger(value);
    if (type.bytes >= 8)
      return whole(integer);
    const unsigned bits = type.bytes * 8;
    std::uint64_t low = std::uint64_t(integer) & ((std::uint64_t(1) << bits) - 1);
    if (!type.isUnsigned && (low >> (bits - 1)))
      low |= ~std::uint64_t(0) << bits;
    return whole(std::int64_t(low));
  }

  Value unary(Code code, const Value &a) {
    switch (code) {
    case Code::Not:
      return whole(!a.truth());
    case Code::Negate:
      if (a.real)
        return realValue(-a.number);
      return a.integer == kLeast ? fail("overflow") : whole(-a.integer);
    case Code::Absolute:
      if (a.real)
        return realValue(std::fabs(a.number));
      return a.integer == kLeast ? fail("overflow") : whole(std::llabs(a.integer));
    case Code::Complement:
      return a.real ? notOfReals(code) : whole(~a.integer);
    default:
      // If the front end dropped a cast to float, ceil((float)n / 32) would give a smaller value.
      if (!a.real)
        return fail("'" + std::string(expression::spelling(code)) +
                    "' of an integer division or value");
      return realValue(code == Code::Ceil ? std::ceil(a.number) : std::floor(a.number));
    }
  }

  Value binary(Code code, const Value &a, const Value &b) {
    if (a.real || b.real)
      return arithmetic(code, a.asReal(), b.asReal());
    return arithmetic(code, a.integer, b.integer);
  }

  /// The comparisons, which are the same for both kinds of numbers.
  template <class T> Value compare(Code code, T a, T b) {
    switch (code) {
    case Code::Less:
      return whole(a < b);
    case Code::Greater:
      return whole(a > b);
    case Code::LessEqual:
      return whole(a <= b);
    case Code::GreaterEqual:
      return whole(a >= b);
    case Code::Equal:
      return whole(a == b);
    default:
      return whole(a != b);
    }
  }
  static bool isComparison(Code code) { return code >= Code::Less && code <= Code::NotEqual; }

  Value arithmetic(Code code, double a, double b) {
    if (isComparison(code))
      return compare(code, a, b);
    switch (code) {
    case Code::Add:
      return realValue(a + b);
    case Code::Subtract:
      return realValue(a - b);
    case Code::Multiply:
      return realValue(a * b);
    case Code::Divide:
      return b != 0 ? realValue(a / b) : fail("division by zero");
    case Code::Minimum:
      return realValue(std::min(a, b));
    case Code::Maximum:
      return realValue(std::max(a, b));
    case Code::CeilDiv:
      return fail("ceil_div of a floating-point value");
    case Code::Remainder:
      if (kReal)
        return b != 0 ? realValue(std::fmod(a, b)) : fail("division by zero");
      [[fallthrough]];
    default:
      return notOfReals(code);
    }
  }

  Value arithmetic(Code code, std::int64_t a, std::int64_t b) {
    if (isComparison(code))
      return compare(code, a, b);
    std::int64_t result = 0;
    bool overflow = false;
    switch (code) {
    case Code::Add:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Code::Subtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Code::Multiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case Code::Divide:
    case Code::Remainder:
      if (b == 0)
        return fail("division by zero");
      overflow = a == kLeast && b == -1;
      if (!overflow)
        result = code == Code::Divide ? a / b : a % b;
      break;
    case Code::ShiftLeft:
    case Code::ShiftRight:
      if (b < 0 || b > 63)
        return fail("a shift by " + std::to_string(b));
      if (code == Code::ShiftRight)
        result = a >> b;
      else
        overflow = b == 63 ? a != 0 : __builtin_mul_overflow(a, std::int64_t(1) << b, &result);
      break;
    case Code::CeilDiv:
      if (b <= 0 || a < 0)
        return fail("ceil_div needs a dividend of at least 0 and a divisor of at least 1");
      result = a / b + (a % b != 0);
      break;
    case Code::Minimum:
      result = std::min(a, b);
      break;
    case Code::Maximum:
      result = std::max(a, b);
      break;
    case Code::BitAnd:
      result = a & b;
      break;
    case Code::BitOr:
      result = a | b;
      break;
    default:
      result = a ^ b;
    }
    return overflow ? fail("overflow") : whole(result);
  }

  const Parsed &parsed_;
  std::span<const Number> values_;
  std::string fault_;            ///< why an operation failed; empty if none did
  const Node *faulty_ = nullptr; ///< that operation
};

bool needsIntegers(Code code) {
  switch (code) {
  case Code::Complement:
  case Code::ShiftLeft:
  case Code::ShiftRight:
  case Code::BitAnd:
  case Code::BitXor:
  case Code::BitOr:
  case Code::CeilDiv:
    return true;
  default:
    return false;
  }
}

/// The first operation that has no meaning in double precision; null if there is none.
const Node *integersNeededIn(const Node &node) {
  for (const Node &part : node.parts)
    if (const Node *found = integersNeededIn(part))
      return found;
  return needsIntegers(node.code) ? &node : nullptr;
}

} // namespace

Expression::Expression(std::shared_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}

Result<Expression> Expression::parse(std::string_view text) {
  KOPT_TRY(Parsed parsed, expression::parse(text));
  return Expression(std::make_shared<const Parsed>(std::move(parsed)));
}

Result<Expression> Expression::parseReal(std::string_view text) {
  KOPT_TRY(Expression parsed, parse(text));
  if (const Node *node = integersNeededIn(parsed.tree()))
    return failAt(*parsed.parsed_, *node,
                  "'" + std::string(expression::spelling(node->code)) +
                      "' needs integers, but these values are floating-point");
  return parsed;
}

const std::vector<std::string> &Expression::names() const { return parsed_->names; }
const Node &Expression::tree() const { return parsed_->tree; }

Result<std::int64_t> Expression::evaluate(std::span<const std::int64_t> values) const {
  return Evaluation<std::int64_t>(*parsed_, values).run();
}

Result<double> Expression::evaluateReal(std::span<const double> values) const {
  return Evaluation<double>(*parsed_, values).run();
}

Result<MixedNumber> Expression::evaluateMixed(std::span<const MixedNumber> values) const {
  return Evaluation<MixedNumber>(*parsed_, values).run();
}

Result<std::int64_t> Expression::evaluate(const Bindings &bindings) const {
  std::vector<std::int64_t> values;
  std::string unbound;
  for (const std::string &name : names())
    if (const auto bound = bindings.find(name); bound != bindings.end())
      values.push_back(bound->second);
    else
      unbound += (unbound.empty() ? "" : ", ") + name;
  if (!unbound.empty())
    return makeError(ErrorCode::Usage, "no value for " + unbound + " in '" + parsed_->text + "'");
  return evaluate(values);
}

Result<std::int64_t> evaluateExpression(const std::string &text, const Bindings &names) {
  KOPT_TRY(const Expression parsed, Expression::parse(text));
  return parsed.evaluate(names);
}

Result<std::vector<std::string>> namesIn(const std::string &text) {
  KOPT_TRY(const Expression parsed, Expression::parse(text));
  return parsed.names();
}

bool isName(const std::string &text) {
  const auto names = namesIn(text);
  return names && *names == std::vector{text};
}

std::string asOperand(const std::string &text) {
  const auto parsed = Expression::parse(text);
  return parsed && expression::isOperand(parsed->tree()) ? text : "(" + text + ")";
}

std::string substituted(const std::string &text, const std::map<std::string, std::string> &texts) {
  const auto parsed = Expression::parse(text);
  return parsed ? expression::printed(parsed->tree(), {texts}) : text;
}

std::array<std::string, 3> substituted(const std::array<std::string, 3> &axes,
                                       const std::map<std::string, std::string> &texts) {
  return {substituted(axes[0], texts), substituted(axes[1], texts), substituted(axes[2], texts)};
}

} // namespace kopt
