// SPDX-License-Identifier: Apache-2.0
// The catalogue of mutation operators, and the question the driver asks of it.
#pragma once

#include "clang_plugin/mutate/Mutation.h"

namespace kopt::frontend {

/// Every operator, in the order of the README's table.
const MutationOperators &mutationOperators();

/// Mutants of a kernel and of the functions it calls: as many of each operator as of any other,
/// each operator's from different lines, as far as there are any. Fails where the slice does not
/// parse or has no such kernel, or where `operators` names one that does not exist.
llvm::Expected<MutationList> findMutants(const MutateRequest &request);

} // namespace kopt::frontend
