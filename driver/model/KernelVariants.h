// SPDX-License-Identifier: Apache-2.0
// Versions of the user's own kernel that verification needs (clang_plugin/output/Variants.h): wrong
// ones, which a workload must tell from the right one, and one that computes in double precision,
// against which errors are measured. kopt-frontend makes both from a slice.
#pragma once

#include "clang_plugin/output/Variants.h"
#include "driver/model/KernelSpec.h"

namespace kopt {

struct Mutant : Mutation {
  std::string sliceText; ///< the slice with the edits made
};

struct MutantSet {
  std::vector<Mutant> mutants;
  std::size_t found = 0;    ///< in the whole kernel, of which `mutants` were chosen
  std::size_t inMacros = 0; ///< places left out as a macro spells them
};

/// Makes the mutants' texts. Throws std::out_of_range on edits that lie outside the slice, overlap
/// or change nothing.
MutantSet makeMutants(MutationList list, const std::string &sliceText);

} // namespace kopt
