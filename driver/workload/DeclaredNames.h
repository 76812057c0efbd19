// SPDX-License-Identifier: Apache-2.0
// Finds the clauses that a launch needs and that are missing.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/model/Workload.h"
#include "driver/support/Result.h"
#include "driver/workload/DeclaredReals.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What is known of a launch before its arguments are made.
struct LaunchQuestion {
  const KernelSpec &kernel;
  const Specialization &specialization;
  const TuneDeclaration &declaration;
  const LaunchSite *site; ///< null if none was found
  const GeometryExpressions &geometry;
  const std::map<std::string, std::int64_t> &bindings;
  const DeclaredReals &reals;
  bool takesNulls = false; ///< pointers that the site passes as null need no extent
};

/// Why no clause can give a struct parameter its value: it has members other than numbers. Nothing
/// for other parameters, and for structs without members, as of a lambda without captures.
std::optional<Error> whyNotDeclarable(const KernelSpec &kernel, const KernelParam &param);

/// One error that lists every pointer without an extent, every scalar without a value, and every
/// name without a value in an extent or in the geometry, with the clauses to write. Nothing if at
/// most one is missing, because the specific error says more. whyNotDeclarable() of a parameter
/// comes first.
std::optional<Error> missingClauses(const LaunchQuestion &question);

/// The clause that gives a struct or vector its values: "arg scale = {1.0, 1.0, 1.0}".
std::string membersClause(const KernelParam &param);

/// A note for each launch or `arg` clause that gives a constant another value than the program
/// does.
std::vector<std::string> shadowedConstants(const KernelSpec &kernel,
                                           const Specialization &specialization,
                                           const TuneDeclaration &declaration);

} // namespace kopt
