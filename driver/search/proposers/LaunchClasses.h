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

/// The technique of a candidate with a condition in its kernel.
inline constexpr const char *kClassTechnique = "launch-class";

/// A trial whose body some launches would run, and the one whose body the others would.
struct ClassPair {
  const Trial *special = nullptr, *usual = nullptr;
  std::vector<bool> wins; ///< the launches that the special one would run
  double estimate = 1;    ///< of the objective if each launch runs its own; only for ranking
};

/// The pairs that promise to be faster than the best candidate, the most promising first. The usual
/// one is the best candidate or the baseline, which is the first of the trials. No pair gives a
/// kernel more than three classes. `weights` are those of the launches.
std::vector<ClassPair> classPairs(const std::vector<Trial> &trials, const Trial &best,
                                  const std::vector<double> &weights,
                                  Objective objective = Objective::Mean);

/// The weights of a workload's launches.
std::vector<double> weightsOf(const Workload &workload);

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
