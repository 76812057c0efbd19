// SPDX-License-Identifier: Apache-2.0
// The user's clauses about a kernel, parsed; driver/source/TuneClauses.h has the grammar.
#pragma once

#include "driver/model/Device.h"
#include "driver/model/KernelSpec.h"
#include "driver/model/Workload.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct TunableParam {
  std::string name;
  std::vector<std::int64_t> values; ///< in declared order, no duplicates, never empty
  TuneClause clause;                ///< the clause that declares it
};
KOPT_FIELDS(TunableParam, name, values, clause)

struct DeclaredLaunch {
  std::string name;
  std::map<std::string, std::int64_t> arguments;
  double weight = 1;
  DeviceKind device = DeviceKind::Auto; ///< Auto: for both kinds
  TuneClause clause;
};
KOPT_FIELDS(DeclaredLaunch, name, arguments, weight, device, clause)

struct TuneDeclaration {
  std::vector<TunableParam> params;
  std::vector<std::string> requirements;
  std::vector<std::string> block, grid;         ///< expressions; empty: the launch site's
  std::map<std::string, std::string> arguments; ///< name -> expression
  /// Struct or vector parameter -> its values in order: numbers or expressions.
  std::map<std::string, std::vector<std::string>> argumentMembers;
  std::map<std::string, std::string> extents; ///< parameter -> expression, in elements
  std::map<std::string, Fill> fills;
  /// Parameter -> expressions of its fill's low and high; empty for a bound that is a number, which
  /// is in the fill.
  std::map<std::string, std::array<std::string, 2>> fillBounds;
  /// Parameter -> elements of its `values(...)`: numbers or expressions.
  std::map<std::string, std::vector<std::string>> fillValues;
  std::vector<DeclaredLaunch> launches; ///< empty: one launch with `arguments`
  Tolerance tolerance;
  std::optional<double> target;
};
KOPT_FIELDS(TuneDeclaration, params, requirements, block, grid, arguments, argumentMembers, extents,
            fills, fillBounds, fillValues, launches, tolerance, target)

} // namespace kopt
