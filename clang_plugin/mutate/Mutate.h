// SPDX-License-Identifier: Apache-2.0
// The catalogue of mutation operators, and the function that answers the driver's request for
// mutants.
#pragma once

#include "clang_plugin/mutate/Mutation.h"

namespace kopt::frontend {

/// Mutants of a kernel and of the functions it calls: the same number from each operator, and from
/// different lines, as far as the operators find enough. Fails if the slice does not parse or does
/// not have the kernel, or if `operators` names an operator that does not exist.
llvm::Expected<MutationList> findMutants(const MutateRequest &request);

} // namespace kopt::frontend
