// SPDX-License-Identifier: Apache-2.0
// Finds what a win changes besides its own kernel: other instantiations of its template, other
// kernels that use its constants, other launches of it.
#pragma once

#include "driver/integrate/compose/Win.h"
#include "driver/support/Result.h"

namespace kopt {

/// An instantiation or a launch that changes although it was not tuned. The pointers refer to the
/// extraction.
struct OtherUser {
  const KernelSpec *kernel = nullptr;
  const Specialization *specialization = nullptr;
  std::string label; ///< "stencil<16>"
  std::string place; ///< file:line of its launch, if one is known
  std::string what;  ///< "the text of 'stencil'", "the constant 'TILE'"
  /// True if it shares only the kernel's own text and launches with the win, so that it would not
  /// change if the win were an explicit specialization.
  bool onlyKernel = false;
  /// Why it cannot be judged with the win's change; empty: it can be.
  std::string notJudged;
};

/// All other users of what the win changes, each once, in the order of the extraction.
std::vector<OtherUser> otherUsers(const Win &win, const ExtractionResult &extraction);

/// The candidate that results for an instantiation: its own winner `own` (may be null) and the
/// changes of `wins` in the text that it shares with them. Fails with Usage if one of those covers
/// only a part of a chunk of its text.
Result<Candidate> composedCandidate(const KernelSpec &kernel, const Specialization &specialization,
                                    const Candidate *own, const std::vector<const Win *> &wins);

} // namespace kopt
