// SPDX-License-Identifier: Apache-2.0
// Checks, with the user's own nvcc, that a slice compiles to the same kernel as the original file.
#pragma once

#include "clang_plugin/proof/Ptx.h"

#include <llvm/ADT/StringRef.h>
#include <string>
#include <vector>

namespace kopt::frontend {

struct NvccOutcome {
  bool ok = false;
  std::string ptx;         ///< empty unless ok
  std::string diagnostics; ///< nvcc's messages
  /// True if the outcome depends on the code alone. False if a tool was killed or ran out of memory
  /// or disk space.
  bool isVerdict = false;
  std::vector<std::string> inputs; ///< if asked for and ok: absolute paths of all files it read
};

/// Runs nvcc -ptx with the user's flags, for one architecture. `optimise` false keeps the front
/// end's unoptimised code. `listsInputs` takes nvcc another run of the preprocessor, up to a
/// quarter of its time. Blocks; may be called by several threads at once.
NvccOutcome compileToPtx(const std::string &nvcc, const std::string &file,
                         const std::vector<std::string> &flags, const std::string &directory,
                         bool optimise = true, bool listsInputs = true);

/// The prerequisites in a make rule as compilers write it ("target : a b \\"); paths are relative
/// to `directory`.
std::vector<std::string> makePrerequisites(llvm::StringRef rule, const std::string &directory);

struct ProofOutcome {
  bool proven = false;
  std::string reason; ///< why it is not proven
};

/// Checks whether the kernel `symbol` of the original is the same in the slice.
ProofOutcome comparePtx(const PtxModule &original, const PtxModule &slice,
                        const std::string &symbol);

/// The entry that is `symbol`, also if the two compilers mangle file-local names differently
/// (Clang's `_ZL1k` and `12_GLOBAL__N_1`, nvcc's `_Z1k` and `_GLOBAL__N__<hash>_<file>`); empty if
/// there is none.
std::string findEntry(const std::vector<std::string> &entries, const std::string &symbol);

/// The first line of a compiler's output that contains "error".
std::string firstError(const std::string &diagnostics);

} // namespace kopt::frontend
