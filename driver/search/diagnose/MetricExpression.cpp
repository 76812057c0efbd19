// SPDX-License-Identifier: Apache-2.0
#include "driver/search/diagnose/MetricExpression.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace kopt {

struct Expression::Node {
  enum class Kind { Number, Name, Call, Unary, Binary } kind = Kind::Number;
  double number = 0;
  std::string text; ///< name, function or operator
  std::vector<std::shared_ptr<const Node>> children;
};

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;

constexpr std::size_t kLongest = 1000;

bool isNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool isNameChar(char c) {
  return isNameStart(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '.';
}

NodePtr makeNode(Node::Kind kind, std::string text, std::vector<NodePtr> children,
                 double number = 0) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->text = std::move(text);
  node->children = std::move(children);
  node->number = number;
  return node;
}

/// Recursive descent, one method per level of precedence. The first error sticks; parsing then runs
/// out quickly.
class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) { next(); }

  NodePtr parseAll() {
    NodePtr node = parseOr();
    if (error_.empty() && !token_.empty())
      fail(fmt::format("'{}' was not expected", token_));
    return node;
  }
  const std::string &error() const { return error_; }
  std::vector<std::string> names;

private:
  void fail(const std::string &what) {
    if (error_.empty())
      error_ = fmt::format("{} at column {}", what, begin_ + 1);
    token_.clear();
    at_ = text_.size();
  }

  void next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
    begin_ = at_;
    if (at_ == text_.size()) {
      token_.clear();
      return;
    }
    char c = text_[at_];
    if (isNameStart(c)) {
      while (at_ < text_.size() && isNameChar(text_[at_]))
        ++at_;
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      while (at_ < text_.size() &&
             (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.'))
        ++at_;
    } else {
      bool two = at_ + 1 < text_.size() && text_[at_ + 1] == '=' &&
                 std::string_view("<>=!").find(c) != std::string_view::npos;
      at_ += two ? 2 : 1;
    }
    token_ = std::string(text_.substr(begin_, at_ - begin_));
  }

  bool accept(std::string_view token) {
    if (token_ != token)
      return false;
    next();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token))
      fail(fmt::format("expected '{}'", token));
  }

  using Level = NodePtr (Parser::*)();
  NodePtr parseLeft(Level lower, std::initializer_list<std::string_view> operators) {
    NodePtr left = (this->*lower)();
    while (std::find(operators.begin(), operators.end(), token_) != operators.end()) {
      std::string op = token_;
      next();
      left = makeNode(Node::Kind::Binary, op, {left, (this->*lower)()});
    }
    return left;
  }
  NodePtr parseOr() { return parseLeft(&Parser::parseAnd, {"or"}); }
  NodePtr parseAnd() { return parseLeft(&Parser::parseNot, {"and"}); }
  NodePtr parseNot() {
    if (accept("not"))
      return makeNode(Node::Kind::Unary, "not", {parseNot()});
    return parseComparison();
  }
  NodePtr parseComparison() {
    return parseLeft(&Parser::parseSum, {"<", "<=", ">", ">=", "==", "!="});
  }
  NodePtr parseSum() { return parseLeft(&Parser::parseProduct, {"+", "-"}); }
  NodePtr parseProduct() { return parseLeft(&Parser::parseUnary, {"*", "/", "%"}); }
  NodePtr parseUnary() {
    if (accept("-"))
      return makeNode(Node::Kind::Unary, "-", {parseUnary()});
    return parsePrimary();
  }
  NodePtr parsePrimary() {
    if (token_.empty()) {
      fail("an operand is missing");
      return makeNode(Node::Kind::Number, "", {});
    }
    if (accept("(")) {
      NodePtr inner = parseOr();
      expect(")");
      return inner;
    }
    std::string token = token_;
    if (std::isdigit(static_cast<unsigned char>(token[0]))) {
      char *end = nullptr;
      double value = std::strtod(token.c_str(), &end);
      if (*end)
        fail(fmt::format("'{}' is not a number", token));
      next();
      return makeNode(Node::Kind::Number, token, {}, value);
    }
    if (!isNameStart(token[0]) || token == "and" || token == "or" || token == "not") {
      fail(fmt::format("'{}' was not expected", token));
      return makeNode(Node::Kind::Number, "", {});
    }
    next();
    if (token_ == "(")
      return parseCall(token);
    if (std::find(names.begin(), names.end(), token) == names.end())
      names.push_back(token);
    return makeNode(Node::Kind::Name, token, {});
  }
  NodePtr parseCall(const std::string &function) {
    std::size_t wanted = function == "min" || function == "max"      ? 2
                         : function == "ceil" || function == "floor" ? 1
                                                                     : 0;
    if (!wanted)
      fail(fmt::format("there is no function '{}'", function));
    expect("(");
    std::vector<NodePtr> arguments{parseOr()};
    while (accept(","))
      arguments.push_back(parseOr());
    expect(")");
    if (error_.empty() && arguments.size() != wanted)
      fail(fmt::format("'{}' takes {} argument{}", function, wanted, wanted == 1 ? "" : "s"));
    return makeNode(Node::Kind::Call, function, std::move(arguments));
  }

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0;
  std::string token_, error_;
};

using Value = tl::expected<double, std::string>;

Value compute(const Node &node, const Expression::Lookup &lookup);

Value computeBinary(const Node &node, const Expression::Lookup &lookup) {
  Value left = compute(*node.children[0], lookup);
  if (!left)
    return left;
  const std::string &op = node.text;
  if (op == "and" && *left == 0)
    return 0.0;
  if (op == "or" && *left != 0)
    return 1.0;
  Value right = compute(*node.children[1], lookup);
  if (!right)
    return right;
  double a = *left, b = *right;
  if (op == "and" || op == "or")
    return b != 0 ? 1.0 : 0.0;
  if ((op == "/" || op == "%") && b == 0)
    return tl::unexpected<std::string>("a division by zero");
  if (op == "+")
    return a + b;
  if (op == "-")
    return a - b;
  if (op == "*")
    return a * b;
  if (op == "/")
    return a / b;
  if (op == "%")
    return std::fmod(a, b);
  bool holds = op == "<"    ? a < b
               : op == "<=" ? a <= b
               : op == ">"  ? a > b
               : op == ">=" ? a >= b
               : op == "==" ? a == b
                            : a != b;
  return holds ? 1.0 : 0.0;
}

Value compute(const Node &node, const Expression::Lookup &lookup) {
  switch (node.kind) {
  case Node::Kind::Number:
    return node.number;
  case Node::Kind::Name:
    return *lookup(node.text); // evaluate() has checked that it is there
  case Node::Kind::Binary:
    return computeBinary(node, lookup);
  case Node::Kind::Unary: {
    Value inner = compute(*node.children[0], lookup);
    if (!inner)
      return inner;
    return node.text == "-" ? -*inner : (*inner == 0 ? 1.0 : 0.0);
  }
  case Node::Kind::Call: {
    std::vector<double> values;
    for (const NodePtr &child : node.children) {
      Value value = compute(*child, lookup);
      if (!value)
        return value;
      values.push_back(*value);
    }
    if (node.text == "min")
      return std::min(values[0], values[1]);
    if (node.text == "max")
      return std::max(values[0], values[1]);
    return node.text == "ceil" ? std::ceil(values[0]) : std::floor(values[0]);
  }
  }
  return tl::unexpected<std::string>("an expression of an unknown kind");
}

} // namespace

Result<Expression> Expression::parse(std::string_view text) {
  if (text.size() > kLongest) // a tree is as deep as its text is long
    return makeError(ErrorCode::Internal,
                     fmt::format("an expression of {} characters is too long", text.size()));
  Parser parser(text);
  Expression expression;
  expression.root_ = parser.parseAll();
  if (!parser.error().empty())
    return makeError(ErrorCode::Internal,
                     fmt::format("expression \"{}\": {}", text, parser.error()));
  expression.names_ = std::move(parser.names);
  return expression;
}

tl::expected<double, std::string> Expression::evaluate(const Lookup &lookup) const {
  for (const std::string &name : names_) {
    std::optional<double> value = lookup(name);
    if (!value)
      return tl::unexpected<std::string>(fmt::format("metric {} is missing", name));
    if (!std::isfinite(*value))
      return tl::unexpected<std::string>(fmt::format("metric {} is not a finite number", name));
  }
  Value result = compute(*root_, lookup);
  if (result && !std::isfinite(*result))
    return tl::unexpected<std::string>("a result that is not a finite number");
  return result;
}

} // namespace kopt
