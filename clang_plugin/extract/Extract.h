// SPDX-License-Identifier: Apache-2.0
// From files to kernels with slices: the whole of extraction, without input or output of its own.
#pragma once

#include "clang_plugin/extract/Model.h"
#include "clang_plugin/parse/ParseCuda.h"

namespace kopt::frontend {

struct ExtractUnit {
  std::string file;               ///< absolute
  std::vector<std::string> flags; ///< nvcc's
  std::string directory;
};

struct ExtractOptions {
  bool prove = true;
  unsigned jobs = 1;
};

struct UnitOutcome {
  bool ok = false;
  std::vector<Diagnostic> diagnostics; ///< why not
};

/// Parses the unit in both passes and adds its kernels, their slices and proofs to `extraction`.
/// Where it does not compile, nothing is added.
UnitOutcome extractUnit(const ExtractUnit &unit, const ExtractOptions &options,
                        Extraction &extraction);

} // namespace kopt::frontend
