// SPDX-License-Identifier: Apache-2.0
// From files to kernels with slices: the whole of extraction, without input or output of its own.
#pragma once

#include "clang_plugin/extract/Model.h"
#include "clang_plugin/parse/ParseCuda.h"

namespace kopt::frontend {

class WorkPool;

struct ExtractUnit {
  std::string file;               ///< absolute
  std::vector<std::string> flags; ///< nvcc's
  std::string directory;
};

struct ExtractOptions {
  WorkPool &pool; ///< for the two passes and the proofs
  bool prove = true;
  FileRecord *files = nullptr; ///< told of everything that is read, where it is set
};

struct UnitOutcome {
  bool ok = false;
  std::vector<Diagnostic> diagnostics; ///< why not
};

/// Parses the unit in both passes and fills an empty `extraction` with its kernels, their slices
/// and proofs. Where it does not compile, nothing is added. Units may be extracted at the same
/// time.
UnitOutcome extractUnit(const ExtractUnit &unit, const ExtractOptions &options,
                        Extraction &extraction);

/// Adds what was found in one more unit: what several of them found is there once.
void merge(Extraction &all, Extraction unit);

} // namespace kopt::frontend
