// SPDX-License-Identifier: Apache-2.0
// Reads the output of `nvdisasm -gi -c`: the instructions of a cubin, by function, with their
// source lines.
#pragma once

#include "driver/support/Result.h"

#include <cstdint>
#include <map>
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
  /// Its source lines, innermost first; the last one is in the function itself. Empty without line
  /// information.
  std::vector<SourceFrame> frames;
  unsigned loopDepth = 0; ///< number of loops around it, found by backward branches in its section

  /// "LDG" for "LDG.E.64".
  std::string_view root() const { return std::string_view(opcode).substr(0, opcode.find('.')); }
  /// True if one of the opcode's parts, which points separate, is `part`.
  bool has(std::string_view part) const;
};

/// A code section: a function and the copies of other functions that the compiler put next to it,
/// without padding.
struct SassFunction {
  std::string symbol;
  std::map<std::string, std::uint64_t> labels; ///< their offsets
  std::vector<SassInstruction> instructions;
};

struct SassListing {
  std::vector<SassFunction> functions;

  const SassFunction *find(std::string_view symbol) const;
  /// The function, and the functions in other sections that it calls directly or indirectly, each
  /// once. Empty if the function is not in the listing.
  std::vector<const SassFunction *> reachableFrom(std::string_view symbol) const;
};

/// Fails with Internal if the text has no instruction in a code section. Unknown lines are skipped,
/// because other versions print more.
Result<SassListing> parseSassListing(std::string_view text);

} // namespace kopt
