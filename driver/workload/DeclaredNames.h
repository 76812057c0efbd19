// SPDX-License-Identifier: Apache-2.0
// What a launch needs to be told by clauses and is not.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/model/Workload.h"
#include "driver/support/Result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// One launch, as far as it is known before its arguments are made.
struct LaunchQuestion {
  const KernelSpec &kernel;
  const Specialization &specialization;
  const TuneDeclaration &declaration;
  const LaunchSite *site; ///< null: none was found
  const GeometryExpressions &geometry;
  const std::map<std::string, std::int64_t> &bindings;
  bool takesNulls = false; ///< pointers that the site passes as null need no extent
};

/// Every pointer without an extent, scalar without a value and name in an extent or in the geometry
/// without a value, in one error with the clauses to write. Nothing where at most one is missing:
/// the error of that one says more.
std::optional<Error> missingClauses(const LaunchQuestion &question);

/// The clause that gives a struct or vector its numbers: "arg scale = {1.0, 1.0, 1.0}".
std::string membersClause(const KernelParam &param);

/// A note for each value that a launch or an `arg` clause gives a constant of the program, which
/// has another one.
std::vector<std::string> shadowedConstants(const KernelSpec &kernel,
                                           const Specialization &specialization,
                                           const TuneDeclaration &declaration);

} // namespace kopt
