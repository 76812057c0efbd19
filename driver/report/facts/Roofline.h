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

/// A part of the GPU, with a figure of the baseline and of the winner.
struct PartUse {
  std::string part;
  std::optional<double> before, after;
};
/// How busy each part is, in percent of its peak. The parts for which at least one value is known;
/// empty if there are no counters.
std::vector<PartUse> utilisationOf(const Trial &before, const Trial *after);

/// Emulated device only: the seconds that each part alone would need, according to the model. The
/// kernel takes the longest of them.
std::vector<PartUse> resourceTimesOf(const Trial &before, const Trial *after);

} // namespace kopt
