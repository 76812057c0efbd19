// SPDX-License-Identifier: Apache-2.0
// Which launches of a workload a candidate is faster on, and what tells these launches from the
// others.
#pragma once

#include "driver/model/KernelSpec.h"
#include "driver/model/Trial.h"
#include "driver/model/Workload.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// For each launch, whether `trial` is faster than `usual`: its interval lies above the other's.
/// Both are relative to the baseline, whose own speedup is 1. Empty if one of them was not timed on
/// every launch.
std::vector<bool> launchWins(const Trial &trial, const Trial &usual);

/// True if some launches win and others do not.
bool isSplit(const std::vector<bool> &wins);

/// The speedup of the workload if each launch runs the faster version: `trial` where it wins,
/// `usual` on the rest. An estimate, to rank candidates.
double speedupOfBoth(const Trial &trial, const Trial &usual, const std::vector<bool> &wins,
                     const Workload &workload);

/// An integer that the kernel's text can name and that is the same in all threads of a launch.
struct LaunchMeasure {
  std::string name;                 ///< "n", "gridDim.x"
  std::vector<std::int64_t> values; ///< of each launch
};

/// The kernel's scalar integer parameters and, after them, the extents of grid and block.
std::vector<LaunchMeasure> measuresOf(const Specialization &specialization,
                                      const Workload &workload);

struct LaunchCondition {
  std::string variable; ///< name of the measure
  std::string text;     ///< "n >= 65536"
};

/// A comparison that holds in the launches that win and in no other. The threshold is the round
/// number nearest to the wins, because between the sizes that were measured the usual version is
/// the safer one. Nothing if no threshold separates them.
std::optional<LaunchCondition> conditionOn(const LaunchMeasure &measure,
                                           const std::vector<bool> &wins);

/// The condition on the measure whose values lie furthest apart; grid and block only if no
/// parameter separates the launches.
std::optional<LaunchCondition> conditionOn(const std::vector<LaunchMeasure> &measures,
                                           const std::vector<bool> &wins);

} // namespace kopt
