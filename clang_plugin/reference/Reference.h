// SPDX-License-Identifier: Apache-2.0
// A kernel in double precision: what the errors of the original and of a candidate are measured
// against. Where the clone could mean anything else than the original, there is none.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"
#include "clang_plugin/reference/Layout.h"

#include <cstdint>

namespace kopt::frontend {

/// A reason for which there is no clone, or a place where it may go another way.
struct ReferenceNote {
  std::string id, message;
  unsigned line = 0; ///< in the original's text, from 1; 0 where it has no one place
};

struct ReferenceParam {
  std::string name;
  bool pointer = false; ///< `element` is what it points to
  ElementLayout element;
};

struct ReferenceVariable {
  std::string name; ///< qualified
  std::uint64_t count = 1;
  ElementLayout element;
};

struct ReferenceClone {
  std::vector<ReferenceNote> refusals; ///< not empty: nothing below is set
  std::string slice, expression, symbol;
  std::vector<ReferenceParam> params;
  std::vector<ReferenceVariable> variables; ///< __constant__ and __device__, those that changed
  unsigned sharedFactor = 1;                ///< for the bytes of dynamic shared memory of a launch
  std::vector<ReferenceNote> notes;
};

/// The rewrite is of tokens (`Rewrite.h`); what may be rewritten is decided on the AST of the
/// original
/// (`Legality.h`), and what was, on the AST of the clone (`Compare.h`). Fails only where the
/// original does not parse or has no such kernel.
llvm::Expected<ReferenceClone> makeReferenceClone(const KernelSource &request);

} // namespace kopt::frontend
