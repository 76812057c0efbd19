// SPDX-License-Identifier: Apache-2.0
// What Expression.h parses a text into: a program for a stack machine.
#pragma once

#include "driver/support/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::expression {

/// A basic type, as casts and sizeof name it.
struct Type {
  unsigned bytes = 0;
  bool real = false, isUnsigned = false, boolean = false;
};

enum class Code : std::uint8_t {
  Integer, ///< pushes `integer`
  Real,    ///< pushes `real`
  Name,    ///< pushes the value of names[index]
  Cast,    ///< the top, to `type`
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
  AndThen, ///< where the top is 0: it stays, and the program goes on at `index`; else it is popped
  OrElse,  ///< where the top is not 0: it becomes 1, and the program goes on at `index`; else it is
           ///< popped
  JumpIf0, ///< pops; where that was 0 the program goes on at `index`
  Jump,    ///< the program goes on at `index`
};

struct Instruction {
  Code code = Code::Integer;
  Type type;                ///< of Cast
  std::uint32_t column = 1; ///< in the text, from 1
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
  std::size_t depth = 0;          ///< of the stack, at most
  std::uint32_t column = 1;       ///< of the outermost operation
};

/// How the text spells it: "<<", "ceil_div".
std::string_view spelling(Code code);

/// Fails with Usage naming the column.
Result<Program> parse(std::string_view text);

} // namespace kopt::expression
