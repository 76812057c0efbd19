// SPDX-License-Identifier: Apache-2.0
#include "driver/source/ExpressionTree.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>

namespace kopt::expression {
namespace {

constexpr int kMaxDepth = 200;      ///< deeper nesting is an attack on the stack or a mistake
constexpr int kMaxOperators = 1000; ///< most binary operators; the tree of a sum may be as deep
constexpr int kUnary = 11, kOperand = 12; ///< levels above those of the binary operators

using Column = std::uint32_t; ///< column, from 1

struct Token {
  enum class Kind { End, Number, Word, Punctuation };
  Kind kind = Kind::End;
  std::string text;
  Column column = 1;
};

bool isWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}
bool isWordPart(char c) { return isWordStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

std::vector<Token> tokenize(std::string_view text) {
  static constexpr std::string_view kTwo[] = {
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
      // As in C, letters, digits, separators, points, and the sign of an exponent belong to the
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
      bool two = std::find(std::begin(kTwo), std::end(kTwo), text.substr(i, 2)) != std::end(kTwo);
      i += two ? 2 : 1;
    }
    tokens.push_back({kind, std::string(text.substr(begin, i - begin)), Column(begin + 1)});
  }
  tokens.push_back({Token::Kind::End, "", Column(text.size() + 1)});
  return tokens;
}

/// Types whose name is a single word that is not a keyword of C.
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

/// The size of one of CUDA's vector types, which have a size but cannot be cast to.
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

struct Operator {
  std::string_view text;
  int level;
  Code code;
};

/// Binary operators; a higher level binds tighter.
constexpr Operator kOperators[] = {
    {"*", 10, Code::Multiply},   {"/", 10, Code::Divide},       {"%", 10, Code::Remainder},
    {"+", 9, Code::Add},         {"-", 9, Code::Subtract},      {"<<", 8, Code::ShiftLeft},
    {">>", 8, Code::ShiftRight}, {"<", 7, Code::Less},          {">", 7, Code::Greater},
    {"<=", 7, Code::LessEqual},  {">=", 7, Code::GreaterEqual}, {"==", 6, Code::Equal},
    {"!=", 6, Code::NotEqual},   {"&", 5, Code::BitAnd},        {"^", 4, Code::BitXor},
    {"|", 3, Code::BitOr},       {"&&", 2, Code::AndThen},      {"||", 1, Code::OrElse}};

struct Function {
  std::string_view name;
  std::size_t arity;
  Code code;
};

constexpr Function kFunctions[] = {{"min", 2, Code::Minimum},      {"max", 2, Code::Maximum},
                                   {"ceil_div", 2, Code::CeilDiv}, {"abs", 1, Code::Absolute},
                                   {"ceil", 1, Code::Ceil},        {"floor", 1, Code::Floor}};

const Operator *findOperator(std::string_view text) {
  for (const Operator &op : kOperators)
    if (op.text == text)
      return &op;
  return nullptr;
}

const Function *findFunction(std::string_view name) {
  for (const Function &function : kFunctions)
    if (function.name == name)
      return &function;
  return nullptr;
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
  explicit Parser(std::string_view text) : tokens_(tokenize(text)) { parsed_.text = text; }

  Result<Parsed> run() {
    KOPT_TRY(parsed_.tree, conditional());
    if (peek().kind != Token::Kind::End)
      return fail("unexpected '" + peek().text + "'");
    return std::move(parsed_);
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
  tl::unexpected<Error> fail(const std::string &what, Column column) const {
    return makeError(ErrorCode::Usage,
                     what + " in '" + parsed_.text + "' at column " + std::to_string(column),
                     "use integer literals, names, C operators, min, max, ceil_div and casts");
  }
  Status expect(const char *text) {
    if (take(text))
      return {};
    return peek().kind == Token::Kind::End
               ? fail(std::string("missing '") + text + "'")
               : fail(std::string("expected '") + text + "' before '" + peek().text + "'");
  }

  struct NestingGuard {
    explicit NestingGuard(int &nesting) : nesting_(++nesting) {}
    ~NestingGuard() { --nesting_; }
    int &nesting_;
  };

  /// The tokens from `begin` on, with blanks only between words.
  std::string spelledFrom(std::size_t begin) const {
    std::string text;
    for (std::size_t i = begin; i < at_; ++i) {
      const bool isApart = i > begin && tokens_[i].kind == Token::Kind::Word &&
                           tokens_[i - 1].kind == Token::Kind::Word;
      text += (isApart ? " " : "") + tokens_[i].text;
    }
    return text;
  }

  template <class... Parts> static Node operation(Code code, Column column, Parts... parts) {
    Node node;
    node.code = code;
    node.column = column;
    (node.parts.push_back(std::move(parts)), ...);
    return node;
  }
  Node integer(std::int64_t value, std::size_t begin) const {
    Node node;
    node.column = tokens_[begin].column;
    node.integer = value;
    node.text = spelledFrom(begin);
    return node;
  }

  Result<Node> conditional() {
    NestingGuard guard(nesting_);
    if (nesting_ > kMaxDepth)
      return fail("too many nested parentheses");
    KOPT_TRY(Node condition, binary(1));
    const Column column = peek().column;
    if (!take("?"))
      return condition;
    KOPT_TRY(Node yes, conditional());
    KOPT_CHECK(expect(":"));
    KOPT_TRY(Node no, conditional());
    return operation(Code::Conditional, column, std::move(condition), std::move(yes),
                     std::move(no));
  }

  Result<Node> binary(int minimum) {
    KOPT_TRY(Node left, unary());
    while (peek().kind == Token::Kind::Punctuation) {
      const Operator *op = findOperator(peek().text);
      if (!op || op->level < minimum)
        break;
      if (++operators_ > kMaxOperators)
        return fail("too many operators");
      const Column column = peek().column;
      ++at_;
      KOPT_TRY(Node right, binary(op->level + 1));
      left = operation(op->code, column, std::move(left), std::move(right));
    }
    return left;
  }

  Result<Node> unary() {
    NestingGuard guard(nesting_);
    if (nesting_ > kMaxDepth)
      return fail("too many nested operators");
    const std::size_t begin = at_;
    for (const auto &[op, code] :
         {std::pair("-", Code::Negate), {"!", Code::Not}, {"~", Code::Complement}})
      if (take(op)) {
        KOPT_TRY(Node part, unary());
        return operation(code, tokens_[begin].column, std::move(part));
      }
    if (take("+"))
      return unary();
    if (take("(")) {
      if (std::optional<Type> type = castType(); type && take(")"))
        return castOf(*type, begin, &Parser::unary);
      at_ = begin;
    }
    return primary();
  }

  /// A cast, of which the type has been read, and not yet the value.
  Result<Node> castOf(const Type &type, std::size_t begin, Result<Node> (Parser::*value)()) {
    std::string text = spelledFrom(begin);
    KOPT_TRY(Node part, (this->*value)());
    Node node = operation(Code::Cast, tokens_[begin].column, std::move(part));
    node.type = type;
    node.text = std::move(text);
    return node;
  }

  Result<Node> inParentheses() {
    KOPT_CHECK(expect("("));
    KOPT_TRY(Node inside, conditional());
    KOPT_CHECK(expect(")"));
    return inside;
  }

  Result<Node> primary() {
    const Token token = peek();
    if (isNext("(")) {
      KOPT_TRY(Node inside, inParentheses());
      inside.grouped = true;
      return inside;
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
      return integer(token.text == "true", at_ - 1);
    }
    const std::size_t begin = at_;
    if (std::optional<Type> type = castType()) {
      if (!isNext("("))
        return fail("a value was expected, but '" + token.text + "' is a type", token.column);
      return castOf(*type, begin, &Parser::inParentheses);
    }
    return nameOrCall();
  }

  Result<Node> number(const Token &token) {
    std::string digits = token.text;
    digits.erase(std::remove(digits.begin(), digits.end(), '\''), digits.end());
    std::string lower = digits;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    const bool hex = lower.rfind("0x", 0) == 0, bits = lower.rfind("0b", 0) == 0;
    char *end = nullptr;
    errno = 0;
    if (!hex && lower.find_first_of(".e") != std::string::npos) {
      const double real = std::strtod(lower.c_str(), &end);
      std::string suffix = end;
      if (errno || !(suffix.empty() || suffix == "f" || suffix == "l"))
        return fail("malformed number '" + token.text + "'", token.column);
      Node node = integer(0, at_ - 1);
      node.code = Code::Real;
      node.real = real;
      return node;
    }
    const unsigned long long value =
        bits ? std::strtoull(lower.c_str() + 2, &end, 2) : std::strtoull(lower.c_str(), &end, 0);
    static const std::vector<std::string> kSuffixes = {"",    "u",   "l", "ul", "lu", "ll",
                                                       "ull", "llu", "z", "uz", "zu"};
    if (std::ranges::find(kSuffixes, end) == kSuffixes.end() ||
        ((hex || bits) && end == lower.c_str() + 2))
      return fail("malformed number '" + token.text + "'", token.column);
    if (errno == ERANGE || value > 0x7fffffffffffffffull)
      return fail("number too large '" + token.text + "'", token.column);
    return integer(std::int64_t(value), at_ - 1);
  }

  /// A type that a cast may name. `half` is not one: no geometry is computed in it, and variables
  /// are often called that.
  std::optional<Type> castType() {
    const std::size_t begin = at_;
    std::optional<Type> type = typeName();
    if (type && type->real && type->bytes == 2) {
      at_ = begin;
      return std::nullopt;
    }
    return type;
  }

  /// A type made of C's keywords in any order, or a known alias; leaves at_ unchanged if there is
  /// none.
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
    const std::size_t begin = at_++;
    KOPT_CHECK(expect("("));
    const Token name = peek();
    std::int64_t size = 0;
    if (std::optional<Type> type = typeName()) {
      size = type->bytes;
    } else if (std::optional<unsigned> bytes = vectorTypeSize(name.text)) {
      ++at_;
      size = *bytes;
    } else {
      return fail("sizeof of an unknown type '" + name.text + "'");
    }
    while (take("*"))
      size = 8;
    KOPT_CHECK(expect(")"));
    return integer(size, begin);
  }

  Result<Node> staticCast() {
    const std::size_t begin = at_++;
    KOPT_CHECK(expect("<"));
    std::optional<Type> type = typeName();
    if (!type)
      return fail("a cast to an unknown type '" + peek().text + "'");
    KOPT_CHECK(expect(">"));
    return castOf(*type, begin, &Parser::inParentheses);
  }

  /// A possibly qualified name with members, subscripts and getters, or a call of a known function.
  Result<Node> nameOrCall() {
    const std::size_t first = at_, begin = take("::") ? at_ : first;
    do {
      if (peek().kind != Token::Kind::Word)
        return fail("expected a name");
      ++at_;
    } while (take("::"));
    if (isNext("(") && !isNext(")", 1))
      return call(first);
    // Elements, members and getters have to be bound like variables, by the whole name without
    // blanks.
    while (true) {
      if (take("[")) {
        KOPT_CHECK(subscript());
        KOPT_CHECK(expect("]"));
      } else if (isNext("(") && isNext(")", 1)) {
        at_ += 2;
      } else if (take(".") || take("->")) {
        if (peek().kind != Token::Kind::Word)
          return fail("expected a name");
        ++at_;
      } else {
        break;
      }
    }
    Node node = operation(Code::Name, tokens_[first].column);
    node.text = spelledFrom(begin);
    std::vector<std::string> &names = parsed_.names;
    const auto known = std::ranges::find(names, node.text);
    node.index = std::uint32_t(known - names.begin());
    if (known == names.end())
      names.push_back(node.text);
    return node;
  }

  /// Parses a subscript only for its syntax: it becomes part of the element's name.
  Status subscript() {
    const std::size_t names = parsed_.names.size();
    KOPT_CHECK(conditional());
    parsed_.names.resize(names);
    return {};
  }

  Result<Node> call(std::size_t begin) {
    const Column column = tokens_[begin].column;
    const std::string spelled = spelledFrom(begin);
    const Function *function = findFunction(plainFunctionName(spelled));
    if (!function)
      return fail("unknown function '" + spelled + "'", column);
    KOPT_CHECK(expect("("));
    std::vector<Node> arguments;
    do {
      KOPT_TRY(Node argument, conditional());
      arguments.push_back(std::move(argument));
    } while (take(","));
    KOPT_CHECK(expect(")"));
    if (arguments.size() != function->arity)
      return fail("'" + std::string(function->name) + "' takes " + std::to_string(function->arity) +
                      " argument" + (function->arity == 1 ? "" : "s"),
                  column);
    Node node = operation(function->code, column);
    node.parts = std::move(arguments);
    node.text = spelled;
    return node;
  }

  Parsed parsed_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0, operators_ = 0;
};

/// How tight a node binds its parts; its own parentheses do not count.
int levelOf(const Node &node) {
  if (node.code == Code::Conditional)
    return 0;
  if ((node.code >= Code::Negate && node.code <= Code::Complement) || node.text.starts_with("("))
    return kUnary;
  for (const Operator &op : kOperators)
    if (op.code == node.code)
      return op.level;
  return kOperand;
}

/// The text of a part of something that binds as tight as `level`.
std::string partOf(const Node &node, int level, const Print &print) {
  const std::string text = plain(node, print);
  if (!print.texts.empty() && print.texts.contains(plain(node)))
    return text;
  const int own = levelOf(node);
  // People write no parentheses around a whole argument or a product in a sum, but around a
  // quotient that is multiplied, as it is rounded.
  const bool isRounded = node.code == Code::Divide || node.code == Code::Remainder;
  const int product = levelOf({.code = Code::Multiply}), sum = levelOf({.code = Code::Add});
  const bool isPlain = level == 0 || (own >= sum && !(isRounded && level >= product));
  return own < level || (node.grouped && !(print.asHostCode && isPlain)) ? "(" + text + ")" : text;
}

/// ceil_div(a, b) as (a + b - 1) / b.
Node withoutCeilDiv(const Node &call) {
  const auto made = [](Code code, const Node &left, const Node &right) {
    Node node;
    node.code = code;
    node.parts = {left, right};
    return node;
  };
  const Node &a = call.parts[0], &b = call.parts[1];
  Node one;
  one.integer = 1;
  one.text = "1";
  return made(Code::Divide, made(Code::Subtract, made(Code::Add, a, b), one), b);
}

} // namespace

std::string_view spelling(Code code) {
  for (const Operator &op : kOperators)
    if (op.code == code)
      return op.text;
  for (const Function &function : kFunctions)
    if (function.code == code)
      return function.name;
  return code == Code::Negate ? "-" : code == Code::Not ? "!" : code == Code::Complement ? "~" : "";
}

Result<Parsed> parse(std::string_view text) { return Parser(text).run(); }

bool isOperand(const Node &node) { return node.grouped || levelOf(node) == kOperand; }

std::string printed(const Node &node, const Print &print) { return partOf(node, 0, print); }

std::string plain(const Node &node, const Print &print) {
  if (!print.texts.empty())
    if (const auto text = print.texts.find(plain(node)); text != print.texts.end())
      return text->second;
  if (print.asHostCode && node.code == Code::CeilDiv)
    return "(" + plain(withoutCeilDiv(node), print) + ")";
  const int level = levelOf(node);
  const auto part = [&](std::size_t i, int least) { return partOf(node.parts[i], least, print); };
  if (level == 0)
    return part(0, 1) + " ? " + part(1, 0) + " : " + part(2, 0);
  if (level == kUnary) // "--n" would be another operator
    return node.text + std::string(spelling(node.code)) +
           part(0, node.code == Code::Negate ? kOperand : level);
  if (level != kOperand)
    return part(0, level) + " " + std::string(spelling(node.code)) + " " + part(1, level + 1);
  std::string text = node.text;
  for (std::size_t i = 0; i < node.parts.size(); ++i)
    text += (i == 0 ? "(" : ", ") + part(i, 0);
  return node.parts.empty() ? text : text + ")";
}

} // namespace kopt::expression
