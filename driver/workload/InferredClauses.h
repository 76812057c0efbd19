// SPDX-License-Identifier: Apache-2.0
// What the launch sites of a kernel say about its workload, as clauses for a person to complete.
#pragma once

#include "driver/model/KernelSpec.h"
#include "driver/model/TuneDeclaration.h"
#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

struct InferredClause {
  std::string text;    ///< "extent out = rows * columns"
  std::string comment; ///< where it comes from; of a guess what to put in its place
  bool isGuess = false;
};

/// The clauses that the specialization lacks besides `known`. Sizes of buffers and requirements
/// follow from the grid of its first launch site; a value that only the running program knows is a
/// guess.
std::vector<InferredClause> inferClauses(const KernelSpec &kernel,
                                         const Specialization &specialization,
                                         const TuneDeclaration &known);

/// A `[[kernel]]` table of kopt.toml with the clauses, each with its comment.
std::string clauseTable(const std::string &kernel, const std::vector<InferredClause> &clauses);

} // namespace kopt
