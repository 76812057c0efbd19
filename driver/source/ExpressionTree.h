// SPDX-License-Identifier: Apache-2.0
// The tree of an expression: parses and prints it, for Expression.h.
#pragma once

#include "driver/support/Result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::expression {

/// A basic type, as named in casts and sizeof.
struct Type {
  unsigned bytes = 0;
  bool real = false, isUnsigned = false, boolean = false;
};

enum class Code : std::uint8_t {
  Integer,
  Real,
  Name,
  Cast,
  Negate,
  Not,
  Complement,
  Multiply,
  Divide,
  Remainder,
  Add,
  Subtract,
  ShiftLeft,
  ShiftRight,
  Less,
  Greater,
  LessEqual,
  GreaterEqual,
  Equal,
  NotEqual,
  BitAnd,
  BitXor,
  BitOr,
  Minimum,
  Maximum,
  CeilDiv,
  Absolute,
  Ceil,
  Floor,
  AndThen,
  OrElse,
  Conditional,
};

/// A number, a name, or an operation on its parts.
struct Node {
  Code code = Code::Integer;
  bool grouped = false;     ///< in parentheses of its own
  Type type;                ///< of Cast
  std::uint32_t column = 1; ///< in the text, from 1
  std::uint32_t index = 0;  ///< of Name: which of the text's names
  union {
    std::int64_t integer = 0;
    double real;
  };
  /// A number, a name, a function or the type of a cast, "(int)" or "int", as it is spelled.
  std::string text{};
  std::vector<Node> parts{};
};

struct Parsed {
  std::string text;
  std::vector<std::string> names; ///< in order of first use
  Node tree;
};

/// The spelling in the text: "<<", "ceil_div".
std::string_view spelling(Code code);

/// Fails with Usage, naming the column.
Result<Parsed> parse(std::string_view text);

/// True for what needs no parentheses as a part of anything: a number, a name, a call.
bool isOperand(const Node &node);

/// How an expression is printed.
struct Print {
  /// Replaces the parts that print, without parentheses around them, as a key.
  std::map<std::string, std::string> texts{};
  /// Without ceil_div, which host code does not have, and without parentheses that no reader needs.
  bool asHostCode = false;
};

/// The text with one blank around operators, and the parentheses that it had or needs.
std::string printed(const Node &node, const Print &print = {});
/// The same without parentheses around all of it.
std::string plain(const Node &node, const Print &print = {});

} // namespace kopt::expression
