// SPDX-License-Identifier: Apache-2.0
// What the user declares about a kernel, in [[kopt::tune("clause", ...)]] or in kopt.toml. Grammar,
// one clause a string:
//
//   param NAME in {8, 16, 32} | param NAME in 32..1024 step 32 | param NAME in 1..16 pow2
//   require EXPR                      only where EXPR is not 0
//   block X[, Y[, Z]]                 block dimensions over tunables, arguments and constants
//   grid X[, Y[, Z]]
//   arg NAME = EXPR                   value of a scalar parameter or a launch variable
//   arg NAME = {EXPR, ...}            numbers of a struct or vector passed by value, in order
//   extent PARAM = EXPR               elements behind a pointer parameter
//   fill PARAM = uniform(lo, hi) | iota | zero | constant(v) | values(41, n, 11) |
//                        file("data.bin")   its bytes, beside the file that declares it
//   launch NAME: a=1, b=2 [weight w] [on emulated|cuda]
//   tolerance relative=1e-5 absolute=1e-8 | tolerance strict
//   target 1.5                        speedup at which the search stops
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

/// Clauses that a kopt.toml adds to the kernels that match a pattern (KernelNames.h).
struct KernelClauses {
  std::string pattern;
  std::vector<TuneClause> clauses;
  std::string place{}; ///< of the pattern: "kopt.toml:3"
};

/// Parses clauses. Fails with Usage, with the clause's file:line, on an unknown clause (with a
/// suggestion), an empty range, a duplicate name or a bad expression.
Result<TuneDeclaration> parseTuneDeclaration(const std::vector<TuneClause> &clauses);

} // namespace kopt
