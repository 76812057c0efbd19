// SPDX-License-Identifier: Apache-2.0
// Compares a candidate's slice with the baseline's, before anything of the candidate is built or
// run. A candidate may rewrite the kernel and add device functions, constants and types beside it;
// whatever else changes is refused, and what is legal but often wrong is flagged, so that
// verification stresses it.
#pragma once

#include <string>
#include <vector>

#include <llvm/Support/Error.h>

namespace kopt::frontend {

enum class Severity { Flag, Reject };

struct ScreenFinding {
  std::string id; ///< stable: host-code, inline-asm, bounds-check, …
  Severity severity = Severity::Flag;
  std::string message;
  unsigned line = 0; ///< of the candidate's text; 0 where something is gone
};

/// Text of the slice that code outside of it uses, too.
struct SharedChunk {
  std::string name, user;            ///< what it declares; "'f' at a.cu:12"
  unsigned begin = 0, end = 0;       ///< in the baseline
  unsigned newBegin = 0, newEnd = 0; ///< in the candidate
};

/// A name that stands in code outside of the slice.
struct OutsideName {
  std::string name, user;
  bool isDeclared =
      false; ///< called or declared there, as functions and types are; false: any other word
};

struct ScreenRequest {
  std::string baseline, candidate;                     ///< slice texts
  std::string kernel;                                  ///< qualified name
  std::string baselineExpression, candidateExpression; ///< the specializations they instantiate
  std::vector<std::string> flags;                      ///< nvcc's
  std::string directory;
  std::vector<SharedChunk> shared;
  std::vector<OutsideName> outside;
};

/// Every finding, rejects first. Fails only where the baseline itself does not parse or lacks the
/// kernel.
llvm::Expected<std::vector<ScreenFinding>> screenCandidate(const ScreenRequest &request);

} // namespace kopt::frontend
