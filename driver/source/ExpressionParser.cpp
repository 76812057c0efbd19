// SPDX-License-Identifier: Apache-2.0
#include "driver/source/ExpressionParser.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>

namespace kopt::expression {
namespace {

constexpr int kMaxDepth = 200;      ///< nesting; deeper text is an attack on the stack or a mistake
constexpr int kMaxOperators = 1000; ///< of two operands; the tree of a sum is as deep

struct Token {
  enum class Kind { End, Number, Word, Punctuation };
  Kind kind = Kind::End;
  std::string text;
  std::size_t column = 1;
};

bool isWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}
bool isWordPart(char c) { return isWordStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

std::vector<Token> tokenize(const std::string &text) {
  static const std::vector<std::string> kTwo = {
      "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "::", "->"};
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < text.size();) {
    char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
      continue;
    }
    std::size_t begin = i;
    Token::Kind kind = Token::Kind::Punctuation;
    bool digitNext = i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1]));
    if (std::isdigit(static_cast<unsigned char>(c)) || (c == '.' && digitNext)) {
      kind = Token::Kind::Number;
      // As in C: letters, digits, separators, points, and signs after an exponent belong to the
      // number.
      bool hex = c == '0' && i + 1 < text.size() && std::tolower(text[i + 1]) == 'x';
      while (i < text.size() &&
             (isWordPart(text[i]) || text[i] == '.' || text[i] == '\'' ||
              ((text[i] == '+' || text[i] == '-') && !hex && std::tolower(text[i - 1]) == 'e')))
        ++i;
    } else if (isWordStart(c)) {
      kind = Token::Kind::Word;
      while (i < text.size() && isWordPart(text[i]))
        ++i;
    } else {
      bool two = std::find(kTwo.begin(), kTwo.end(), text.substr(i, 2)) != kTwo.end();
      i += two ? 2 : 1;
    }
    tokens.push_back({kind, text.substr(begin, i - begin), begin + 1});
  }
  tokens.push_back({Token::Kind::End, "", text.size() + 1});
  return tokens;
}

/// Types whose name is a single word that is not one of C's own.
const std::map<std::string, Type> &namedTypes() {
  static const std::map<std::string, Type> kTypes = [] {
    std::map<std::string, Type> types;
    for (unsigned bits : {8u, 16u, 32u, 64u}) {
      types["int" + std::to_string(bits) + "_t"] = {bits / 8, false, false, false};
      types["uint" + std::to_string(bits) + "_t"] = {bits / 8, false, true, false};
    }
    types["size_t"] = types["uintptr_t"] = types["ulong"] = {8, false, true, false};
    types["ssize_t"] = types["ptrdiff_t"] = types["intptr_t"] = {8, false, false, false};
    types["uint"] = {4, false, true, false};
    types["ushort"] = {2, false, true, false};
    types["uchar"] = {1, false, true, false};
    for (const char *half : {"half", "__half", "nv_half", "__nv_bfloat16", "nv_bfloat16"})
      types[half] = {2, true, false, false};
    return types;
  }();
  return kTypes;
}

/// CUDA's vector types have a size but no cast between numbers.
std::optional<unsigned> vectorTypeSize(const std::string &name) {
  static const std::map<std::string, unsigned> kScalars = {
      {"char", 1},  {"uchar", 1}, {"short", 2}, {"ushort", 2},   {"int", 4},       {"uint", 4},
      {"float", 4}, {"long", 8},  {"ulong", 8}, {"longlong", 8}, {"ulonglong", 8}, {"double", 8}};
  if (name == "half2" || name == "__half2" || name == "__nv_bfloat162" || name == "nv_bfloat162")
    return 4;
  if (name.size() < 2 || name.back() < '1' || name.back() > '4')
    return std::nullopt;
  auto scalar = kScalars.find(name.substr(0, name.size() - 1));
  if (scalar == kScalars.end())
    return std::nullopt;
  return scalar->second * unsigned(name.back() - '0');
}

int precedence(const std::string &op) {
  static const std::map<std::string, int> kLevels = {
      {"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9},  {"<<", 8},
      {">>", 8}, {"<", 7},  {">", 7},  {"<=", 7}, {">=", 7}, {"==", 6},
      {"!=", 6}, {"&", 5},  {"^", 4},  {"|", 3},  {"&&", 2}, {"||", 1}};
  auto found = kLevels.find(op);
  return found == kLevels.end() ? 0 : found->second;
}

/// Number of arguments of a function that expressions may call; 0 for any other name.
std::size_t arity(const std::string &name) {
  if (name == "min" || name == "max" || name == "ceil_div")
    return 2;
  return name == "abs" || name == "ceil" || name == "floor" ? 1 : 0;
}

std::string plainFunctionName(std::string name) {
  for (const char *prefix : {"::", "std::", "cuda::"})
    if (name.rfind(prefix, 0) == 0)
      name.erase(0, std::string(prefix).size());
  if (name == "ceilf" || name == "floorf")
    name.pop_back();
  return name;
}

class Parser {
public:
  explicit Parser(const std::string &text) : text_(text), tokens_(tokenize(text)) {}

  Result<Node> run() {
    KOPT_TRY(Node root, conditional());
    if (peek().kind != Token::Kind::End)
      return fail("unexpected '" + peek().text + "'");
    return root;
  }

private:
  const Token &peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool isNext(const char *text, std::size_t ahead = 0) const {
    const Token &token = peek(ahead);
    return token.kind == Token::Kind::Punctuation && token.text == text;
  }
  bool take(const char *text) {
    if (!isNext(text))
      return false;
    ++at_;
    return true;
  }

  tl::unexpected<Error> fail(const std::string &what) const { return fail(what, peek().column); }
  tl::unexpected<Error> fail(const std::string &what, std::size_t column) const {
    return makeError(ErrorCode::Usage,
                     what + " in '" + text_ + "' at column " + std::to_string(column),
                     "use integer literals, names, C operators, min, max, ceil_div and casts");
  }
  Status expect(const char *text) {
    if (take(text))
      return {};
    return peek().kind == Token::Kind::End
               ? fail(std::string("missing '") + text + "'")
               : fail(std::string("expected '") + text + "' before '" + peek().text + "'");
  }

  struct DepthGuard {
    explicit DepthGuard(int &depth) : depth_(++depth) {}
    ~DepthGuard() { --depth_; }
    int &depth_;
  };

  /// Children are moved: an initializer list would copy them with all that is below.
  template <class... Children>
  static Node make(Node::Kind kind, std::string text, std::size_t column, Children... children) {
    Node node;
    node.kind = kind;
    node.text = std::move(text);
    node.column = column;
    node.children.reserve(sizeof...(children));
    (node.children.push_back(std::move(children)), ...);
    return node;
  }

  Result<Node> conditional() {
    DepthGuard guard(depth_);
    if (depth_ > kMaxDepth)
      return fail("too many nested parentheses");
    KOPT_TRY(Node condition, binary(1));
    std::size_t column = peek().column;
    if (!take("?"))
      return condition;
    KOPT_TRY(Node yes, conditional());
    KOPT_CHECK(expect(":"));
    KOPT_TRY(Node no, conditional());
    return make(Node::Kind::Conditional, "?", column, std::move(condition), std::move(yes),
                std::move(no));
  }

  Result<Node> binary(int minimum) {
    KOPT_TRY(Node left, unary());
    while (peek().kind == Token::Kind::Punctuation && precedence(peek().text) >= minimum) {
      if (++operators_ > kMaxOperators)
        return fail("too many operators");
      Token op = peek();
      ++at_;
      KOPT_TRY(Node right, binary(precedence(op.text) + 1));
      left = make(Node::Kind::Binary, op.text, op.column, std::move(left), std::move(right));
    }
    return left;
  }

  Result<Node> unary() {
    DepthGuard guard(depth_);
    if (depth_ > kMaxDepth)
      return fail("too many nested operators");
    std::size_t column = peek().column;
    for (const char *op : {"-", "+", "!", "~"})
      if (take(op)) {
        KOPT_TRY(Node operand, unary());
        return make(Node::Kind::Unary, op, column, std::move(operand));
      }
    if (isNext("(")) {
      const std::size_t begin = at_++;
      if (std::optional<Type> type = castType(); type && take(")")) {
        KOPT_TRY(Node operand, unary());
        return castNode(*type, column, std::move(operand));
      }
      at_ = begin;
    }
    return primary();
  }

  static Node castNode(const Type &type, std::size_t column, Node operand) {
    Node node = make(Node::Kind::Cast, "cast", column, std::move(operand));
    node.type = type;
    return node;
  }

  Result<Node> primary() {
    const Token token = peek();
    if (take("(")) {
      KOPT_TRY(Node inner, conditional());
      KOPT_CHECK(expect(")"));
      return inner;
    }
    if (token.kind == Token::Kind::Number) {
      ++at_;
      return number(token);
    }
    if (token.kind == Token::Kind::End)
      return fail("the expression ends too early");
    if (token.kind != Token::Kind::Word && !isNext("::"))
      return fail("unexpected '" + token.text + "'");
    if (token.text == "sizeof")
      return sizeOf();
    if (token.text == "static_cast")
      return staticCast();
    if (token.text == "true" || token.text == "false") {
      ++at_;
      Node node = make(Node::Kind::Integer, "", token.column);
      node.integer = token.text == "true";
      return node;
    }
    if (std::optional<Type> type = castType()) {
      if (!take("("))
        return fail("a value was expected, '" + token.text + "' is a type", token.column);
      KOPT_TRY(Node operand, conditional());
      KOPT_CHECK(expect(")"));
      return castNode(*type, token.column, std::move(operand));
    }
    return nameOrCall();
  }

  Result<Node> number(const Token &token) const {
    std::string digits = token.text;
    digits.erase(std::remove(digits.begin(), digits.end(), '\''), digits.end());
    std::string lower = digits;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    const bool hex = lower.rfind("0x", 0) == 0, bits = lower.rfind("0b", 0) == 0;
    Node node = make(Node::Kind::Integer, "", token.column);
    char *end = nullptr;
    errno = 0;
    if (!hex && lower.find_first_of(".e") != std::string::npos) {
      node.kind = Node::Kind::Real;
      node.real = std::strtod(lower.c_str(), &end);
      std::string suffix = end;
      if (errno || !(suffix.empty() || suffix == "f" || suffix == "l"))
        return fail("malformed number '" + token.text + "'", token.column);
      return node;
    }
    const unsigned long long value =
        bits ? std::strtoull(lower.c_str() + 2, &end, 2) : std::strtoull(lower.c_str(), &end, 0);
    static const std::vector<std::string> kSuffixes = {"",    "u",   "l", "ul", "lu", "ll",
                                                       "ull", "llu", "z", "uz", "zu"};
    if (std::find(kSuffixes.begin(), kSuffixes.end(), end) == kSuffixes.end() ||
        ((hex || bits) && end == lower.c_str() + 2))
      return fail("malformed number '" + token.text + "'", token.column);
    if (errno == ERANGE || value > 0x7fffffffffffffffull)
      return fail("number too large '" + token.text + "'", token.column);
    node.integer = std::int64_t(value);
    return node;
  }

  /// A type that a cast may name. `half` is none: no geometry is computed in it, and it is a good
  /// name for a variable.
  std::optional<Type> castType() {
    const std::size_t begin = at_;
    std::optional<Type> type = typeName();
    if (type && type->real && type->bytes == 2) {
      at_ = begin;
      return std::nullopt;
    }
    return type;
  }

  /// A type made of C's own words in any order, or a known alias; leaves at_ unchanged where there
  /// is none.
  std::optional<Type> typeName() {
    const std::size_t begin = at_;
    if (isNext("::"))
      ++at_;
    if (peek().kind == Token::Kind::Word && (peek().text == "std" || peek().text == "cuda") &&
        isNext("::", 1))
      at_ += 2;
    int longs = 0, words = 0;
    Type type{4, false, false, false};
    bool any = false;
    while (peek().kind == Token::Kind::Word) {
      const std::string &word = peek().text;
      auto named = namedTypes().find(word);
      if (word == "const" || word == "volatile" || word == "signed" || word == "int") {
        any |= word == "signed" || word == "int";
      } else if (word == "unsigned") {
        type.isUnsigned = any = true;
      } else if (word == "long") {
        type.bytes = 8;
        any = ++longs <= 2;
      } else if (word == "short" || word == "char") {
        type.bytes = word == "short" ? 2 : 1;
        any = true;
      } else if (word == "float" || word == "double") {
        type.real = any = true;
        type.bytes = word == "float" ? 4 : 8;
      } else if (word == "bool") {
        type.boolean = any = true;
        type.bytes = 1;
      } else if (named != namedTypes().end() && words == 0) {
        type = named->second;
        ++at_;
        return type;
      } else {
        break;
      }
      ++words;
      ++at_;
    }
    if (any)
      return type;
    at_ = begin;
    return std::nullopt;
  }

  Result<Node> sizeOf() {
    Node node = make(Node::Kind::Integer, "", peek().column);
    ++at_;
    KOPT_CHECK(expect("("));
    const Token name = peek();
    if (std::optional<Type> type = typeName()) {
      node.integer = type->bytes;
    } else if (std::optional<unsigned> bytes = vectorTypeSize(name.text)) {
      ++at_;
      node.integer = *bytes;
    } else {
      return fail("sizeof of an unknown type '" + name.text + "'");
    }
    while (take("*"))
      node.integer = 8;
    KOPT_CHECK(expect(")"));
    return node;
  }

  Result<Node> staticCast() {
    const std::size_t column = peek().column;
    ++at_;
    KOPT_CHECK(expect("<"));
    std::optional<Type> type = typeName();
    if (!type)
      return fail("a cast to an unknown type '" + peek().text + "'");
    KOPT_CHECK(expect(">"));
    KOPT_CHECK(expect("("));
    KOPT_TRY(Node operand, conditional());
    KOPT_CHECK(expect(")"));
    return castNode(*type, column, std::move(operand));
  }

  /// A possibly qualified name with members, subscripts and getters, or a call of a known function.
  Result<Node> nameOrCall() {
    const std::size_t column = peek().column;
    std::string name;
    if (take("::"))
      name = "";
    while (true) {
      if (peek().kind != Token::Kind::Word)
        return fail("expected a name");
      name += peek().text;
      ++at_;
      if (take("::"))
        name += "::";
      else
        break;
    }
    if (isNext("(") && !isNext(")", 1))
      return call(name, column);
    // Elements, members and getters: their values must be bound like a variable's, by the whole
    // name without blanks.
    while (true) {
      if (isNext("[")) {
        const std::size_t begin = at_++;
        KOPT_CHECK(conditional());
        KOPT_CHECK(expect("]"));
        for (std::size_t i = begin; i < at_; ++i)
          name += tokens_[i].text;
      } else if (isNext("(") && isNext(")", 1)) {
        at_ += 2;
        name += "()";
      } else if (isNext(".") || isNext("->")) {
        name += peek().text;
        ++at_;
        if (peek().kind != Token::Kind::Word)
          return fail("expected a name");
        name += peek().text;
        ++at_;
      } else {
        break;
      }
    }
    return make(Node::Kind::Name, name, column);
  }

  Result<Node> call(const std::string &spelled, std::size_t column) {
    const std::string name = plainFunctionName(spelled);
    if (arity(name) == 0)
      return fail("unknown function '" + spelled + "'", column);
    KOPT_CHECK(expect("("));
    std::vector<Node> arguments;
    do {
      KOPT_TRY(Node argument, conditional());
      arguments.push_back(std::move(argument));
    } while (take(","));
    KOPT_CHECK(expect(")"));
    if (arguments.size() != arity(name))
      return fail("'" + name + "' takes " + std::to_string(arity(name)) + " argument" +
                      (arity(name) == 1 ? "" : "s"),
                  column);
    Node node = make(Node::Kind::Call, name, column);
    node.children = std::move(arguments);
    return node;
  }

  const std::string &text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0, operators_ = 0;
};

} // namespace

Result<Node> parse(const std::string &text) { return Parser(text).run(); }

} // namespace kopt::expression
