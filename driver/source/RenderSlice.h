// SPDX-License-Identifier: Apache-2.0
// Renders a candidate: as a slice to build, and as edits of the user's files that make the program
// launch it. Edits of host code are derived from the launch parameters and are not run while
// tuning.
#pragma once

#include "driver/model/Candidate.h"
#include "driver/model/SlicedKernel.h"
#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

/// The slice text with the candidate's chunks and constants, and the expression that it
/// instantiates.
struct RenderedSlice {
  std::string text;
  std::string expression;
  /// Begin and end in `text` of each chunk of the slice, and of each of the candidate's
  /// declarations; the range is empty for a declaration that the file already has.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> chunks, declarations;
  std::vector<std::string> flags{}; ///< of nvcc, besides the kernel's own
};

/// `sliceText` is the baseline's slice. A chunk with new text is used as it is; its author has put
/// in the constants. Fails with Internal if the slice's chunks overlap or lie outside it, and with
/// StaleInput if a file with a template argument has changed.
Result<RenderedSlice> renderSlice(const std::string &sliceText, const KernelSpec &kernel,
                                  const Specialization &specialization, const Candidate &candidate);

inline Result<RenderedSlice> renderSlice(const SlicedKernel &sliced, const Candidate &candidate) {
  return renderSlice(sliced.sliceText, sliced.kernel, sliced.specialization, candidate);
}

/// A version of a kernel, rendered once: a candidate, or a wrong version of the original, which has
/// its own text and no edits.
struct RenderedCandidate : Candidate {
  RenderedSlice slice;
};

/// Fails as renderSlice() does.
inline Result<RenderedCandidate> renderCandidate(const SlicedKernel &sliced, Candidate candidate) {
  KOPT_TRY(RenderedSlice slice, renderSlice(sliced, candidate));
  return RenderedCandidate{std::move(candidate), std::move(slice)};
}

/// Edits of the user's files that make the program launch the candidate: chunks, new declarations
/// and includes, constants, launch sites, and a comment that names the compiler's options. Fails
/// with Usage for options of a kernel in a header, which several files may compile.
Result<std::vector<SourceEdit>> writeBackEdits(const KernelSpec &kernel,
                                               const Specialization &specialization,
                                               const Candidate &candidate);

} // namespace kopt
