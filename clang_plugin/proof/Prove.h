// SPDX-License-Identifier: Apache-2.0
// Does a slice compile to the kernel that the original file compiles to? Asked of the user's own
// nvcc.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kopt::frontend {

struct NvccOutcome {
  bool ok = false;
  std::string ptx;         ///< empty unless ok
  std::string diagnostics; ///< nvcc's own words
};

/// nvcc -ptx with the user's flags, for one architecture; `optimise` false keeps the code as the
/// front end made it. Blocking; safe from several threads.
NvccOutcome compileToPtx(const std::string &nvcc, const std::string &file,
                         const std::vector<std::string> &flags, const std::string &directory,
                         bool optimise = true);

struct ProofOutcome {
  bool proven = false;
  std::string reason; ///< why not
};

ProofOutcome comparePtx(const std::string &original, const std::string &slice,
                        const std::string &symbol);

/// The first line of a compiler's output that says "error".
std::string firstError(const std::string &diagnostics);

} // namespace kopt::frontend
