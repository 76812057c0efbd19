// SPDX-License-Identifier: Apache-2.0
// The roofline of baseline and winner, from their counters.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// One kernel: work per byte of DRAM traffic, and work per second.
struct RooflinePoint {
  std::string name; ///< "baseline", "winner"
  double intensity = 0, rate = 0;
};

/// An upper limit of the device.
struct Ceiling {
  double perSecond = 0; ///< bytes of DRAM, or units of work
  std::string source;   ///< a description of the source of the number
};

/// Work is counted in floating-point operations if both kernels have some and the ceiling is known,
/// else in warp instructions (Ding and Williams, "An Instruction Roofline Model for GPUs", 2019).
struct Roofline {
  std::string unit; ///< "warp instructions", "floating-point operations"
  std::vector<RooflinePoint> points;
  std::optional<Ceiling> memory, compute;
  std::vector<std::string> missing; ///< describes each missing point or ceiling
};

/// An unknown counter or ceiling is reported as missing, never as zero.
Roofline rooflineOf(const RunHistory &history);

/// The utilisation of a part of the GPU, in percent of its peak.
struct Utilisation {
  std::string part;
  std::optional<double> before, after;
};
/// The parts for which at least one value is known; empty if there are no counters.
std::vector<Utilisation> utilisationOf(const Trial &before, const Trial *after);

/// Emulated device only: the seconds that each resource alone would need, according to the model.
/// The kernel takes the longest of them.
struct ResourceTime {
  std::string resource;
  std::optional<double> before, after;
};
std::vector<ResourceTime> resourceTimesOf(const Trial &before, const Trial *after);

} // namespace kopt
