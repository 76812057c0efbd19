// SPDX-License-Identifier: Apache-2.0
// The instructions of a kernel by the user's own lines.
#pragma once

#include "driver/device/sass/SassMix.h"

#include <optional>

namespace kopt {

struct LineUse {
  SourceFrame place; ///< no file: instructions without line information
  SassMix mix;
  std::uint64_t doubles = 0;               ///< conversions to or from double
  std::uint64_t indexed = 0;               ///< local accesses at a computed address
  unsigned loopDepth = 0;                  ///< of the deepest instruction
  double weight = 0;                       ///< for the order alone, where nothing was counted
  std::optional<InstructionCount> counted; ///< together; nothing where the kernel was not watched
};

/// Lines of `symbol` and what it calls: those with most samples first, or most executed
/// instructions; where `counts` is empty those with most instructions, one in a loop taken for ten.
/// An instruction belongs to the innermost frame that is not in a header of the toolkit or of the
/// system. Empty where the listing does not have the kernel.
std::vector<LineUse> linesOf(const SassListing &listing, std::string_view symbol,
                             const InstructionCounts &counts = {});

/// True for headers that come with a compiler, whose lines a user does not tune.
bool isSystemHeader(std::string_view file);

/// "4 global loads, 2 conversions (2 of double), 1 fp64": what of a line costs most, by class; the
/// cheap rest is left out.
std::string inWords(const LineUse &line);

} // namespace kopt
