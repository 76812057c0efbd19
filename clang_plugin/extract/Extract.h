// SPDX-License-Identifier: Apache-2.0
// Extracts kernels with their slices from files. It reads no requests and prints nothing.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "clang_plugin/parse/ParseCuda.h"

#include <map>

namespace kopt::frontend {

class WorkPool;

struct ExtractUnit {
  std::string file;               ///< absolute
  std::vector<std::string> flags; ///< nvcc's flags
  std::string directory;
};

/// Remembers slices that were proven before, by everything that decides the proof.
class ProofMemory {
public:
  virtual ~ProofMemory() = default;
  /// `claim` identifies the slice, the kernels in the original's PTX, and the headers that are not
  /// the user's. The implementation adds the flags and the tools. Called by several threads at
  /// once.
  virtual bool knows(const std::string &claim) = 0;
  virtual void keep(const std::string &claim) = 0;
};

struct ExtractOptions {
  WorkPool &pool; ///< for the two passes and the proofs
  bool prove = true;
  /// The symbols to prove, in the form of an extraction without proof. Empty: all.
  std::vector<std::string> proveOnly{};
  FileRecord *files = nullptr;   ///< records every file that is read; may be null
  ProofMemory *proofs = nullptr; ///< with `files` only
  std::string project{};         ///< root of the user's project, a real path; empty: not known
};

struct UnitOutcome {
  bool ok = false;
  std::vector<Diagnostic> diagnostics; ///< why it failed
  /// True if the same files give the same result again. False if nvcc could not work.
  bool isRepeatable = true;
  std::vector<std::string> readByNvcc; ///< absolute paths; empty if nvcc was not run
};

/// The flags for nvcc, with the contents of options files in their place.
/// The paths of these are added to `optionFiles`, unless it is null.
std::vector<std::string> expandedFlags(const ExtractUnit &unit,
                                       std::map<std::string, bool> *optionFiles = nullptr);

/// Parses the unit in both passes and fills an empty `extraction` with its kernels, their slices
/// and proofs. If the unit does not compile, nothing is added. Several units may be extracted at
/// the same time.
UnitOutcome extractUnit(const ExtractUnit &unit, const ExtractOptions &options,
                        ExtractionResult &extraction);

} // namespace kopt::frontend
