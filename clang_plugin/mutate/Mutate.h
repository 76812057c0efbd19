// SPDX-License-Identifier: Apache-2.0
// The catalogue of mutation operators, and the question the driver asks of it.
#pragma once

#include "clang_plugin/mutate/Mutation.h"

#include <cstdint>

namespace kopt::frontend {

struct MutateRequest : KernelSource {
  std::size_t atMost = 24;
  std::uint64_t seed = 1;             ///< decides which of many are chosen
  std::vector<std::string> operators; ///< only these; empty: the whole catalogue
  std::string file;                   ///< named in titles; empty: "line 34"
};

struct MutantList {
  std::vector<Mutant> mutants; ///< chosen, each of which parses, in order of their lines
  std::size_t found = 0;       ///< before the choice
  std::size_t inMacros = 0;    ///< places that a macro spells
};

/// Every operator, in the order of the README's table.
const MutationOperators &mutationOperators();

/// Mutants of a kernel and of the functions it calls: as many of each operator as of any other,
/// each operator's from different lines, as far as there are any. Fails where the slice does not
/// parse or has no such kernel, or where `operators` names one that does not exist.
llvm::Expected<MutantList> findMutants(const MutateRequest &request);

} // namespace kopt::frontend
