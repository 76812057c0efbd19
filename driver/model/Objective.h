// SPDX-License-Identifier: Apache-2.0
// What a search makes small over the launches of a workload.
#pragma once

#include "clang_plugin/output/Fields.h"

#include <string>
#include <vector>

namespace kopt {

enum class Objective {
  Mean,  ///< the time of all launches together
  P95,   ///< the time that 95 % of the launches do not exceed
  Worst, ///< the time of the slowest launch
};
constexpr auto spellings(Objective) {
  return std::to_array<std::string_view>({"mean", "p95", "worst"});
}

/// "the slowest launch"
std::string inWords(Objective objective);

/// The objective of launches that take `seconds`. `counts`: how often each is launched, in any
/// unit. The mean is that of a launch.
double objectiveSeconds(Objective objective, const std::vector<double> &counts,
                        const std::vector<double> &seconds);

/// How many times as small the objective is where each launch is `speedups` times as fast.
/// `seconds`: of the original's launches; `shares`: of the workload's time, which they have. The
/// mean does not need the seconds.
double objectiveSpeedup(Objective objective, const std::vector<double> &shares,
                        const std::vector<double> &seconds, const std::vector<double> &speedups);

} // namespace kopt
