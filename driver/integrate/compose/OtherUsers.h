// SPDX-License-Identifier: Apache-2.0
// Whom a win changes beside the kernel that it was found for: other instantiations of its template,
// other kernels with its constants, other launches of it.
#pragma once

#include "driver/integrate/compose/Win.h"
#include "driver/support/Result.h"

namespace kopt {

/// An instantiation, or a launch, that nobody asked to change. The records belong to the
/// extraction.
struct OtherUser {
  const KernelSpec *kernel = nullptr;
  const Specialization *specialization = nullptr;
  std::string label; ///< "stencil<16>"
  std::string place; ///< file:line, of its launch where one is known
  std::string what;  ///< "the text of 'stencil'", "the constant 'TILE'"
  /// The kernel's own text is all that it shares with the win: an explicit specialization of the
  /// template for the win would leave it alone.
  bool onlyKernelText = false;
  /// Why it cannot be judged with the win's change; empty: it can.
  std::string notJudged;
};

/// Each once, in the order of the extraction.
std::vector<OtherUser> otherUsers(const Win &win, const ExtractionResult &extraction);

/// What `wins` make of an instantiation: its own winner, or null, and what it shares with the
/// others. Fails with Usage where a change of theirs covers a part of its text only.
Result<Candidate> composedCandidate(const KernelSpec &kernel, const Specialization &specialization,
                                    const Candidate *own, const std::vector<const Win *> &wins);

} // namespace kopt
