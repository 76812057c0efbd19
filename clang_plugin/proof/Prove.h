// SPDX-License-Identifier: Apache-2.0
// Does a slice compile to the kernel that the original file compiles to? Asked of the user's own
// nvcc.
#pragma once

#include "clang_plugin/proof/Ptx.h"

#include <llvm/ADT/StringRef.h>
#include <optional>
#include <string>
#include <vector>

namespace kopt::frontend {

struct NvccOutcome {
  bool ok = false;
  std::string ptx;         ///< empty unless ok
  std::string diagnostics; ///< nvcc's own words
  /// The answer is about the code. False where a tool was killed, or found no room to work in.
  bool isVerdict = false;
  std::vector<std::string> inputs; ///< absolute paths of all that nvcc read, where ok
};

/// nvcc -ptx with the user's flags, for one architecture; `optimise` false keeps the code as the
/// front end made it. Blocking; safe from several threads.
NvccOutcome compileToPtx(const std::string &nvcc, const std::string &file,
                         const std::vector<std::string> &flags, const std::string &directory,
                         bool optimise = true);

/// The files in a rule for make as compilers write them ("target : a b \\"), from `directory`.
std::vector<std::string> makePrerequisites(llvm::StringRef rule, const std::string &directory);

struct ProofOutcome {
  bool proven = false;
  std::string reason; ///< why not
};

/// Is the kernel `symbol` of the original the same in the slice?
ProofOutcome comparePtx(const PtxModule &original, const PtxModule &slice,
                        const std::string &symbol);

/// The one of `entries` that is `symbol`, where file-local names may be written in the other
/// compiler's way (Clang's `_ZL1k` and `12_GLOBAL__N_1`, nvcc's `_Z1k` and
/// `_GLOBAL__N__<hash>_<file>`); empty if none is.
std::string findEntry(const std::vector<std::string> &entries, const std::string &symbol);

/// The first line of a compiler's output that says "error".
std::string firstError(const std::string &diagnostics);

} // namespace kopt::frontend
