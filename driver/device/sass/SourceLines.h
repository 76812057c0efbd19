// SPDX-License-Identifier: Apache-2.0
// A kernel's instructions by the user's source lines.
#pragma once

#include "driver/device/sass/SassMix.h"

#include <optional>

namespace kopt {

struct LineUse {
  SourceFrame place; ///< no file: instructions without line information
  SassMix mix;
  std::uint64_t doubles = 0;               ///< conversions to or from double
  std::uint64_t indexed = 0;               ///< local accesses at a computed address
  unsigned loopDepth = 0;                  ///< loop depth of the deepest instruction
  double weight = 0;                       ///< only for sorting, if nothing was counted
  std::optional<InstructionCount> counted; ///< sum; nothing if not watched
};

/// The lines of `symbol` and the functions that it calls, sorted by samples, then by executed
/// instructions, then by number of instructions, where one in a loop counts as ten. An instruction
/// belongs to the innermost frame that is not in a header of the toolkit or the system. Empty if
/// the listing does not have the kernel.
std::vector<LineUse> linesOf(const SassListing &listing, std::string_view symbol,
                             const InstructionCounts &counts = {});

/// True for headers of a compiler or the system, whose lines a user does not tune.
bool isSystemHeader(std::string_view file);

/// The innermost frame that is not in such a header, else the outermost; empty without line
/// information.
SourceFrame ownFrame(const SassInstruction &instruction);

/// "4 global loads, 2 conversions (2 of double)": the most expensive classes of a line's
/// instructions, at most four.
std::string inWords(const LineUse &line);

} // namespace kopt
