// SPDX-License-Identifier: Apache-2.0
#include "driver/source/Expression.h"

#include "driver/source/ExpressionParser.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace kopt {
namespace {

using expression::Node;
using expression::Type;

/// C code reaches grid sizes through ceil(n / 32.0f), so reals exist on the way; results are
/// integers.
struct Value {
  bool real = false;
  std::int64_t integer = 0;
  double number = 0;

  double asReal() const { return real ? number : double(integer); }
  bool truth() const { return real ? number != 0 : integer != 0; }
};

Value integerValue(std::int64_t value) { return {false, value, 0}; }
Value realValue(double value) { return {true, 0, value}; }

class LocalJudge {
public:
  LocalJudge(const std::string &text, const Bindings &names) : text_(text), names_(names) {}

  Result<std::int64_t> run(const Node &root) {
    KOPT_TRY(Value value, evaluate(root));
    return toInteger(value, root);
  }

private:
  tl::unexpected<Error> fail(const Node &node, const std::string &what) const {
    return makeError(ErrorCode::Usage,
                     what + " in '" + text_ + "' at column " + std::to_string(node.column));
  }

  Result<std::int64_t> toInteger(const Value &value, const Node &node) const {
    if (!value.real)
      return value.integer;
    double whole = std::trunc(value.number);
    if (!(std::fabs(whole) < 9.2e18))
      return fail(node, "a value that is no 64-bit integer");
    return std::int64_t(whole);
  }

  Result<Value> evaluate(const Node &node) {
    switch (node.kind) {
    case Node::Kind::Integer:
      return integerValue(node.integer);
    case Node::Kind::Real:
      return realValue(node.real);
    case Node::Kind::Name:
      return integerValue(names_.at(node.text)); // evaluateExpression has checked them all
    case Node::Kind::Cast:
      return cast(node);
    case Node::Kind::Unary:
      return unary(node);
    case Node::Kind::Binary:
      return binary(node);
    case Node::Kind::Conditional: {
      KOPT_TRY(Value condition, evaluate(node.children[0]));
      return evaluate(node.children[condition.truth() ? 1 : 2]);
    }
    case Node::Kind::Call:
      return call(node);
    }
    return fail(node, "an unknown construct");
  }

  Result<Value> cast(const Node &node) {
    KOPT_TRY(Value value, evaluate(node.children[0]));
    const Type &type = node.type;
    if (type.real)
      return realValue(type.bytes == 4 ? double(float(value.asReal())) : value.asReal());
    if (type.boolean)
      return integerValue(value.truth());
    KOPT_TRY(std::int64_t whole, toInteger(value, node));
    if (type.bytes >= 8)
      return integerValue(whole);
    const unsigned bits = type.bytes * 8;
    std::uint64_t low = std::uint64_t(whole) & ((std::uint64_t(1) << bits) - 1);
    if (!type.isUnsigned && (low >> (bits - 1)))
      low |= ~std::uint64_t(0) << bits;
    return integerValue(std::int64_t(low));
  }

  Result<Value> unary(const Node &node) {
    KOPT_TRY(Value value, evaluate(node.children[0]));
    if (node.text == "!")
      return integerValue(!value.truth());
    if (node.text == "+")
      return value;
    if (node.text == "-") {
      if (value.real)
        return realValue(-value.number);
      if (value.integer == std::numeric_limits<std::int64_t>::min())
        return fail(node, "overflow");
      return integerValue(-value.integer);
    }
    if (value.real)
      return fail(node, "'~' of a floating-point value");
    return integerValue(~value.integer);
  }

  Result<Value> binary(const Node &node) {
    KOPT_TRY(Value left, evaluate(node.children[0]));
    if (node.text == "&&" && !left.truth())
      return integerValue(0);
    if (node.text == "||" && left.truth())
      return integerValue(1);
    KOPT_TRY(Value right, evaluate(node.children[1]));
    if (node.text == "&&" || node.text == "||")
      return integerValue(right.truth());
    if (left.real || right.real)
      return realBinary(node, left.asReal(), right.asReal());
    return integerBinary(node, left.integer, right.integer);
  }

  Result<Value> realBinary(const Node &node, double a, double b) const {
    const std::string &op = node.text;
    if (op == "+")
      return realValue(a + b);
    if (op == "-")
      return realValue(a - b);
    if (op == "*")
      return realValue(a * b);
    if (op == "/")
      return b != 0 ? Result<Value>(realValue(a / b)) : fail(node, "division by zero");
    if (std::optional<bool> answer = compare(op, a, b))
      return integerValue(*answer);
    return fail(node, "'" + op + "' of a floating-point value");
  }

  template <class T> static std::optional<bool> compare(const std::string &op, T a, T b) {
    if (op == "<")
      return a < b;
    if (op == ">")
      return a > b;
    if (op == "<=")
      return a <= b;
    if (op == ">=")
      return a >= b;
    if (op == "==")
      return a == b;
    if (op == "!=")
      return a != b;
    return std::nullopt;
  }

  Result<Value> integerBinary(const Node &node, std::int64_t a, std::int64_t b) const {
    const std::string &op = node.text;
    if (std::optional<bool> answer = compare(op, a, b))
      return integerValue(*answer);
    std::int64_t result = 0;
    bool overflow = false;
    if (op == "+")
      overflow = __builtin_add_overflow(a, b, &result);
    else if (op == "-")
      overflow = __builtin_sub_overflow(a, b, &result);
    else if (op == "*")
      overflow = __builtin_mul_overflow(a, b, &result);
    else if (op == "/" || op == "%") {
      if (b == 0)
        return fail(node, "division by zero");
      overflow = a == std::numeric_limits<std::int64_t>::min() && b == -1;
      if (!overflow)
        result = op == "/" ? a / b : a % b;
    } else if (op == "<<" || op == ">>") {
      if (b < 0 || b > 63)
        return fail(node, "a shift by " + std::to_string(b));
      if (op == ">>")
        result = a >> b;
      else
        overflow = b == 63 ? a != 0 : __builtin_mul_overflow(a, std::int64_t(1) << b, &result);
    } else if (op == "&")
      result = a & b;
    else if (op == "|")
      result = a | b;
    else
      result = a ^ b;
    if (overflow)
      return fail(node, "overflow");
    return integerValue(result);
  }

  Result<Value> call(const Node &node) {
    std::vector<Value> arguments;
    for (const Node &child : node.children) {
      KOPT_TRY(Value value, evaluate(child));
      arguments.push_back(value);
    }
    const std::string &name = node.text;
    const Value &a = arguments[0];
    if (name == "abs") {
      if (a.real)
        return realValue(std::fabs(a.number));
      if (a.integer == std::numeric_limits<std::int64_t>::min())
        return fail(node, "overflow");
      return integerValue(std::llabs(a.integer));
    }
    if (name == "ceil" || name == "floor") {
      // A front end that dropped a cast to float would turn ceil((float)n / 32) into something
      // smaller.
      if (!a.real)
        return fail(node, "'" + name + "' of an integer division or value");
      return realValue(name == "ceil" ? std::ceil(a.number) : std::floor(a.number));
    }
    const Value &b = arguments[1];
    if (name == "ceil_div") {
      if (a.real || b.real)
        return fail(node, "ceil_div of a floating-point value");
      if (b.integer <= 0 || a.integer < 0)
        return fail(node, "ceil_div needs a dividend from 0 and a divisor from 1");
      return integerValue(a.integer / b.integer + (a.integer % b.integer != 0));
    }
    if (a.real || b.real)
      return realValue(name == "min" ? std::min(a.asReal(), b.asReal())
                                     : std::max(a.asReal(), b.asReal()));
    return integerValue(name == "min" ? std::min(a.integer, b.integer)
                                      : std::max(a.integer, b.integer));
  }

  const std::string &text_;
  const Bindings &names_;
};

void collectNames(const Node &node, std::vector<std::string> &names) {
  if (node.kind == Node::Kind::Name &&
      std::find(names.begin(), names.end(), node.text) == names.end())
    names.push_back(node.text);
  for (const Node &child : node.children)
    collectNames(child, names);
}

} // namespace

Result<std::int64_t> evaluateExpression(const std::string &text, const Bindings &names) {
  KOPT_TRY(Node root, expression::parse(text));
  std::vector<std::string> used;
  collectNames(root, used);
  std::string unbound;
  for (const std::string &name : used)
    if (!names.count(name))
      unbound += (unbound.empty() ? "" : ", ") + name;
  if (!unbound.empty())
    return makeError(ErrorCode::Usage, "no value for " + unbound + " in '" + text + "'");
  return LocalJudge(text, names).run(root);
}

Result<std::vector<std::string>> namesIn(const std::string &text) {
  KOPT_TRY(Node root, expression::parse(text));
  std::vector<std::string> names;
  collectNames(root, names);
  return names;
}

} // namespace kopt
