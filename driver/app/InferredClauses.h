// SPDX-License-Identifier: Apache-2.0
// Infers clauses about a kernel's workload from its launch sites, for the user to complete.
#pragma once

#include "driver/model/KernelSpec.h"
#include "driver/model/TuneDeclaration.h"

#include <string>
#include <vector>

namespace kopt {

struct InferredClause {
  std::string text;    ///< "extent out = rows * columns"
  std::string comment; ///< where it comes from; for a guess, what to replace it with
  bool isGuess = false;
  bool isDoubt = false; ///< a tunable that may break the program: written as a comment
};

/// The clauses that the specialization needs in addition to `known`, and its tunables. Sizes of
/// buffers and requirements follow from the grid of its first launch site; a value that only the
/// running program knows is a guess.
std::vector<InferredClause> inferClauses(const KernelSpec &kernel,
                                         const Specialization &specialization,
                                         const TuneDeclaration &known);

/// A `[[kernel]]` table for kopt.toml with the clauses, each with its comment.
std::string clauseTable(const std::string &kernel, const std::vector<InferredClause> &clauses);

} // namespace kopt
