// SPDX-License-Identifier: Apache-2.0
// The text of `nvdisasm -gi -c`: the instructions of a cubin, function by function, with the source
// lines they come of.
#pragma once

#include "driver/support/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

struct SourceFrame {
  std::string file;
  unsigned line = 0;
  bool operator==(const SourceFrame &) const = default;
};

struct SassInstruction {
  std::uint64_t offset = 0; ///< bytes from the start of its section
  std::string predicate;    ///< "@!P0", or empty
  std::string opcode;       ///< "LDG.E.64"
  std::string operands;     ///< "R2, desc[UR4][R2.64]"
  std::string target;       ///< label or function named in the operands, or empty
  /// Where it comes of, innermost first; the last is in the function itself. Empty without line
  /// information.
  std::vector<SourceFrame> frames;
  unsigned loopDepth = 0; ///< loops around it, by branches back within its section

  /// "LDG" of "LDG.E.64".
  std::string_view root() const { return std::string_view(opcode).substr(0, opcode.find('.')); }
  /// True where the opcode has this part between its points.
  bool has(std::string_view part) const;
};

/// A code section: a function and the copies of others that the compiler put next to it. Padding is
/// left out.
struct SassFunction {
  std::string symbol;
  std::vector<SassInstruction> instructions;
};

struct SassListing {
  std::vector<SassFunction> functions;

  const SassFunction *find(std::string_view symbol) const;
  /// The function and, each once, those in other sections that it calls, directly or not. Empty
  /// where it is not there.
  std::vector<const SassFunction *> reachableFrom(std::string_view symbol) const;
};

/// Fails with Internal where the text holds no instruction in a section of code. Lines that are not
/// understood are passed over: other versions print more.
Result<SassListing> parseSassListing(std::string_view text);

} // namespace kopt
