// SPDX-License-Identifier: Apache-2.0
// Where baseline and winner stand between memory traffic and computation, from their counters.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// One kernel: work for each byte of DRAM traffic, and work done in a second.
struct RooflinePoint {
  std::string name; ///< "baseline", "winner"
  double intensity = 0, rate = 0;
};

/// What the device does at most.
struct Ceiling {
  double perSecond = 0; ///< bytes of DRAM, or units of work
  std::string source;   ///< where the figure comes from, in words
};

/// Work is floating-point operations where both kernels have some and the ceiling is known, else
/// warp instructions (Ding and Williams, "An Instruction Roofline Model for GPUs", 2019).
struct Roofline {
  std::string unit; ///< "warp instructions", "floating-point operations"
  std::vector<RooflinePoint> points;
  std::optional<Ceiling> memory, compute;
  std::vector<std::string> missing; ///< what it lacks, in words: a point or a ceiling
};

/// A counter or a ceiling that is not known is missing, never zero.
Roofline rooflineOf(const RunHistory &history);

/// How much of its peak each part of the GPU reaches, in percent.
struct Utilisation {
  std::string part;
  std::optional<double> before, after;
};
/// Parts of which at least one of both is known; empty where there are no counters.
std::vector<Utilisation> utilisationOf(const Trial &before, const Trial *after);

/// Emulated device: the seconds that the model says each resource needs if it were alone. The
/// kernel takes the longest of them.
struct ResourceTime {
  std::string resource;
  std::optional<double> before, after;
};
std::vector<ResourceTime> resourceTimesOf(const Trial &before, const Trial *after);

} // namespace kopt
