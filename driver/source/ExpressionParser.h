// SPDX-License-Identifier: Apache-2.0
// Parses a text into a program for a stack machine, for Expression.h.
#pragma once

#include "driver/support/Result.h"

#include <cstdint>
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
  Integer, ///< pushes `integer`
  Real,    ///< pushes `real`
  Name,    ///< pushes the value of names[index]
  Cast,    ///< casts the top to `type`
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
  Truth,   ///< the top becomes 0 or 1
  AndThen, ///< if the top is 0, keeps it and jumps to `index`; otherwise pops it
  OrElse,  ///< if the top is not 0, sets it to 1 and jumps to `index`; otherwise pops it
  JumpIf0, ///< pops the top; jumps to `index` if it was 0
  Jump,    ///< jumps to `index`
};

struct Instruction {
  Code code = Code::Integer;
  Type type;                ///< of Cast
  std::uint32_t column = 1; ///< column in the text, from 1
  std::uint32_t index = 0;  ///< of Name and of the jumps
  union {
    std::int64_t integer = 0;
    double real;
  };
};

struct Program {
  std::string text;
  std::vector<std::string> names; ///< in order of first use
  std::vector<Instruction> code;  ///< leaves one value on the stack
  std::size_t depth = 0;          ///< greatest depth of the stack
  std::uint32_t column = 1;       ///< column of the outermost operation
};

/// The spelling in the text: "<<", "ceil_div".
std::string_view spelling(Code code);

/// Fails with Usage, naming the column.
Result<Program> parse(std::string_view text);

} // namespace kopt::expression
