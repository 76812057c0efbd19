// SPDX-License-Identifier: Apache-2.0
// Versions of the user's own kernel for verification (clang_plugin/output/Variants.h): wrong ones,
// which a workload must notice, and one in double precision, against which errors are measured.
// kopt-frontend makes both from a slice.
#pragma once

#include "clang_plugin/output/Variants.h"
#include "driver/model/KernelSpec.h"

namespace kopt {

struct Mutant : Mutation {
  std::string sliceText; ///< the slice with the edits applied
};

struct MutantSet {
  std::vector<Mutant> mutants;
  std::size_t found = 0;    ///< mutations found in the kernel, of which `mutants` were chosen
  std::size_t inMacros = 0; ///< places left out because they are in macros
};

/// Makes the mutants' texts. Throws std::out_of_range if edits lie outside the slice, overlap or
/// change nothing.
MutantSet makeMutants(MutationList list, const std::string &sliceText);

} // namespace kopt
