// SPDX-License-Identifier: Apache-2.0
// A slice that records which outcomes of its conditions occurred.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

namespace kopt::frontend {

/// An outcome of a condition.
struct CoveragePoint {
  unsigned at = 0;                ///< its byte of the variable
  unsigned line = 0;              ///< in the slice that was given, from 1
  std::string what;               ///< "`n > 5` is true"
  std::vector<std::string> names; ///< of the outcome, however it is spelled: one, or one for each
                                  ///< instance of a function that differs
  std::vector<std::string> codes; ///< digests of what is done then; none: nothing
  bool required = false; ///< it matters; of others only whether the original has them is asked
};

struct CoverageClone {
  std::string slice;
  std::string variable; ///< as it is named in the module; 0 at first
  unsigned bytes = 0;   ///< of the variable; 0 where nothing is marked: the slice is as it was
  std::vector<CoveragePoint> marks; ///< in order of their lines
  unsigned inMacros = 0;            ///< conditions that are not seen, as a macro spells them
};

/// Fails where the slice does not parse or has no such kernel.
llvm::Expected<CoverageClone> markReach(const KernelSource &request);

} // namespace kopt::frontend
