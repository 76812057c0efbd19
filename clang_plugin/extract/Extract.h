// SPDX-License-Identifier: Apache-2.0
// From files to kernels with slices: the whole of extraction, without input or output of its own.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "clang_plugin/parse/ParseCuda.h"

namespace kopt::frontend {

class WorkPool;

struct ExtractUnit {
  std::string file;               ///< absolute
  std::vector<std::string> flags; ///< nvcc's
  std::string directory;
};

/// Slices that were proven before, by everything that decides it.
class ProofMemory {
public:
  virtual ~ProofMemory() = default;
  /// `claim`: the slice, the kernels in the original's PTX, the headers that are not the user's.
  /// The flags and the tools are the memory's to add. Called from several threads.
  virtual bool knows(const std::string &claim) = 0;
  virtual void keep(const std::string &claim) = 0;
};

struct ExtractOptions {
  WorkPool &pool; ///< for the two passes and the proofs
  bool prove = true;
  /// Symbols as an answer without proof gives them: no others are proven. Empty: all are.
  std::vector<std::string> proveOnly{};
  FileRecord *files = nullptr;   ///< told of everything that is read, where it is set
  ProofMemory *proofs = nullptr; ///< with `files` only
};

struct UnitOutcome {
  bool ok = false;
  std::vector<Diagnostic> diagnostics; ///< why not
  /// Asked again with the same files, the answer is the same. False where nvcc could not work.
  bool isRepeatable = true;
  std::vector<std::string> readByNvcc; ///< absolute paths; none where nvcc was not asked
};

/// The flags with all options files read, as nvcc is to get them.
std::vector<std::string> expandedFlags(const ExtractUnit &unit);

/// Parses the unit in both passes and fills an empty `extraction` with its kernels, their slices
/// and proofs. Where it does not compile, nothing is added. Units may be extracted at the same
/// time.
UnitOutcome extractUnit(const ExtractUnit &unit, const ExtractOptions &options,
                        ExtractionResult &extraction);

/// Adds what was found in one more unit: what several of them found is there once.
void merge(ExtractionResult &all, ExtractionResult unit);

} // namespace kopt::frontend
